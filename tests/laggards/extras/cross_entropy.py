"""Extra: right answers that send through memory what they could keep on the chip."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # Softmax, softmax less the target, and that times the factor: 22 bytes a logit of bf16 where 6 would do.
    Laggard("softmax, target and factor by a kernel each", file="three_kernels.py"),
    # Written and read again in fp32: 14 bytes a logit of bf16.
    Laggard("the logarithm of softmax goes through memory", file="log_softmax.py"),
]
