"""One step of a kernel that made a NaN or an Inf, in words, and what kind of arithmetic it was."""

from __future__ import annotations

import math

from grader.kernel.traced_step import Step

BETWEEN = {"addf": "+", "subf": "-", "mulf": "·", "divf": "/", "precise_divf": "/", "remf": "%"}
DIVISIONS = {"divf", "precise_divf", "div_rn", "fast_dividef", "fast_fdividef"}
PRODUCTS = {"mulf", "fma", "dot"}
CASTS = {"truncf", "fp_to_fp", "sitofp", "uitofp"}
POWERS = {"exp", "exp2", "exp10", "expm1", "fast_expf"}
LOGARITHMS = {"log", "log2", "log10", "log1p", "fast_logf", "fast_log2f"}
ROOTS = {"sqrt", "precise_sqrt", "rsqrt", "sqrt_rn", "rsqrt_rn"}
SUMS = {"addf", "subf", "mulf", "fma", "dot", "reduce"}
LEAST = 1.2e-38  # what is below loses its digits in fp32
ENDS = {"fp16": "65504", "bf16": "3.39e38", "fp32": "3.4e38"}


def told_of(step: Step) -> str:
    """`on line 71 exp(103.2) is Inf`."""
    gives, where = number(step.result), f"on line {step.line}"
    if step.name in CASTS:
        ends = f", which ends at {ENDS[step.dtype]}" if step.dtype in ENDS else ""
        return f"{where} {number(step.operands[0])} becomes {gives} in {step.dtype}{ends}"
    if step.name == "gather":
        return f"{where} tl.gather looks for an element beyond its table"
    half = f" in fp16, which ends at {ENDS['fp16']}" * (past(step) and step.dtype == "fp16")
    return f"{where} {_expression(step)} is {gives}{half}"


def _expression(step: Step) -> str:
    numbers = [number(value) for value in step.operands]
    inner = [f"({one})" if one.startswith("-") else one for one in numbers]
    if step.name in BETWEEN and len(inner) == 2:
        return f"{inner[0]} {BETWEEN[step.name]} {inner[1]}"
    if step.name == "fma":
        return f"{inner[0]} · {inner[1]} + {inner[2]}"
    if step.name == "dot":
        odd = any(not math.isfinite(value) for value in step.operands[:2])
        return f"{inner[0]} · {inner[1]}, in the tl.dot," if odd else "a sum of the tl.dot"
    if step.name == "reduce":
        return f"{inner[0]} + {inner[1]}, in a reduction," if math.isinf(step.operands[0]) else "a sum"
    return f"{step.name.removeprefix('precise_')}({', '.join(numbers)})"


def number(value: float) -> str:
    """In four digits, and whole where it is large."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-inf"
    value += 0.0  # no -0
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"


def past(step: Step) -> bool:
    """Whether finite numbers went past the end of a dtype."""
    finite = all(math.isfinite(value) for value in step.operands)
    over = step.name in SUMS | CASTS | POWERS or (step.name in DIVISIONS and not underflows(step))
    return over and finite and math.isinf(step.result)


def underflows(step: Step) -> bool:
    """Whether it divides by 0 or nearly so, or takes the logarithm or the root of that."""
    if step.name in DIVISIONS:
        return abs(step.operands[1]) < LEAST
    return of_one(step) and abs(step.operands[0]) < LEAST


def of_one(step: Step) -> bool:
    """Whether it is a logarithm or a root."""
    return step.name in LOGARITHMS | ROOTS
