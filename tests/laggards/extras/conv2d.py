"""Extra: right convolutions that store every window."""

from tools.planted import Laggard

laggards = [
    # 462 MB of windows written and read again, for an x of 51 MB.
    Laggard("all windows stored as a matrix, then multiplied", file="im2col.py", stores=True)
]
