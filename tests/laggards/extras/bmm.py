"""Extra: right products that leave most of the GPU idle."""

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
    Laggard("a launch for every matrix", swap={ALL: EACH})
]
