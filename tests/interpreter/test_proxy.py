"""Whoever watches a kernel is asked before each access, and told all there is to know of it."""

from __future__ import annotations

import pytest

from tests.interpreter.test_interpreter import interpreted

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
