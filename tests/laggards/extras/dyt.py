"""Extra: right answers that move more bytes than they must, or whose sums queue up at one place."""

from __future__ import annotations

from grader.dev.planted import Laggard

laggards = [
    # tanh goes out in fp32 and comes back: 12 bytes an element of bf16 where 4 would do.
    Laggard("tanh by a kernel of its own, which stores it", file="two_kernels.py"),
    # 67 million additions to one number, one behind the other.
    Laggard(
        "an atomic addition to dalpha for every element",
        swap={
            "dalpha += dz * x": "tl.atomic_add(dalpha_part_ptr + 0 * offs_n, dz * x, mask=mask)",
            "    tl.store(dalpha_part_ptr + tl.program_id(0), tl.sum(dalpha, axis=0))\n": "",
            "dalpha_part = torch.empty(chunks * strips, 1,": "dalpha_part = torch.zeros(1, 1,",
        },
        unseen="the count knows how many additions are atomic, and not that all of them meet in one place",
    ),
]
