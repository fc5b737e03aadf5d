"""Is a result right? Against a float64 oracle, with torch in the submission's dtype as the yardstick.

The gates are relative norms ‖out − oracle‖ / ‖oracle‖, taken over the whole and over every row (or run of 256
elements), so that one bad tile cannot hide in a large tensor. Rounding a result to its dtype alone costs
about 3e-8 in fp32, 2e-4 in fp16 and 2e-3 in bf16; each gate lies between that and what the next lower
precision would cost. Where terms cancel, a row has few digits left, and torch may be near by luck: there an
error of a few times what one rounding on the way does to the oracle is allowed (rounding_sensitivity.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from grader.challenge import SHORT, Case
from grader.challenge.case import EIGHT_BIT_FLOATS, readable
from grader.challenge.harness.violated_tolerance import broken, element

GATE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 5e-4, torch.bfloat16: 4e-3}
GATE |= dict.fromkeys(
    EIGHT_BIT_FLOATS, 1e-3
)  # of what explains codes, near ties aside; they themselves are exact
YARDSTICK_FACTOR = 2.0  # no worse than twice torch's own error, where torch itself is above the gate
LONG_SUM = 1024  # sums up to this length are within the gate as it stands
RUN = 256  # elements of a 1-D result that are judged together, or some more
LAST = 64  # of these at least in the last run: 5 of fp16 pass twice torch's own error in 0.6 % of draws
SHORT_ROW = 16  # rows of fewer elements are judged several at a time: one sum near 0 has no digits to compare
MOST = 0.1  # the largest error of a row that cancellation explains: a digit must be right
CLOSE = 2e-2  # of what is right; a larger error is no rounding
NEARLY = 8.0  # times what is allowed
WHOLE_MOST = 3.0  # gates, of many rows together: still less than the next lower precision costs
NEGLIGIBLE = 1e-3  # a row this much smaller than the typical row is judged as if it were this large
NOTHING = 1e-30  # beside 0 alone: what is left of exp(-80), where a kernel clamps what it gives to exp


@dataclass(frozen=True)
class Expected:
    """One output as it should be.

    Attributes:
        exact: the oracle, float64; of integers and 8-bit floats the result itself, readable.
        dtype: of the output.
        yardstick: the error of torch in that dtype, whole and per row.
        label: what messages call it; empty for an output.
        handed_on: it is one of the gradients that came in, as those of a sum are.
        movement: the error that roundings on the way explain, whole and per row, growing with each draw;
            asked for only where the answer would fail without it.
    """

    exact: torch.Tensor
    dtype: torch.dtype
    yardstick: tuple[float, torch.Tensor]
    label: str = ""
    handed_on: bool = False
    movement: Callable[[], Iterable[tuple[float, torch.Tensor]]] | None = None

    @property
    def by_code(self) -> bool:
        """Whether each element is right or wrong, and none nearly right: integers and 8-bit floats."""
        return not self.dtype.is_floating_point or self.dtype in EIGHT_BIT_FLOATS

    @property
    def right(self) -> torch.Tensor:
        """The oracle rounded to the output's dtype; readable, as results are."""
        return readable(self.exact.to(self.dtype))

    @property
    def shape(self) -> torch.Size:
        return self.exact.shape

    def forgotten(self) -> Expected:
        """The same without its memory, where gigabytes were right and nobody asks again."""
        whole, rows = self.yardstick
        return replace(self, exact=self.exact.to("meta"), yardstick=(whole, rows.to("meta")))

    def on_cpu(self) -> Expected:
        """The same, where findings are looked at more closely."""
        whole, rows = self.yardstick
        return replace(self, exact=self.exact.cpu(), yardstick=(whole, rows.cpu()))


@dataclass(frozen=True)
class Finding:
    """Something wrong with one run.

    Attributes:
        kind: sorts it for the diagnosis.
        reason: one line.
        facts: what goes into the check's cause.
        where: which elements of the output are concerned; bool, where that is known.
        told: the sentence and the thing to look at, where whoever found it knows them.
    """

    kind: str
    reason: str
    facts: dict[str, Any] = field(default_factory=dict)
    where: torch.Tensor | None = None
    told: tuple[str, str] | None = None


def told(kind: str, sentence: str, look_at: str, /, **facts: Any) -> Finding:
    """A finding of whoever knows the sentence and the thing to look at; the sentence is the reason, too."""
    return Finding(kind, sentence, facts, told=(sentence, look_at))


def rows(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor as [rows, elements judged together]; a last run of elements or of rows is padded with 0.

    Runs are chosen so that the last is no short one: the rounding of a few elements has no mean.
    """
    flat = tensor.reshape(-1)
    if not flat.numel():
        return flat.reshape(0, 1)
    width, few, least = 1, RUN, LAST
    if tensor.dim() >= 2:
        width, least = tensor.shape[-1], SHORT_ROW
        few = -(-SHORT_ROW // width)
    count = flat.numel() // width
    run = next((run for run in range(few, 2 * few) if not 0 < count % run * width < least), few) * width
    left = -flat.numel() % run
    return (torch.nn.functional.pad(flat, (0, left)) if left else flat).reshape(-1, run)


def errors(out: torch.Tensor, exact: torch.Tensor) -> tuple[float, torch.Tensor]:
    """Relative error over the whole and per row, where both are finite."""
    out = readable(out)
    difference = out.double() - exact
    apart = float(difference.norm())
    if not math.isfinite(apart):
        finite = out.isfinite() & exact.isfinite()
        exact, difference = torch.where(finite, exact, 0.0), torch.where(finite, difference, 0.0)
        apart = float(difference.norm())
    size, wrong = rows(exact).norm(dim=1), rows(difference).norm(dim=1)
    whole = float(exact.norm())
    floor = max(NEGLIGIBLE * whole / math.sqrt(max(len(size), 1)), 1e-300)
    return apart / max(whole, 1e-300), wrong / size.clamp(min=floor)


def relative(finding: Finding) -> float:
    """The error of wrong values as a share of what is right; no small one where that is 0."""
    return float(finding.facts.get("max_error", 1.0)) if finding.facts.get("relative", True) else 1.0


def nearly(findings: list[Finding]) -> bool:
    """Whether all that is wrong is by so little more than what is allowed that rounding does it."""
    return all(
        finding.kind == "values" and relative(finding) <= NEARLY * finding.facts.get("allowed", 0.0)
        for finding in findings
    )


def gate(dtype: torch.dtype, length: int = 1) -> float:
    """The largest relative error allowed in `dtype` behind sums of `length` terms.

    What is rounded to 16 bits is summed in fp32: the one rounding at the end is far above all those of the
    sum, however long it is. A gate that grew with the length would let sums in fp16 pass.
    """
    return GATE[dtype] * (max(1.0, math.sqrt(length / LONG_SUM)) if dtype.itemsize > 2 else 1.0)


def compare(out: torch.Tensor, want: Expected, case: Case, length: int = 1) -> Finding | None:
    """The first thing wrong with the values of an output of the right shape and dtype, or None."""
    special = _compare_specials(out, want.right) if want.dtype.is_floating_point else None
    if special:
        return special
    if case.exact or want.by_code:
        return _compare_exactly(out, want.right)
    whole, per_row = errors(out, want.exact)
    allowed = gate(want.dtype, length)
    limit = max(allowed, YARDSTICK_FACTOR * want.yardstick[0])
    row_limit = (YARDSTICK_FACTOR * want.yardstick[1]).clamp(min=allowed)
    if whole <= limit and bool((per_row <= row_limit).all()):
        return None
    vanishes = not bool(want.exact.any())
    if vanishes and float(out.double().abs().max()) <= NOTHING:
        return None
    if want.movement is not None and (whole <= MOST or vanishes):
        most = WHOLE_MOST * allowed if len(per_row) > 1 else MOST
        for moved, row_moved in want.movement():
            limit = max(limit, moved if vanishes else min(most, moved))
            row_limit = row_limit.maximum(
                row_moved.to(row_limit.device).clamp(max=math.inf if vanishes else MOST)
            )
            if whole <= limit and bool((per_row <= row_limit).all()):
                return None
    bad = int((per_row > row_limit).sum())
    facts = broken(out, want.exact, (whole, per_row), (limit, row_limit), rows)
    return Finding(
        "values", "the values differ from torch's", facts | {"bad_rows": bad, "rows": len(per_row)}
    )


def _compare_exactly(out: torch.Tensor, exact: torch.Tensor) -> Finding | None:
    same = (out == exact) | (out.isnan() & exact.isnan()) if out.dtype.is_floating_point else out == exact
    if bool(same.all()):
        return None
    wrong = int((~same).sum())
    reason = f"{wrong} of {same.numel()} elements differ" if same.numel() > 1 else "the value differs"
    return Finding("values", reason, {**_worst(out, exact), "allowed": 0.0})


def _compare_specials(out: torch.Tensor, exact: torch.Tensor) -> Finding | None:
    """NaN, +Inf and −Inf must stand exactly where the oracle has them."""
    wrong = (out.isnan() != exact.isnan()) | (out.isinf() != exact.isinf())
    wrong |= out.isinf() & exact.isinf() & (out.sign() != exact.sign())
    if not bool(wrong.any()):
        return None
    first = tuple(int(i) for i in wrong.nonzero()[0])
    got, want = float(out[first]), float(exact[first])
    facts = {"index": list(first), "expected": want, "got": got, "elements": int(wrong.sum())}
    kind = "nan" if math.isnan(got) else "inf" if math.isinf(got) else "special"
    return Finding(kind, f"{_spell(got)} where {_spell(want)} belongs", facts)


def _spell(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return f"{value:.6g}"


def _worst(out: torch.Tensor, exact: torch.Tensor) -> dict[str, Any]:
    difference = (out.double() - exact.double()).abs().nan_to_num(posinf=0.0)
    if difference.numel() == 0:
        return {}
    return element(out, exact, int(difference.argmax()))


def name(dtype: torch.dtype) -> str:
    return SHORT.get(dtype, str(dtype).removeprefix("torch."))
