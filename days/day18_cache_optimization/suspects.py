"""What a learner may have computed on day 18: other orders of the tiles, and other products."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge.formulas.matmul import grouped_order
from grader.challenge.formulas.stride_suspects import swapped_strides


def mistaken(tile: Callable[..., tuple[int, int]]) -> Callable[[int, int, int], torch.Tensor]:
    """The order by `tile(group, inside, left, rows, num_pid_n)`.

    `inside` counts within the group, `left` is the rows of tiles that it really has.
    """

    def order(num_pid_m: int, num_pid_n: int, rows: int) -> torch.Tensor:
        tiles = []
        for pid in range(num_pid_m * num_pid_n):
            group, inside = divmod(pid, rows * num_pid_n)
            tiles.append(tile(group, inside, min(num_pid_m - group * rows, rows), rows, num_pid_n))
        return torch.tensor(tiles)

    return order


def as_high_as_long(num_pid_m: int, num_pid_n: int, rows: int) -> torch.Tensor:
    """The order of someone who counts GROUP_M * num_pid_m programs in a group."""
    tiles = []
    for pid in range(num_pid_m * num_pid_n):
        group, inside = divmod(pid, rows * num_pid_m)
        left = min(num_pid_m - group * rows, rows)
        tiles.append((group * rows + inside % left, inside // left) if left > 0 else (-1, -1))
    return torch.tensor(tiles)


LAST = "The last group is walked as if it had GROUP_M rows of tiles: "
TWICE = " Some tiles are computed twice, others never."
OF_TILES = {
    LAST + "some of its tiles lie outside the matrix, others get no program.": mistaken(
        lambda group, inside, left, rows, num_pid_n: (group * rows + inside % rows, inside // rows)
    ),
    LAST + "% counts rows that it does not have.": mistaken(
        lambda group, inside, left, rows, num_pid_n: (group * rows + inside % rows, inside // left)
    ),
    LAST + "// must divide by the rows that it has.": mistaken(
        lambda group, inside, left, rows, num_pid_n: (group * rows + inside % left, inside // rows)
    ),
    "The rows of the last group are rotated: count them by pid_in_group, not by pid.": mistaken(
        lambda group, inside, left, rows, num_pid_n: (
            group * rows + (group * rows * num_pid_n + inside) % left,
            inside // left,
        )
    ),
    LAST + "its rows are counted by % GROUP_M, and only then by those that it has.": mistaken(
        lambda group, inside, left, rows, num_pid_n: (group * rows + inside % rows % left, inside // left)
    ),
    "The tiles come in row-major order: inside a group, go down its rows before the next column.": mistaken(
        lambda group, inside, left, rows, num_pid_n: (
            group * rows + inside // num_pid_n,
            inside % num_pid_n,
        )
    ),
    "Every group starts at row 0: add the rows of the groups before it." + TWICE: mistaken(
        lambda group, inside, left, rows, num_pid_n: (inside % left, inside // left)
    ),
    "The number of the group is taken for its first row: that is GROUP_M times as far." + TWICE: mistaken(
        lambda group, inside, left, rows, num_pid_n: (group + inside % left, inside // left)
    ),
    "A full group has GROUP_M * num_pid_n programs, not GROUP_M * num_pid_m." + TWICE: as_high_as_long,
    "Row and column of the tile are swapped: return pid_m first.": (
        lambda num_pid_m, num_pid_n, rows: grouped_order(num_pid_m, num_pid_n, rows).flip(1)
    ),
}

OF_PRODUCTS = {
    "a is read with its two strides swapped.": lambda a, b: swapped_strides(a) @ b,
    "b is read with its two strides swapped.": lambda a, b: a @ swapped_strides(b),
}
