"""Whether the interpreter is right about a case: what its canaries say."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from grader.challenge import Case
from grader.judge.failures import NotMeasured

WORDS = {torch.bfloat16: "bf16", torch.float16: "fp16"}


def trust(case: Case, source: str, mute: Sequence[str]) -> None:
    """Hold the interpreter's canaries against a case.

    Args:
        source: of the learner's file.
        mute: the canaries that are silent here.

    Raises:
        NotMeasured: it cannot be trusted with this one.
    """
    word = WORDS.get(case.dtype)
    for canary in mute:
        if (word and word in canary) or canary in source:
            raise NotMeasured(f"Triton's interpreter computes {canary} wrongly in this version; not graded")
