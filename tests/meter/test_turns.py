"""A `while` that counts is counted as the `for` that does the same, and few of its turns run."""

from __future__ import annotations

import ast

import pytest

from grader.meter.turns import _moves
from tests.interpreter.fresh import interpreted
from tests.meter.test_counts import SETUP

HEAD = """
@triton.jit
def walk(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), tl.float32)
"""
TAIL = """
    tl.store(y_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), acc)

x, y = torch.zeros(2**22 - 5), torch.zeros(4 * 1024)
with meter.installed():
    walk[(4,)](x, y, x.numel(), BLOCK=1024)
launch, = meter.launches
load, store = launch.sites
print(round(load.calls), round(load.asked), round(load.masked), round(launch.rounds), launch.uneven)
print(launch.cut, launch.shortened, [round(count) for count in launch.trips.values()])
"""
LOAD = """        offs = {at} + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + offs, mask=offs < n, other=0.0)
"""


@pytest.mark.every_triton
@pytest.mark.parametrize(
    "loop",
    [
        "    for at in range(0, n, BLOCK):\n" + LOAD.format(at="at"),
        "    at = 0\n    while at < n:\n" + LOAD.format(at="at") + "        at += BLOCK\n",
        "    at = 0\n    while n > at:\n" + LOAD.format(at="at") + "        at = at + BLOCK\n",
        "    at = 0\n    while at * BLOCK <= n:\n" + LOAD.format(at="at * BLOCK") + "        at += 1\n",
        "    left = n\n    while left > 0:\n" + LOAD.format(at="n - left") + "        left -= BLOCK\n",
    ],
)
def test_a_while_that_counts_is_counted_as_a_for(loop: str) -> None:
    out = interpreted(SETUP + HEAD + loop + TAIL)
    assert out.splitlines() == [f"16384 {16 * (2**22 - 5)} 20 4096 1.0", "False True [16384]"]


def test_a_while_that_takes_every_so_many_tile_is_counted_with_those_inside_of_it() -> None:
    loop = """
    tile = tl.program_id(0)
    while tile < n // BLOCK + 2:
        at = 0
        while at < BLOCK:
            acc += tl.load(x_ptr + at + tl.arange(0, BLOCK))
            at += BLOCK // 16
        tile += tl.num_programs(0)
"""
    out = interpreted(SETUP + HEAD + loop + TAIL)
    turns = (2**22 - 5) // 1024 + 2
    assert out.splitlines()[0].startswith(f"{16 * turns} ")
    assert out.splitlines()[1] == f"False True [{17 * turns}]", "of no file, all loops have one line"


def test_a_while_that_asks_for_something_else_runs_as_it_is() -> None:
    loop = "    at, more = 0, n > 0\n    while more:\n" + LOAD.format(at="at")
    out = interpreted(SETUP + HEAD + loop + "        at += n // 16\n        more = at < n\n" + TAIL)
    assert out.splitlines()[1] == "False False [68]", "all 17 turns of each"


@pytest.mark.parametrize(
    "loop",
    [
        "while at < n: x += 1",
        "while at < n:\n    if x: at += 1",
        "while at < n:\n    at += 1\n    at += x",
        "while at < n: at *= 2",
        "while at < n:\n    at += step\n    step *= 2",
        "while at < n:\n    at += 1\n    n -= 1",
        "while at < n: at += tl.load(p + at)",
        "while at < tl.load(p): at += 1",
        "while at < n: at += mine(x)",
        "while at != n: at += 1",
        "while (at < n) & go: at += 1",
    ],
)
def test_what_may_end_otherwise_counts_not(loop: str) -> None:
    assert _moves(ast.parse(loop).body[0]) is None  # type: ignore[arg-type]
