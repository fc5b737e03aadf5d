"""Day 18: a @ b with its tiles in grouped order, at half of torch's speed where the order decides it."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge import Case, Challenge, Memory, Speed

HALF, BRAIN = torch.float16, torch.bfloat16


def operands(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor]:
    """a[m, k] and b[k, n] in the case's layout, unless `a_layout` or `b_layout` says otherwise."""
    a = draw(case.m, case.k, layout=case.get("a_layout"))
    return a, draw(case.k, case.n, layout=case.get("b_layout"))


def tiles_in_order(num_pid_m: int, num_pid_n: int, rows: int) -> torch.Tensor:
    """The tile of every program: `rows` rows of tiles at a time, each group column by column."""
    order = [
        (pid_m, pid_n)
        for first in range(0, num_pid_m, rows)
        for pid_n in range(num_pid_n)
        for pid_m in range(first, min(first + rows, num_pid_m))
    ]
    return torch.tensor(order, dtype=torch.int32)


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
tile_suspects = {
    LAST + "some of its tiles lie outside the matrix, others get no program.": mistaken(
        lambda group, inside, left, rows, num_pid_n: (group * rows + inside % rows, inside // rows)
    ),
    LAST + "% counts rows that it does not have.": mistaken(
        lambda group, inside, left, rows, num_pid_n: (group * rows + inside % rows, inside // left)
    ),
    LAST + "// must divide by the rows that it has.": mistaken(
        lambda group, inside, left, rows, num_pid_n: (group * rows + inside % left, inside // rows)
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
        lambda num_pid_m, num_pid_n, rows: tiles_in_order(num_pid_m, num_pid_n, rows).flip(1)
    ),
}


def swapped(x: torch.Tensor) -> torch.Tensor:
    """What a contiguous matrix looks like to someone who mixes up its strides; zeros where that leaves it."""
    height, width = x.shape
    where = torch.arange(height)[:, None] + torch.arange(width)[None, :] * width
    return x.flatten()[where] if int(where.max()) < x.numel() else torch.zeros_like(x)


def moved(a: torch.Tensor, b: torch.Tensor) -> int:
    return a.nbytes + b.nbytes + a.shape[0] * b.shape[1] * a.element_size()


def flops(a: torch.Tensor, b: torch.Tensor) -> int:
    return 2 * a.shape[0] * a.shape[1] * b.shape[1]


square = Case(m=8192, n=8192, k=8192, dtype=HALF, gpu=True)
# 512 MiB of b, ten times the L2 of an H200: who walks along a row of tiles fetches all of it for every row.
wide = Case(m=2048, n=65536, k=4096, dtype=HALF)

grouped_tile = Challenge(
    entry="grouped_tile",
    probe="tile_map",
    suspects=tile_suspects,
    inputs=lambda case, draw: (case.m, case.n, case.rows),
    reference=tiles_in_order,
    cases=[
        Case(m=4, n=3, rows=2),
        Case(m=1, n=1, rows=1),
        Case(m=5, n=3, rows=2),
        Case(m=3, n=5, rows=4),
        Case(m=6, n=4, rows=6),
        Case(m=7, n=4, rows=3),
        Case(m=6, n=5, rows=1),
        Case(m=9, n=5, rows=8),
        Case(m=1, n=19, rows=8),
        Case(m=19, n=1, rows=8),
        Case(m=11, n=4, rows=4),
    ],
)

matmul = Challenge(
    entry="matmul",
    inputs=operands,
    reference=lambda a, b: a @ b,
    suspects={
        "a is read with its two strides swapped.": lambda a, b: swapped(a) @ b,
        "b is read with its two strides swapped.": lambda a, b: a @ swapped(b),
    },
    # fp16 and bf16 are summed in fp32 and rounded once, however long the sum.
    reduces=lambda case: case.k if case.dtype == torch.float32 else 1,
    cases=[
        Case(m=16, n=16, k=16),
        Case(m=1, n=1, k=1),
        Case(m=0, n=8, k=4),
        Case(m=8, n=0, k=4),
        Case(m=4, n=8, k=0),
        Case(m=5, n=3, k=7),
        Case(m=5, n=7, k=3),
        Case(m=1, n=130, k=40),
        Case(m=130, n=1, k=40, values="integers", exact=True),
        Case(m=63, n=65, k=33),
        Case(m=64, n=128, k=64),
        Case(m=127, n=127, k=20),
        Case(m=129, n=193, k=20),
        Case(m=601, n=37, k=17),
        Case(m=37, n=301, k=17),
        Case(m=211, n=163, k=40),
        Case(m=20, n=30, k=1025),
        Case(m=70, n=90, k=100, dtype=HALF),
        Case(m=70, n=90, k=100, dtype=BRAIN),
        Case(m=20, n=30, k=3001, dtype=HALF),
        Case(m=70, n=90, k=50, layout="transposed"),
        Case(m=70, n=90, k=50, layout="transposed", a_layout="contiguous"),
        Case(m=70, n=90, k=50, layout="transposed", b_layout="contiguous", dtype=HALF),
        Case(m=70, n=90, k=50, layout="sliced", b_layout="strided"),
        Case(m=70, n=90, k=50, layout="strided", b_layout="sliced"),
        Case(m=70, n=90, k=50, layout="expanded", b_layout="offset"),
        Case(m=71, n=91, k=51, layout="offset", dtype=HALF),
        Case(m=70, n=140, k=60, values="integers", exact=True),
        Case(m=70, n=140, k=60, values="integers", dtype=HALF, exact=True),
        Case(m=50, n=60, k=40, values="constant"),
        Case(m=50, n=60, k=40, values="heavy"),
        Case(m=50, n=60, k=40, values="large"),
        Case(m=50, n=60, k=40, values="inf"),
        Case(m=50, n=60, k=40, values="nan"),
        Case(m=90, n=80, k=40, calls=2),
    ],
    speed=(
        Speed(square, moved=moved, flops=flops, of_torch=0.50),
        Speed(wide, moved=moved, flops=flops, of_torch=0.50),
    ),
    memory=Memory(square),
)

challenge = (grouped_tile, matmul)
