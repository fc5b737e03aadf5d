"""Day 18: a @ b with its tiles in grouped order, at 0.45 of torch's speed where the order decides it."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Memory, Piece, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.matmul import flops, grouped_order, moved, operands

from .suspects import OF_PRODUCTS, OF_TILES

square = Case(m=8192, n=8192, k=8192, dtype=HALF, gpu=True)
# 512 MiB of b, ten times the L2 of an H200: who walks along a row of tiles fetches all of it for every row.
wide = Case(m=2048, n=65536, k=4096, dtype=HALF)

grouped_tile = Challenge(
    entry="grouped_tile",
    probe="tile_map",
    suspects=OF_TILES,
    inputs=lambda case, draw: (case.m, case.n, case.rows),
    pieces=(Piece("grouped_tile", "grouped_tile"),),
    reference=grouped_order,
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
        Case(m=between(11, 15), n=between(4, 7), rows=4),
    ],
)

PIECES = (
    Piece("stores of c", "matmul_kernel", by="stores"),
    Piece("bounds", "matmul_kernel", by="bounds"),
    Piece("products", "matmul_kernel", by="values"),
    Piece("launcher", "matmul"),
)

# Walked: more than 2**31 elements, along every axis.
HUGE = [
    Case(m=85_001, n=32_771, k=67, dtype=HALF, huge=True),
    Case(m=85_001, n=32_771, k=67, huge=True),
    Case(m=2**20 + 5, n=9, k=4099, dtype=HALF, huge=True),
    Case(m=2**20 + 5, n=9, k=4099, dtype=HALF, layout="transposed", huge=True),
    Case(m=9, n=2**20 + 5, k=4099, dtype=HALF, huge=True),
    Case(m=9, n=2**20 + 5, k=4099, dtype=HALF, layout="transposed", huge=True),
    Case(m=2100, n=9, k=2100, layout="far", dtype=HALF, huge=True),
]

OF_MATMUL = [
    Case(m=16, n=16, k=16),
    Case(m=48, n=48, k=48),
    Case(m=96, n=96, k=96, dtype=HALF),
    # Whole tiles along n, and more rows of tiles than a group has: too long a row leads elsewhere.
    Case(m=1088, n=256, k=16),
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
    Case(m=1100, n=190, k=20),
    Case(m=601, n=37, k=17),
    Case(m=37, n=301, k=17),
    Case(m=between(194, 222), n=between(162, 175), k=between(33, 47)),
    Case(m=300, n=528, k=96, dtype=HALF),
    Case(m=20, n=30, k=1025),
    Case(m=70, n=90, k=100, dtype=HALF),
    Case(m=70, n=90, k=100, dtype=BRAIN),
    Case(m=20, n=30, k=3001, dtype=HALF),
    Case(m=20, n=30, k=3001, dtype=BRAIN),
    Case(m=5, n=7, k=512, values="negative", overflows=True, dtype=HALF),
    Case(m=70, n=90, k=50, layout="transposed"),
    Case(m=70, n=90, k=50, layout="transposed", a_layout="contiguous"),
    Case(m=70, n=90, k=50, layout="columns", b_layout="contiguous", dtype=HALF),
    Case(m=72, n=96, k=48, layout="padded", dtype=HALF),
    Case(m=72, n=96, k=48, layout="columns", a_layout="padded"),
    Case(m=70, n=90, k=50, layout="sliced", b_layout="strided"),
    Case(m=70, n=90, k=50, layout="strided", b_layout="sliced"),
    Case(m=70, n=90, k=50, layout="expanded", b_layout="offset"),
    Case(m=71, n=91, k=51, layout="offset", dtype=HALF),
    Case(m=70, n=140, k=60, values="integers", exact=True),
    Case(m=70, n=140, k=60, values="integers", dtype=HALF, exact=True),
    Case(m=50, n=60, k=40, values="constant"),
    Case(m=50, n=60, k=40, values="heavy"),
    Case(m=50, n=60, k=40, values="large"),
    Case(m=50, n=60, k=40, values="large", dtype=BRAIN),
    Case(m=50, n=60, k=40, values="inf"),
    Case(m=50, n=60, k=40, values="nan"),
    Case(m=50, n=60, k=40, values="nan", a_values="zeros"),
    Case(m=70, n=90, k=40, calls=2),
    *HUGE,
]

matmul = Challenge(
    entry="matmul",
    inputs=operands,
    reference=lambda a, b: a @ b,
    suspects=OF_PRODUCTS,
    pieces=PIECES,
    # fp16 and bf16 are summed in fp32 and rounded once, however long the sum.
    reduces=lambda case: case.k if case.dtype == torch.float32 else 1,
    shown=Case(m=1100, n=190, k=20),
    cases=OF_MATMUL,
    speed=(
        Speed(square, moved=moved, flops=flops, of_torch=0.45),
        Speed(wide, moved=moved, flops=flops, of_torch=0.45),
    ),
    memory=Memory(square),
)

challenge = (grouped_tile, matmul)
