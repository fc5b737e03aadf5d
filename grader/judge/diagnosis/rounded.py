"""A result that is right, as a narrower dtype holds it: it was rounded on the way."""

from __future__ import annotations

import torch

from grader.case import SHORT
from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.fit import wrong_dtype, wrong_output

# The share by which each moves a number at most: half of its last bit, and a little for sums before it.
NARROW = {torch.bfloat16: 1.02 * 2.0**-8, torch.float16: 1.02 * 2.0**-11, torch.float32: 1.02 * 2.0**-24}
FEW = 8  # elements that are no luck


def rounded(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """Every number of the result is one of a narrower dtype, and the nearest to what is right."""
    pair = wrong_output(trial)
    if pair is None or pair[0].numel() < FEW:
        return None
    wanted = wrong_dtype(trial)
    held = next((dtype for dtype in NARROW if _wider(wanted, dtype) and _held(*pair, dtype)), None)
    if held is None:
        return None
    return (
        f"Every element is the right one rounded to {SHORT[held]}, and {SHORT[wanted]} is asked for: "
        f"something becomes {SHORT[held]} on the way, if only for the store.",
        "casts, and the dtype of what is stored",
    )


def _wider(wanted: torch.dtype, dtype: torch.dtype) -> bool:
    return wanted.itemsize > dtype.itemsize or (wanted == torch.int32 and dtype == torch.float32)


def _held(got: torch.Tensor, exact: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether a dtype has each number that came out, the nearest to what is right, and not all of those."""
    if not bool((got.isfinite() & exact.isfinite()).all()):
        return False
    kept = bool((got.to(dtype).double() == got).all()) and not bool((exact.to(dtype).double() == exact).all())
    return kept and bool(((got - exact).abs() <= NARROW[dtype] * exact.abs()).all())
