"""Day 26: right answers that compute in fp64, or meet in memory halfway."""

from tools.planted import Laggard

laggards = [
    # Some 100 fp64 instructions an element, on a chip that starts them at half the rate of fp32 at best.
    Laggard("asinh in fp64", swap={"libdevice.asinh(x)": "libdevice.asinh(x.to(tl.float64))"}),
    # Twenty bytes an element where eight would do.
    Laggard("erf and GELU in two kernels", file="two_kernels.py"),
]
