"""Extra: right draws that go through memory."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # 28 bytes an element, not 4: logits read three times, softmax and its sums written and read.
    Laggard("softmax, running sum and search are kernels of their own", file="softmax_sums.py", stores=True),
    # 12 bytes an element, and a run of Philox for each.
    Laggard(
        "the noise is stored by a kernel of its own",
        file="noise_stored.py",
        stores=True,
        unseen="it is predicted at 1.7 times our time, and slow begins at three times",
    ),
]
