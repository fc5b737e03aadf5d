"""Extra: right convolutions that store every window, or never reach the matrix units."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # 462 MB of windows written and read again, for an x of 51 MB.
    Laggard("all windows stored as a matrix, then multiplied", file="im2col.py", stores=True),
    # 59 G multiplications and additions, one by one: 1.8 ms at 67 TFLOP/s, where the matrix units take 0.17.
    Laggard("outer products one by one, without tl.dot", file="outer_products.py"),
]
