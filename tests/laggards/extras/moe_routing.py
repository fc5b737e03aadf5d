"""Extra: right routings that sort by one program, or read the logits again and again."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # Two walks along 2 million entries, 64 at a time, while the other SMs have nothing to do.
    Laggard("one program sorts all entries", file="one_program.py"),
    # 8 times the 268 MB of the logits.
    Laggard(
        "a launch for each of the k choices",
        file="k_passes.py",
        unseen="it is predicted at 2.6 times our time, and slow begins at three times",
    ),
]
