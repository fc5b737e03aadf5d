"""Extra: right answers whose products are slow, or whose chunks go through memory again and again."""

from __future__ import annotations

from grader.dev.planted import Laggard

laggards = [
    # 8.6 TFLOP without matrix units.
    Laggard("products in fp32", file="in_fp32.py"),
    # Softmax, then the target, then the factor: each reads the chunk and writes it.
    Laggard(
        "the gradient of the logits by three kernels, in fp32",
        file="three_kernels.py",
        unseen="most of the time is torch.mm's: it is predicted at twice our time, and three are slow",
    ),
]
