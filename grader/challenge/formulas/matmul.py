"""Products of two matrices: their operands, their cost, and the order of their tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from grader.challenge.case import Case
from grader.challenge.formulas.draw_one_input import tensor

if TYPE_CHECKING:
    from grader.challenge.harness.draw import Draw


def operands(case: Case, draw: Draw) -> tuple[Tensor, Tensor]:
    """a[m, k] and b[k, n]; `a_layout`, `b_values` and the like make one of them differ from the case.

    With `overflows`, sums leave fp16 on the way and come back.
    """
    a, b = tensor(case, draw, "a", case.m, case.k), tensor(case, draw, "b", case.k, case.n)
    if "overflows" in case:
        overflow(a, b)
    return a, b


def swinging(case: Case, draw: Draw) -> tuple[Tensor, Tensor]:
    """The operands; with `swing`, every sum first runs far out and then most of the way back. With
    `overflows`, sums leave fp16 on the way and come back.
    """
    if "swing" not in case:
        return operands(case, draw)
    a, b = (draw(*shape, values="negative") for shape in ((case.m, case.k), (case.k, case.n)))
    b[case.k // 2 :] *= -0.75
    return a, b


def overflow(a: Tensor, b: Tensor) -> None:
    """Change a[m, k] and b[k, ...], both negative, in place: sums run far beyond 65504, and back to a 64th.

    What is rounded to fp16 on the way is Inf there; for k = 512 the results are around 32,000.
    """
    half = a.shape[1] // 2
    a *= 50
    b *= 50
    a[:, half : 2 * half] = a[:, :half]
    b[half : 2 * half] = b[:half] * (1 / 64 - 1)


def moved(a: Tensor, b: Tensor) -> int:
    """Bytes of a, b and their product, each moved once."""
    return a.nbytes + b.nbytes + a.shape[0] * b.shape[1] * a.element_size()


def flops(a: Tensor, b: Tensor) -> int:
    """A multiplication and an addition for each element of a and column of b."""
    return 2 * a.numel() * b.shape[1]


def grouped_order(num_pid_m: int, num_pid_n: int, rows: int) -> Tensor:
    """The tile of every program, int32 [programs, 2]: `rows` rows of tiles at a time, column by column.

    Source: Triton's tutorial 3, "L2 cache optimizations"; `rows` is its GROUP_SIZE_M.
    """
    order = [
        (pid_m, pid_n)
        for first in range(0, num_pid_m, rows)
        for pid_n in range(num_pid_n)
        for pid_m in range(first, min(first + rows, num_pid_m))
    ]
    return torch.tensor(order, dtype=torch.int32)
