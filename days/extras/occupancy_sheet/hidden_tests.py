"""Extra: how many programs an SM holds, and a copy by so many on every SM, at 0.75 of a plain copy."""

from __future__ import annotations

import torch

from grader.challenge import Case, Challenge, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, resident

# Of an SM: warps, programs, registers, bytes of shared memory, and of those reserved for each program.
SMS = {
    "T4": (32, 16, 65536, 65536, 0),
    "A100": (64, 32, 65536, 167936, 1024),
    "4090": (48, 24, 65536, 102400, 1024),
    "H100": (64, 32, 65536, 233472, 1024),
}


def on(gpu: str, registers: int, shared: int, num_warps: int, **more) -> Case:
    """A kernel on a GPU."""
    return Case(registers=registers, shared=shared, num_warps=num_warps, gpu_name=gpu, **more)


COUNTS = [
    on("H100", 32, 0, 4),
    on("T4", 32, 0, 4),
    on("4090", 16, 0, 4),
    on("A100", 33, 0, 4),
    on("A100", 40, 0, 8),
    on("H100", 41, 0, 8),
    on("H100", 168, 0, 4),
    on("H100", between(90, 127), 0, 8),
    on("H100", 255, 0, 8),
    on("H100", 255, 0, 16),
    on("T4", 64, 32768, 4),
    on("T4", 64, 24576, 8),
    on("A100", 32, 16384, 4),
    on("4090", 32, 9216, 4),
    on("4090", 64, 20480, 4),
    on("4090", 64, 49152, 4),
    on("H100", 64, 227 << 10, 8),
    on("H100", 64, 116736, 4),
    on("H100", 64, 115712, 4),
    on("H100", 24, 7168, 4),
    on("A100", 128, between(300, 700) * 128, 4),
    on("4090", 32, 128 << 10, 4),
    on("H100", 24, 0, 32),
    on("4090", 24, 0, 32),
    on("T4", 16, 0, 16),
    Case(registers=16, shared=0, num_warps=4, sm=(64, 12, 65536, 65536, 0)),
    Case(registers=20, shared=1024, num_warps=4, sm=(64, 20, 32768, 65536, 512)),
]


def given(case: Case, draw) -> tuple[int, ...]:
    """The arguments of `resident`. `gpu_name` says of which GPU the SM is; `sm` is one that could be: its
    warps, programs, registers, shared memory, and what it reserves of that.
    """
    return case.registers, case.shared, case.num_warps, *(case.get("sm") or SMS[case.gpu_name])


count = Challenge(
    entry="resident",
    inputs=given,
    reference=resident,
    suspects=SUSPECTS,
    cases=COUNTS,
)

COPIES = [
    Case(n=8),
    Case(n=1),
    Case(n=0),
    Case(n=1023),
    Case(n=1024),
    Case(n=1025),
    Case(n=4099),
    Case(n=between(19_000, 21_000)),
    Case(n=200_003),
    Case(n=98_304),
    Case(n=5000, dtype=HALF),
    Case(n=5000, dtype=BRAIN),
    Case(n=3000, layout="offset"),
    Case(n=3000, layout="offset", dtype=HALF),
    Case(n=3000, values="large"),
    Case(n=3000, calls=2),
    Case(n=2**24 + 5, gpu=True),
    Case(n=2**31 + 12_345, dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(n=1_300_001),
]

copy = Challenge(
    entry="fill",
    inputs=lambda case, draw: (draw(case.n),),
    reference=torch.clone,
    suspects={},
    shown=Case(n=200_003),
    cases=COPIES,
    speed=Speed(Case(n=2**26, gpu=True), moved=lambda x: 2 * x.nbytes, of_copy=0.75),
)

challenge = (count, copy)
