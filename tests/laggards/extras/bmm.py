"""Extra: right products that leave most of the GPU idle, or never reach the matrix units."""

from __future__ import annotations

from tools.planted import Laggard

ALL = """    bmm_kernel[(min(tiles, programs),)](
        a,
        b,
        c,
        batch,"""
EACH = """    for g in range(batch):
     bmm_kernel[(min(tiles // batch, programs),)](
        a[g],
        b[g],
        c[g],
        1,"""

laggards = [
    # 32 tiles a launch, for 132 SMs, 64 times.
    Laggard(
        "a launch for every matrix",
        swap={ALL: EACH},
    ),
    # 68.7 G products, each an instruction of its own in one of 32 lanes. (A broadcast product summed over its
    # middle is no laggard: Triton 3.6 recognises it, and makes a TF32 dot of it on a GPU.)
    Laggard("outer products one by one, without tl.dot", file="outer_products.py"),
]
