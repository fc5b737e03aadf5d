"""Extra: right answers that move more bytes than they must, forwards or backwards."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # The activation is written and read again, in fp32: 14 bytes an element of bf16 where 6 would do.
    Laggard("the activation is stored, then multiplied by up", file="two_steps.py", stores=True),
    # gate, up and dy are read twice: 16 bytes an element of bf16 where 10 would do.
    Laggard("dgate and dup by a kernel each, which both read everything", file="two_gradients.py"),
]
