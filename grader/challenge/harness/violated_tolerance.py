"""Which limit wrong values broke: that of the whole or of a row, to what it is relative, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

NOTHING = 1e-30  # an allowance below this is none
Limits = tuple[float, torch.Tensor]  # of the whole and of each row


def broken(
    out: torch.Tensor,
    exact: torch.Tensor,
    error: Limits,
    limit: Limits,
    cut: Callable[[torch.Tensor], torch.Tensor],
) -> dict[str, Any]:
    """The limit that was broken most, and the worst element that it is about.

    Args:
        error, limit: relative, of the whole and of each row. More than all of it is allowed where terms
            cancel to 0, and the oracle's own roundings are left.
        cut: a tensor as [rows, elements judged together].

    Returns:
        `max_error` and `allowed` as shares of the norm of `over`. Where 0 is right in all of that,
        `relative` is False and both are norms. Then what `element` gives, of the same row or of the whole.
    """
    finite = out.isfinite() & exact.isfinite()
    right = cut(torch.where(finite, exact, 0.0))
    off = cut(torch.where(finite, out.double() - exact, 0.0))
    limits = limit[1].expand_as(error[1])
    ratios = error[1] / limits
    row = int(ratios.argmax())
    if len(ratios) > 1 and float(ratios[row]) > max(1.0, error[0] / limit[0]):
        facts = _facts(float(error[1][row]), float(limits[row]), right[row], off[row])
        start = row * off.shape[1]
        over = _rows(exact, start, min(start + off.shape[1], exact.numel()))
        small = facts["relative"] and facts["max_error"] * float(right[row].norm()) < 0.999 * _norm(off[row])
        worst, over = start + int(off[row].abs().argmax()), "a thousandth of a typical row" if small else over
    else:
        facts, over = _facts(error[0], limit[0], right, off), "the whole result"
        worst = int(off.abs().argmax())
    return element(out, exact, worst) | facts | {"over": over}


def _facts(error: float, allowed: float, right: torch.Tensor, off: torch.Tensor) -> dict[str, Any]:
    """In proportion to what is right, or as norms where that is 0, or what roundings left of 0."""
    if bool(right.any()) and allowed < 1:
        return {"max_error": error, "allowed": allowed, "relative": True}
    allowed *= _norm(off) / error
    return {"max_error": _norm(off), "allowed": allowed if allowed > NOTHING else 0.0, "relative": False}


def _norm(values: torch.Tensor) -> float:
    return float(values.norm())


def _rows(exact: torch.Tensor, start: int, stop: int) -> str:
    """Words for the elements from one number up to another that are judged together."""
    if exact.dim() < 2:
        return f"the elements {start} to {stop - 1}"
    width = exact.shape[-1]
    return "its row" if stop - start <= width else f"the {(stop - start) // width} short rows around it"


def element(out: torch.Tensor, exact: torch.Tensor, number: int) -> dict[str, Any]:
    """One element: its index, what is right and what came, and how far apart they are."""
    index = [int(i) for i in np.unravel_index(number, exact.shape)] if exact.dim() else []
    want, got = exact.reshape(-1)[number].item(), out.reshape(-1)[number].item()
    return {"index": index, "expected": want, "got": got, "off": abs(got - want)}
