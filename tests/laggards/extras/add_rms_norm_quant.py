"""Extra: right integers of rows that go through memory more than once."""

from tools.planted import Laggard

laggards = [
    # 17 bytes an element of bf16, not 7.
    Laggard("a kernel each for sum, norm and quantisation", file="three_kernels.py", stores=True)
]
