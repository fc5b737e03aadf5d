"""Whoever watches a kernel is asked before each access, and told all there is to know of it."""

from __future__ import annotations

import pytest

from tests.interpreter.fresh import interpreted

SETUP = """
from grader.interpreter import whereabouts

@triton.jit
def all_kinds(x_ptr, n_ptr, BLOCK: tl.constexpr):
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < 7)
    tl.store(x_ptr + offs, x + 1, mask=offs < 6)
    tl.atomic_add(n_ptr, 1)
    tl.atomic_cas(n_ptr, 99, 1)

class Noting:
    def __init__(self, allowing):
        self.allowing, self.noted = allowing, []

    def allows(self, access):
        where = (access.kind, access.op.split(".")[-1], str(access.dtype), int(access.mask.sum()))
        self.noted.append((*where, whereabouts.number()))
        return self.allowing

repairs.install()
proxy.install()

def watched(watcher):
    x, n = torch.zeros(8), torch.zeros(1, dtype=torch.int32)
    with proxy.watching(watcher):
        all_kinds[(1, 2)](x, n, BLOCK=4)
    return x.tolist(), int(n)
"""


@pytest.mark.every_triton
def test_every_kind_of_access_is_asked_about_with_its_program() -> None:
    out = interpreted(
        SETUP
        + """
noting = Noting(True)
print(watched(noting))
print(*noting.noted, sep="\\n")
"""
    )
    assert out.splitlines() == [
        "([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0], 2)",
        "('load', '', 'float32', 4, 0)",
        "('store', '', 'float32', 4, 0)",
        "('atomic', 'ADD', 'int32', 1, 0)",
        "('atomic', 'CAS', 'int32', 1, 0)",
        "('load', '', 'float32', 3, 1)",
        "('store', '', 'float32', 2, 1)",
        "('atomic', 'ADD', 'int32', 1, 1)",
        "('atomic', 'CAS', 'int32', 1, 1)",
    ]


@pytest.mark.every_triton
def test_what_a_watcher_does_not_allow_is_left_undone() -> None:
    assert interpreted(SETUP + "print(watched(Noting(False)))") == f"({[0.0] * 8}, 0)\n"


@pytest.mark.every_triton
def test_a_masked_lane_holds_other_though_its_load_is_not_allowed() -> None:
    out = interpreted(
        SETUP
        + """
@triton.jit
def tail(x_ptr, out_ptr, BLOCK: tl.constexpr):
    row = tl.arange(0, BLOCK)
    tl.store(out_ptr + row, tl.load(x_ptr + row, mask=row < 2, other=-1))

class Storing:
    def allows(self, access):
        return access.kind == "store"

x, out = torch.full((4,), 7), torch.zeros(4, dtype=torch.int64)
with proxy.watching(Storing()):
    tail[(1,)](x, out, BLOCK=4)
print(out.tolist())
"""
    )
    assert out == "[0, 0, -1, -1]\n"


def test_nobody_is_asked_once_the_block_is_left_even_by_an_error() -> None:
    out = interpreted(
        SETUP
        + """
class Stopping:
    def allows(self, access):
        raise RuntimeError("no further")

try:
    watched(Stopping())
except Exception as error:
    print(error.__cause__)
x, n = torch.zeros(8), torch.zeros(1, dtype=torch.int32)
all_kinds[(1, 2)](x, n, BLOCK=4)
print(int(n))
"""
    )
    assert out == "no further\n2\n"


INTEGER_MASKS = """
@triton.jit
def early_end(x_ptr, n_ptr, m, BLOCK: tl.constexpr):
    live = tl.program_id(0) < m  # with a block it becomes integers in the interpreter
    row = tl.arange(0, BLOCK)
    tile = live & (row[:, None] < 2) & (row[None, :] < 3)
    tl.store(x_ptr + row[:, None] * BLOCK + row[None, :], 1.0, mask=tile)
    x = tl.load(x_ptr + row, mask=live & (row < 5), other=3.0)
    tl.atomic_add(x_ptr + row, x, mask=live & (row < 7))
    tl.store(n_ptr, tl.load(n_ptr, mask=live & (m > 0), other=0) + 1, mask=live & (m > 0))

class Noting:
    def __init__(self):
        self.noted = []

    def allows(self, access):
        self.noted.append((access.kind, str(access.mask.dtype), access.mask.size, access.lanes.size))
        return True

proxy.install()
x, n, noting = torch.zeros(64), torch.zeros(1, dtype=torch.int32), Noting()
with proxy.watching(noting):
    early_end[(2,)](x, n, 1, BLOCK=8)
print(*noting.noted, sep="\\n")
print(x[:9].tolist(), int(n))
"""


@pytest.mark.every_triton
def test_a_mask_of_integers_lets_those_lanes_through_that_a_gpu_does() -> None:
    printed = interpreted(INTEGER_MASKS).splitlines()
    live = [("store", 64, 6), ("load", 8, 5), ("atomic", 8, 7), ("load", 1, 1), ("store", 1, 1)]
    assert printed == [
        *(str((kind, "bool", size, lanes)) for kind, size, lanes in live),
        *(str((kind, "bool", size, 0)) for kind, size, _ in live),
        "[2.0, 2.0, 2.0, 0.0, 0.0, 3.0, 3.0, 0.0, 1.0] 1",
    ]
