"""Extra: right draws that go through memory."""

from tools.planted import Laggard

laggards = [
    # 28 bytes an element, not 4: logits read three times, softmax and its sums written and read.
    Laggard("softmax, running sum and search are kernels of their own", file="softmax_sums.py", stores=True)
]
