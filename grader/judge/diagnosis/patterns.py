"""What a wrong result looks like: fits of the wrong values to the right ones.

Each pattern takes a failed trial's output and oracle as float64 and answers with a sentence, or None when it
does not fit. A pattern must explain nearly everything: one that explains half would send the learner the
wrong way.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import torch

from grader.judge.case.compare import Finding, gate
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.behind import reached
from grader.judge.diagnosis.evidence import Evidence, Speech
from grader.judge.diagnosis.fit import FIT, close, out_dtype, wrong_dtype, wrong_output
from grader.judge.diagnosis.launched import launches
from grader.judge.diagnosis.logarithms import under_a_logarithm
from grader.judge.diagnosis.origins import is_combination, is_misplaced, is_zero_for_other
from grader.judge.diagnosis.precision import in_sixteen_bits
from grader.judge.diagnosis.rows import is_rowwise_scaled, too_large_a_sum
from grader.judge.diagnosis.site import functions
from grader.judge.diagnosis.slices import is_reordered
from grader.judge.diagnosis.source import called

Pattern = Callable[[Trial, torch.Tensor, torch.Tensor], "tuple[str, str] | None"]


def is_input(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> tuple[str, str] | None:
    for argument, label in zip(trial.arguments, trial.names, strict=True):
        if not isinstance(argument, torch.Tensor) or argument.shape != got.shape:
            continue
        given, dtype = argument.cpu().double(), out_dtype(trial)
        if argument.is_floating_point() and close(got, given, dtype) and not close(want, given, dtype):
            return f"The result is {label}, copied: the input comes back unchanged.", "what is stored"
    return None


def is_transposed(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> tuple[str, str] | None:
    if got.dim() < 2 or got.shape[-1] < 2 or got.shape[-2] < 2:
        return None
    flipped = want.mT.contiguous().view(got.shape)
    alike = close(want, flipped, out_dtype(trial))  # as where all is nearly one number
    if close(got, flipped, out_dtype(trial)) and not alike:
        return (
            "The result is transposed: rows and columns are swapped.",
            "which stride multiplies which offset",
        )
    return None


def is_scaled(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> tuple[str, str] | None:
    if want.numel() < 2 or _rows(want) == 1:
        return None  # one row alone cannot tell a constant factor from one of its own
    if not bool(got.isfinite().all() and want.isfinite().all()) or int((want != 0).sum()) < 2:
        return None  # zeros have any factor
    factor = float((got * want).sum() / (want * want).sum())
    if abs(factor - 1) <= max(1e-3, FIT * gate(out_dtype(trial))) or abs(factor) < 1e-6:
        return None  # so close to 1 it is rounding, not a factor
    if not close(got, factor * want, out_dtype(trial)):
        return None
    if close(got, want + (got - want).mean(), out_dtype(trial)) and not _alike(want):
        return None  # nearly equal numbers may as well be off by a constant
    if abs(factor + 1) <= 1e-3:
        return "Every element is right but for its sign.", "the last factor"
    known = spell_factor(factor, trial.case.sizes)
    return (
        f"Every element is {known} times what it should be: a factor is missing or applied twice.",
        "the last factor",
    )


def _alike(want: torch.Tensor) -> bool:
    """Whether all of it is one number."""
    return bool((want == want.reshape(-1)[0]).all())


def _rows(want: torch.Tensor) -> int:
    """How many there are, of all matrices; 0 of a vector."""
    return want[..., 0].numel() if want.dim() > 1 and want.numel() else 0


def is_shifted(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> tuple[str, str] | None:
    if want.numel() < 2 or _rows(want) == 1:
        return None  # one row alone may be off by a number of its own
    if not bool(got.isfinite().all() and want.isfinite().all()):
        return None
    if bool((want == want.reshape(-1)[0]).all()):
        return None
    offset = float((got - want).mean())
    spread = float((got - want - offset).norm()) / max(float(want.norm()), 1e-30)
    rounding = FIT * gate(out_dtype(trial))
    factor = float((got * want).sum() / (want * want).sum())
    if close(got, factor * want, out_dtype(trial)):
        return None  # nearly equal numbers may as well have a wrong factor
    if abs(offset) < max(1e-3, rounding) * float(want.abs().mean()) or spread > rounding:
        return None
    return (
        f"Every element is off by {offset:+.4g}: a constant is missing or added twice.",
        "the constant term",
    )


def is_row_zero(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> tuple[str, str] | None:
    if got.dim() < 2 or got.shape[0] < 2:
        return None
    first = got[:1].expand_as(got)
    if close(got, first, out_dtype(trial)) and not close(want, want[:1].expand_as(want), out_dtype(trial)):
        if got.dim() > 2:
            sentence = "The result is the same all along its first axis: its parts come of the same inputs."
        elif any(close(got[0], row, out_dtype(trial)) for row in want):
            sentence = "Every row of the result is the same: each program works on the same row."
        else:
            sentence = "Every row of the result is the same, and right for none."
            return sentence, "what makes one row unlike another"
        return sentence, "tl.program_id in the offsets"
    return None


def is_rotated(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> tuple[str, str] | None:
    if got.dim() != 1 or got.numel() < 8:
        return None
    for by in (1, -1):
        inner = slice(1, -1)
        if close(got[inner], want.roll(by)[inner], out_dtype(trial)):
            return (
                f"The result is shifted by {abs(by)} element: the offsets start one too "
                f"{'low' if by > 0 else 'high'}.",
                "the offsets",
            )
    return None


def is_right_up_to(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> tuple[str, str] | None:
    """The first block of columns, or of elements, is right and those after it are not."""
    if got.dim() not in (1, 2):
        return None
    wrong = ~torch.isclose(got, want, rtol=1e-2, atol=1e-6, equal_nan=True)
    wrong = wrong.all(dim=0) if got.dim() == 2 else wrong
    first = int(wrong.nonzero()[0]) if bool(wrong.any()) else 0
    if first < 16 or first & (first - 1) or float(wrong[first:].double().mean()) < 0.9:
        return None
    which = "Columns" if got.dim() == 2 else "Elements"
    return (
        f"{which} from {first} on come out wrong: what differs between the first block and the next?",
        "offsets that need the block's own columns",
    )


def is_right_but_last(trial: Trial, got: torch.Tensor, want: torch.Tensor) -> tuple[str, str] | None:
    """A vector without the last of its elements: far off, and one of so many that it is no luck."""
    if got.dim() != 1 or len(got) < SEVERAL or bool((got - want).abs()[-1] <= APART * want.abs()[-1]):
        return None
    near = min(FIT * gate(out_dtype(trial)), 1e-2)
    right = torch.isclose(got, want, rtol=near, atol=1e-6, equal_nan=True)
    if bool(right[-1]) or not bool(right[:-1].all()):
        return None
    return (
        "Only the last element comes out wrong: does a mask, or the grid, end one too early?",
        "the mask of the store, and the grid",
    )


PATTERNS: tuple[Pattern, ...] = (
    is_input,
    is_row_zero,
    is_transposed,
    is_reordered,
    is_combination,
    is_zero_for_other,
    is_misplaced,
    is_scaled,
    is_shifted,
    is_rowwise_scaled,
    is_rotated,
    is_right_up_to,
    is_right_but_last,
)
FACTORS = (is_scaled, is_rowwise_scaled)
UNNAMED = re.compile(r"Every element is (?:off by )?([-+]?[\d.]+(?:e[-+]\d+|/\d)?)(?: times|:)")
APART = 0.05  # of a number: it is another one, and not rounded
SUM = "the sum over the row is too large."
SUMS = {"sum", "reduce", "cumsum", "associative_scan"}  # what may make one
SEVERAL = 8  # elements of which a wrong one is the last by luck in one case of eight
# Indices are counted, not computed: no factor and no sum tells anything of them.
OF_VALUES = (is_combination, is_scaled, is_shifted, is_rowwise_scaled)


def spell_factor(factor: float, sizes: dict[str, Any]) -> str:
    """A factor by name when it has one: 1.4427 is log2(e), 0.125 with cols=8 is 1/cols."""
    names: dict[float, str] = {}
    for label, value in sizes.items():
        if isinstance(value, int) and value > 1:
            names |= {float(value): label, math.sqrt(value): f"√{label}"}
    names |= {
        2.0: "2",
        math.log2(math.e): "log2(e)",
        math.log(2): "ln(2)",
        math.sqrt(2): "√2",
        math.pi: "π",
        math.e: "e",
        4.0: "4",
    }
    known = {**names, **{1 / value: f"1/{label}" for value, label in names.items() if 1 / value not in names}}
    for value, label in known.items():
        if math.isclose(factor, value, rel_tol=2e-3):
            return label
    return f"{factor:.4g}"


def values(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis for wrong values: the pattern that fits most of the failed trials.

    It is told of the first that it fits. Where fp32 is right no factor is missing, and no row is divided by
    what is wrong: a score that is rounded makes a factor, too, of a row in which it alone counts, and a sum
    in 16 bits falls short of most rows alike.
    """
    pairs = [(other, pair) for other in evidence.failed if (pair := wrong_output(other))]
    rounded = in_sixteen_bits(evidence)
    patterns = [each for each in PATTERNS if not (rounded and each in FACTORS)]
    fits = [[_fit(pattern, other, *pair) for pattern in patterns] for other, pair in pairs]
    counts = [sum(told is not None for told in column) for column in zip(*fits, strict=True)]
    if not any(counts):
        return None
    best = counts.index(max(counts))
    found = [(other, *told) for (other, _), row in zip(pairs, fits, strict=True) if (told := row[best])]
    owner, sentence, look_at = found[0]
    if varies([told for _, told, _ in found]):
        seen = sentence.partition(":")[0]
        sentence = (
            f"{seen}; in other cases it is another number: what is wrong goes by the sizes, as a wrong "
            "divisor or lanes past the end do."
        )
        return sentence, "divisions, masks, and what lanes without an element hold", owner
    if told := under_a_logarithm(sentence, evidence.source):
        return *told, owner
    if sentence.endswith(SUM) and not _adds_up(owner, evidence.source):
        seen = sentence.removesuffix(SUM)
        sentence = f"{seen}what it is divided by, or what is subtracted before exp(), is too large."
        return sentence, "what comes in for each row, and what becomes of it", owner
    if sentence.endswith(SUM):
        full = "next_power_of_2" in evidence.source and any(_fills_a_block(t, want) for t, (_, want) in pairs)
        why, look_at = too_large_a_sum(evidence.source, full)
        sentence += why
    return sentence, look_at, owner


def _adds_up(trial: Trial, source: str) -> bool:
    """Whether a kernel that was launched in this case sums anything, or nobody knows which was."""
    tree = ast.parse(source)
    names = reached((launch.kernel for launch in launches(trial)), tree)
    launched = [function for function in functions(tree) if function.name in names]
    return not launched or any(called(ast.unparse(kernel), SUMS) for kernel in launched)


def varies(sentences: list[str]) -> bool:
    """Whether a factor or a term without a name is another one from case to case: then none is missing."""
    numbers = [float(Fraction(number[1])) for told in sentences if (number := UNNAMED.match(told))]
    return len(numbers) == len(sentences) and max(numbers) - min(numbers) > APART * max(map(abs, numbers))


def _fills_a_block(trial: Trial, want: torch.Tensor) -> bool:
    """Whether rows are those of the first input, and have as many elements as the smallest block that
    holds them: no lane is without one.
    """
    first, n = trial.arguments[0], want.shape[-1] if want.dim() == 2 else 0
    of_input = isinstance(first, torch.Tensor) and first.shape == want.shape
    return of_input and n > 1 and n & (n - 1) == 0


def _fit(pattern: Pattern, trial: Trial, got: torch.Tensor, want: torch.Tensor) -> tuple[str, str] | None:
    if pattern in OF_VALUES and not wrong_dtype(trial).is_floating_point:
        return None
    return pattern(trial, got, want)
