"""Extra: the losses of a small language model in training, held against torch's; at 0.5 of torch's speed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Made, Speed, between

from .provided import torch_model

PARAMS = 17  # of two blocks
# Residuals, copies of weights, casts, heads apart and together, and the angles of rope: what joins kernels.
GLUE = (
    *("add", "add_", "clone", "copy_", "_to_copy", "mul", "mul_", "stack", "cat"),
    *("select_backward", "slice_backward", "arange", "cos", "sin", "pow", "neg", "div"),
)


def inputs(case: Case, draw) -> tuple[Any, ...]:
    """The tokens of all steps; the parameters of two blocks; steps, lr and precision."""
    v, e, f = case.v, case.e, case.f
    tokens = draw.integers(case.n, case.b, case.s + 1, low=0, high=v)

    def matrix(rows: int, cols: int) -> Tensor:
        drawn = draw(rows, cols, dtype=torch.float32, layout="contiguous", values="normal")
        drawn *= cols**-0.5
        return drawn

    def norm() -> Tensor:
        drawn = draw(e, dtype=torch.float32, layout="contiguous", values="normal")
        drawn *= 0.1
        drawn += 1
        return drawn

    blocks = [
        part()
        for _ in range(2)
        for part in (
            norm,
            lambda: matrix(3 * e, e),
            lambda: matrix(e, e),
            norm,
            lambda: matrix(f, e),
            lambda: matrix(f, e),
            lambda: matrix(e, f),
        )
    ]
    return (
        tokens,
        matrix(v, e),
        *blocks,
        norm(),
        matrix(v, e),
        case.steps,
        case.get("lr", 1e-2),
        case.precision,
    )


def train(tokens: Tensor, *arguments: Any) -> Tensor:
    """The losses by torch."""
    return torch_model.train(tokens, arguments[:PARAMS], *arguments[PARAMS:])


def untrained(tokens: Tensor, *arguments: Any) -> Tensor:
    """As if no update came back to the weights."""
    return torch_model.train(tokens, arguments[:PARAMS], arguments[PARAMS], 0.0, arguments[-1])


def flops(tokens: Tensor, *arguments: Any) -> int:
    """Three products for each weight, token and step: forward, and for both gradients."""
    weights = sum(one.numel() for one in arguments[:PARAMS] if one.dim() == 2) - arguments[0].numel()
    return 6 * weights * tokens.shape[1] * (tokens.shape[2] - 1) * arguments[PARAMS]


def moved(tokens: Tensor, *arguments: Any) -> int:
    """Of each step the weights and their states, read and written by AdamW."""
    return 7 * sum(one.nbytes for one in arguments[:PARAMS]) * arguments[PARAMS]


def at(steps: int, precision: str = "fp32", **more: Any) -> Case:
    sizes = {"n": 3, "b": 2, "s": 12, "e": 32, "f": 40, "v": 33} | more
    return Case(**sizes, steps=steps, precision=precision)


CASES = [
    at(1),
    # Three: two losses see one update, in which bias correction cancels both betas.
    at(3, s=between(13, 19), v=between(34, 40), n=2, lr=0.03),
    at(2, e=64, f=72, b=1),
    at(2, precision="fp16"),
]

challenge = Challenge(
    entry="train",
    inputs=inputs,
    reference=train,
    made=[Made(1, "list", PARAMS)],
    # Residuals, copies of weights, casts, and the angles of rope: what joins kernels.
    allow=GLUE,
    # The gate of fp32 is 1e-5 · √(length / 1024): 1e-4, and 5e-3 where fp16 rounds on the way.
    reduces=lambda case: 1024 * (500**2 if case.precision == "fp16" else 10**2),
    suspects={"The weights are never updated: each step starts from the first ones.": untrained},
    cases=CASES,
    speed=Speed(
        at(4, precision="fp16", n=4, b=8, s=256, e=256, f=704, v=256), moved=moved, flops=flops, of_torch=0.5
    ),
)
