"""A case that a GPU has no room for, whoever's kernel is tried, is not measured on it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from grader.challenge import Case
from grader.challenge.cases.trial import Trial
from grader.judge.failures import NotMeasured

COPIES = 4  # of a case's tensors: drawn and compared in one process, used in another
LACKING = "it needs more memory than this GPU has"


@contextlib.contextmanager
def drawn(case: Case) -> Iterator[None]:
    """Draw a case and compare its results, if there is room for it.

    Raises:
        NotMeasured: there is none, in a case that is for a GPU alone.
    """
    try:
        yield
    except torch.cuda.OutOfMemoryError:
        if not case.gpu:
            raise
        torch.cuda.empty_cache()
        raise NotMeasured(LACKING) from None


def lacking(trial: Trial) -> bool:
    """Whether a call found no memory where no call could be sure of it."""
    if trial.passed or not trial.case.gpu or trial.findings[0].facts.get("kind") != "memory":
        return False
    return COPIES * size(trial) > torch.cuda.mem_get_info()[1]


def size(trial: Trial) -> int:
    """Bytes of its arguments, upstream gradients and results."""
    given = {
        storage.data_ptr(): storage.nbytes()
        for value in (*trial.arguments, *trial.upstream)
        if isinstance(value, torch.Tensor) and (storage := value.untyped_storage())
    }
    results = sum(want.exact.numel() * want.dtype.itemsize for want in trial.wanted)
    return sum(given.values()) + results
