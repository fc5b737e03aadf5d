"""Extra: right codes that read x twice."""

from tools.planted import Laggard

laggards = [
    # 2 bytes an element for the scales, 2 and 1 for the codes: 5 where 3 would do.
    Laggard("scales and codes are two kernels", file="two_kernels.py")
]
