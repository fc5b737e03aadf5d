"""Whether the interpreter is right about a case: what its canaries say."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from grader.challenge import Case
from grader.judge.failures import NotMeasured

WORDS = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.int8: "int8"}
WORDS |= {torch.float8_e4m3fn: "fp8", torch.float8_e5m2: "fp8"}


def trust(case: Case, source: str, mute: Sequence[str]) -> None:
    """Hold the interpreter's canaries against a case.

    Args:
        source: of the learner's file.
        mute: the canaries that are silent here.

    Raises:
        NotMeasured: it cannot be trusted with this one.
    """
    words = [word for dtype, word in WORDS.items() if dtype == case.dtype or _named(dtype, source)]
    for canary in mute:
        if canary in source or any(word in canary for word in words):
            raise NotMeasured(f"Triton's interpreter computes {canary} wrongly in this version; not graded")


def _named(dtype: torch.dtype, source: str) -> bool:
    """Whether a file that is handed other dtypes makes this one; those of 16 bits stand in most files."""
    return dtype.itemsize == 1 and str(dtype) in source
