"""Extra: right integers of rows that go through memory more than once."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # 17 bytes an element of bf16, not 7.
    Laggard("a kernel each for sum, norm and quantisation", file="three_kernels.py", stores=True),
    # 32 columns at a time by a warp, 64 bytes of them on their way, and the row is asked for three times.
    Laggard("the row is read again for each step", file="again.py"),
]
