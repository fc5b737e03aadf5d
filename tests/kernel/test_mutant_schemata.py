"""Whichever edit is chosen, a kernel computes what it does when the edit is made in its source."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from grader.kernel import launch
from grader.kernel.access_analysis import Recorder
from grader.kernel.bounds import Bounds
from grader.kernel.mutant_schemata import Edit, Schemata
from grader.kernel.tensor_regions import regions_of
from grader.kernel.ttir import Uncompilable
from tests.kernel.evaluated import line


@triton.jit
def doubled(x):
    return x * 2


@triton.jit
def kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    offs = tl.arange(0, N)
    x = tl.load(x_ptr + offs, mask=offs < n, other=1.0)
    total = tl.zeros((N,), tl.float32)
    for step in range(0, 3):
        total += doubled(x) * step
    if n > 2:
        total = total + 1
    first = 0
    tl.store(out_ptr + first + offs, total, mask=first + offs < n)


EDITS = [
    ("doubled", "return", "    return x + 5"),
    ("kernel", "x = tl.load", "x = tl.load(x_ptr + offs, mask=offs < n - 1, other=7.0)"),
    ("kernel", "total +=", "        total = doubled(x) * step"),
    ("kernel", "total +=", "total -= doubled(x)"),
    ("kernel", "total +=", "pass"),
    ("kernel", "total = total + 1", "total = total - tl.max(x, axis=0)"),
    ("kernel", "first = 0", "first = 1"),  # passes make an extension of the condition of that
    ("kernel", "total +=", "        total += doubled(x) * step\n        n = n - 1"),
    ("kernel", "total +=", "        x = x + 1"),
    ("kernel", "tl.store", "    tl.store(out_ptr + first + offs, x, mask=first + offs < n)"),
    ("kernel", "tl.store", "tl.store(out_ptr + first + offs, total, mask=first + offs < n - 1)"),
]
REFUSED = [
    ("kernel", "x = tl.load", "x = tl.load(x_ptr + nothing, mask=offs < n, other=1.0)"),
    ("kernel", "total = total + 1", "total = total + tl.sum(x, axis=3)"),
    ("kernel", "tl.store", "tl.store(out_ptr + , total)"),
]
ELSEWHERE = [  # whose values are of another type, or which set what the statement does not
    ("kernel", "x = tl.load", "x = tl.load(x_ptr, mask=0 < n, other=1.0)"),
    ("kernel", "total +=", "other = n + 1"),
]
FUNCTIONS: dict[str, Any] = {"doubled": doubled, "kernel": kernel}
X = torch.tensor([1.0, 2.0, 4.0])


def run(schemata: Schemata | None = None) -> list[float]:
    """What the kernel stores."""
    out = torch.full((3,), -1.0)
    args, options = (X, out, 3), {"N": 4}
    bounds = Bounds(kernel.fn.__code__.co_filename)
    bounds.launch(regions_of(dict(zip(inspect.signature(kernel.fn).parameters, args, strict=False)), {}))
    ready = launch.prepared(kernel, args, options, bounds.path)
    if schemata:
        ready = ready._replace(machine=schemata.following(ready.machine))
    ready.run((1, 1, 1), Recorder(bounds))
    return out.tolist()


def planted(edits: list[tuple[str, str, str]]) -> Schemata:
    lines = {words: line(FUNCTIONS[name], words) for name, words, _ in edits}
    return Schemata([Edit(n, name, lines[words], text) for n, (name, words, text) in enumerate(edits, 1)])


def made(name: str, words: str, text: str) -> list[float]:
    """What it stores once its source has the edit."""
    function = FUNCTIONS[name]
    source = function.src
    (old,) = (each for each in source.splitlines() if words in each)
    indent = old[: len(old) - len(old.lstrip())]
    function._unsafe_update_src(source.replace(old, indent + text.lstrip()))
    kernel.hash = None
    try:
        return run()
    finally:
        function._unsafe_update_src(source)
        kernel.hash = None


@pytest.mark.every_triton
def test_each_edit_computes_what_it_does_in_the_source():
    plain, wanted = run(), [made(*edit) for edit in EDITS]
    schemata = planted(EDITS)
    with schemata.planted(FUNCTIONS):
        assert run(schemata) == plain
        assert schemata.compiled == set(range(1, len(EDITS) + 1))
        found = []
        for number in range(1, len(EDITS) + 1):
            schemata.chosen = number
            found.append(run(schemata))
        schemata.chosen = 0
        assert run(schemata) == plain
    assert found == wanted
    assert run() == plain


@pytest.mark.every_triton
def test_what_the_compiler_refuses_is_known_and_what_has_another_type_is_left_out():
    schemata = planted([*EDITS, *REFUSED, *ELSEWHERE])
    with schemata.planted(FUNCTIONS), contextlib.suppress(Uncompilable):
        run(schemata)
    assert schemata.refused == {len(EDITS) + place for place in range(1, len(REFUSED) + 1)}
    schemata.renew()
    with schemata.planted(FUNCTIONS):
        run(schemata)
    assert schemata.compiled == set(range(1, len(EDITS) + 1))
