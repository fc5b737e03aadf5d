"""Proof, before a call is counted, that the counters count: one small launch whose every count is known.

They hang on private names of Triton's interpreter. Where one of those has moved, nothing is predicted, and
the verdict says which count is wrong.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from grader.meter.counter import Counter
from grader.meter.counts import LaunchCounts
from grader.meter.execute import Meter
from grader.meter.loops import Loops

PROGRAMS, STEPS, SIDE = 3, 2, 16


@triton.jit
def _known(x_ptr, y_ptr, STEPS: tl.constexpr, SIDE: tl.constexpr):
    rows, cols = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    tile = tl.program_id(0) * STEPS * SIDE * SIDE
    acc = tl.zeros((SIDE, SIDE), tl.float32)
    for step in tl.range(0, STEPS):
        x = tl.load(x_ptr + tile + step * SIDE * SIDE + rows * SIDE + cols, mask=rows < SIDE // 2, other=0.0)
        acc = tl.dot(x, x, acc)
    column = tl.arange(0, SIDE)
    tl.store(y_ptr + tl.program_id(0) * SIDE * 8 + column * 8, tl.exp(tl.sum(acc, axis=1)))
    tl.atomic_add(y_ptr, 1.0)


def wrong() -> str:
    """The first count that is not what it must be; empty when all are."""
    x, y = torch.zeros(PROGRAMS * STEPS * SIDE * SIDE), torch.zeros(PROGRAMS * SIDE * 8)
    meter = Meter(Counter(__file__, Loops()), {}, lambda *_: {})
    with meter.installed():
        _known[(PROGRAMS,)](x, y, STEPS=STEPS, SIDE=SIDE)
    if len(meter.launches) != 1:
        return f"{len(meter.launches)} launches"
    found, must = _counts(meter.launches[0]), _right()
    return next((f"{name} {found.get(name)}" for name in must if found.get(name) != must[name]), "")


def _counts(launch: LaunchCounts) -> dict[str, float]:
    counts: dict[str, float] = {"programs": launch.programs, "dots": launch.dots, "flops": launch.flops}
    counts |= {"special": launch.ops.get("special", 0), "rounds": launch.rounds}
    for site in launch.sites:
        counts |= {f"{site.kind}s": site.calls, f"{site.kind} bytes": site.asked}
        counts |= {f"{site.kind} sectors": site.sectors, f"{site.kind} masked": site.masked}
    return counts


def _right() -> dict[str, float]:
    tiles = PROGRAMS * STEPS
    return {
        "programs": PROGRAMS,
        "rounds": STEPS,
        "dots": tiles,
        "flops": tiles * 2 * SIDE**3,
        "special": PROGRAMS * SIDE,
        "loads": tiles,
        "load bytes": tiles * SIDE * SIDE // 2 * 4,
        "load masked": tiles * SIDE * SIDE // 2,
        "load sectors": tiles * SIDE * SIDE // 2 * 4 // 32,
        "stores": PROGRAMS,
        "store bytes": PROGRAMS * SIDE * 4,
        "store sectors": PROGRAMS * SIDE,
        "atomics": PROGRAMS,
        "atomic bytes": PROGRAMS * 4,
    }
