"""What the compiler takes runs in the interpreter, what it refuses is refused: held against the compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interpreter.fresh import REPO

HEAD = """
import sys, numpy as np, torch, triton, triton.language as tl
from triton.language import store as put

TWO = tl.constexpr(2.0)
NOTED: tl.constexpr = 2.0
PLAIN = 2.0
ARRAY = np.ones(16, "float32")
TENSOR = torch.ones(16)
load = tl.load

class Box:
    def __init__(self, n):
        self.n = n

@triton.jit
def helper(x):
    return x * PLAIN

@triton.jit
def larger(one, other):
    if one > other:
        other = one
    return other

@triton.jit
def joined(one, i, other, j):
    return one * other, i + j

@triton.jit
def wider(one, other):
    return (one + other).to(tl.float64)

def python(one, other):
    return one + other

def made(op):
    @triton.jit
    def inner(x):
        return op(x, x) * TWO
    return inner

def counted(PLAIN):
    @triton.jit
    def inner(x):
        return x * PLAIN
    return inner

doubled, scaled = made(larger), counted(2.0)
"""

TAIL = """
kernels = {name: kernel for name, kernel in dict(globals()).items() if name.startswith("form")}
if sys.argv[1] == "compiled":
    from grader import datasheets
    from grader.compiler.driver import Driver
    from grader.compiler.recipe import Mock
    from triton.runtime import driver
    driver.set_active(Driver(datasheets.GPUS["h200"]))
    x = y = Mock(torch.float32)
else:
    from grader.interpreter import repairs
    repairs.install()
    x, y = torch.arange(256.0), torch.zeros(256)
for name, kernel in kernels.items():
    try:
        if sys.argv[1] == "compiled":
            kernel.warmup(x, y, 5, 0.5, True, BLOCK=16, grid=(1, 1, 1))
        else:
            y.zero_()
            kernel[(1,)](x, y, 5, 0.5, True, BLOCK=16)
        print("takes")
    except Exception as error:
        while error.__cause__ is not None:
            error = error.__cause__
        said = "" if sys.argv[1] == "compiled" else f" {type(error).__name__}: {error}"
        print("refuses" + said)
"""

SQUARE = "e = tl.arange(0, {0}); t = tl.load(x + e[:, None] * {0} + e[None, :]);"
TAKEN = {
    "a constant of the file, left of a block": "tl.store(y + o, TWO * tl.load(x + o) + TWO / (1 + o) - TWO)",
    "blocks joined": "tl.store(y + o, 1.0, mask=(o < n) and (o > 1) or not (o < 9))",
    "a scalar and a block joined": "tl.store(y + o, 1.0, mask=(n > 3) and (o < n))",
    "constants joined": "tl.store(y + o, 1.0, mask=(o < n) and (BLOCK > 3 or BLOCK < 1))",
    "a float argument converted": "tl.store(y + o, tl.load(x + o) + s.to(tl.float32))",
    "a bool argument": "if flag:\n        tl.store(y + o, 1.0, mask=flag & (o < n))",
    "a loop's variable converted": "for t in range(n):\n        tl.store(y + t.to(tl.int64) * 8, 1.0)",
    "what is computed of one": "for t in tl.range(0, n, 2):\n        tl.store(y + (t * 2).to(tl.int64), 1.0)",
    "a scalar and a block compared": "tl.store(y + o, 1.0, mask=(tl.load(x) > 0) & (tl.load(x + o) > 1))",
    "a word by another name": "put(y + o, load(x + o))",
    "a break that constants leave out": "for t in range(n):\n        if BLOCK > 99:\n            break",
    "a plain global that constants leave out": "if BLOCK > 99:\n        tl.store(y, PLAIN)",
    "a local variable named like a global": "PLAIN = 3.0\n    tl.store(y, PLAIN)",
    "a dot": f"{SQUARE.format(16)} put(y, tl.sum(tl.dot(t, t, input_precision='tf32x3')))",
    "a docstring that speaks of def": "'''As in\n\n    def reference(x):\n        …\n    '''\n    put(y, n)",
    "an exchange of floats": "tl.atomic_xchg(y + o, tl.load(x + o))",
    "an f-string of constants": "tl.static_assert(BLOCK > 3, f'{BLOCK}')",
    "arguments handed on": "tl.store(*(y + o, 1.0))",
    "a function that combines by `if`": "put(y, tl.reduce(tl.load(x + o), -1, larger))",
    "several combined": "a, b = tl.associative_scan((o, o), -1, joined)\n    put(y + a, b)",
    "what a function around the kernel knows": "put(y, doubled(n))",
    "an element of a shape": "put(y, o.shape[0])",
    "an element of a tuple": "put(y, (n, 1)[0])",
    "what a type is": "put(y, x.dtype.element_ty.primitive_bitwidth)",
    "what a constant is": "put(y, TWO.value)",
    "a number made of another": "put(y, float(BLOCK))",
    "an early return": "if n > 3:\n        return\n    tl.store(y, 1.0)",
}
REFUSED = {
    "break": "for t in range(n):\n        if t > 3:\n            break\n        tl.store(y + t, 1.0)",
    "break in while": "while n > 0:\n        n -= 1\n        if n == 2:\n            break",
    "break in static_range": "for t in tl.static_range(8):\n        if t > 3:\n            break",
    "continue": "for t in range(n):\n        if t == 2:\n            continue\n        tl.store(y + t, 1.0)",
    "return in a loop": "for t in range(n):\n        if t == 2:\n            return",
    "a plain global": "tl.store(y + o, tl.load(x + o) * PLAIN)",
    "a noted global": "tl.store(y + o, tl.load(x + o) * NOTED)",
    "a plain global in a helper": "tl.store(y, helper(tl.load(x)))",
    "an element of an array": "put(y, float(ARRAY[0]))",
    "a sum over an array": "put(y, sum(ARRAY))",
    "an element of a tensor": "put(y, float(TENSOR[0]))",
    "a loop over an array": "for t in ARRAY:\n        put(y, float(t))",
    "an object of a class": "put(y, Box(n).n)",
    "static_assert": 'tl.static_assert(BLOCK > 99, "BLOCK must be large")',
    "a narrow dot": f"{SQUARE.format(4)} put(y, tl.sum(tl.dot(t, t)))",
    "static_assert without a word": "tl.static_assert(BLOCK > 99)",
    "del": "del o",
    "global": "global PLAIN",
    "an import": "import math",
    "a dict": "put(y, {0: n}[0])",
    "a generator": "put(y, sum(t for t in (n, n)))",
    "a lambda": "put(y + o, tl.associative_scan(o, 0, lambda a, b: a + b))",
    "a def": "def inner(a):\n        return a\n    put(y, inner(n))",
    "a Python function that combines": "put(y, tl.reduce(o, 0, python))",
    "another dtype combined": "put(y, tl.reduce(tl.load(x + o), 0, wider))",
    "a plain number of a function around the kernel": "put(y, scaled(n))",
    "in": "put(y, n in (1, 2))",
}
VARYING = {  # what some versions take
    "a method of fp16": "put(y + o, (o % 2).to(tl.float16).exp() + (o % 2).to(tl.bfloat16).sqrt())",
    "chained": "tl.store(y + o, 1.0, mask=0 <= o < n)",
    "a walrus": "put(y, (m := n))",
}


def verdicts(bodies: list[str], how: str, tmp_path: Path) -> list[str]:
    """What the compiler, or the interpreter, says of each."""
    head = "@triton.jit\ndef form{}(x, y, n, s, flag, BLOCK: tl.constexpr):\n"
    form = head + "    o = tl.arange(0, BLOCK)\n    {}\n"
    path = tmp_path / "forms.py"
    path.write_text(HEAD + "".join(map(form.format, range(len(bodies)), bodies)) + TAIL, encoding="utf-8")
    where = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(REPO)]))
    environment = {**os.environ, "PYTHONPATH": where, "TRITON_CACHE_DIR": str(tmp_path)}
    environment |= {"TRITON_INTERPRET": "1"} if how == "interpreted" else {}
    if how == "compiled":
        environment.pop("TRITON_INTERPRET", None)
    command = [sys.executable, "-W", "ignore", str(path), how]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert len(done.stdout.splitlines()) == len(bodies), done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.every_triton
def test_what_the_compiler_takes_runs_and_what_it_refuses_is_refused(tmp_path: Path) -> None:
    bodies = [*TAKEN.values(), *REFUSED.values(), *VARYING.values()]
    compiled = verdicts(bodies, "compiled", tmp_path)
    interpreted = verdicts(bodies, "interpreted", tmp_path)
    names = [*TAKEN, *REFUSED, *VARYING]
    assert dict(zip(names, compiled, strict=True)) == {
        **dict.fromkeys(TAKEN, "takes"),
        **dict.fromkeys(REFUSED, "refuses"),
        **dict(zip(VARYING, compiled[-len(VARYING) :], strict=True)),
    }
    assert {name: said.split()[0] for name, said in zip(names, interpreted, strict=True)} == dict(
        zip(names, compiled, strict=True)
    )


def test_a_refusal_says_what_and_what_instead(tmp_path: Path) -> None:
    said = dict(zip(REFUSED, verdicts(list(REFUSED.values()), "interpreted", tmp_path), strict=True))
    start = "refuses Uncompilable: "
    assert (
        said["break"] == start + "it takes no `break`. Let the loop's limits end it, or a mask skip the rest."
    )
    advice = "Make it PLAIN = tl.constexpr(…), or an argument."
    plain = "it takes no plain global, and PLAIN = 2.0 is one."
    assert said["a plain global in a helper"] == f"{start}{plain} {advice}"
    assert said["a narrow dot"] == start + "tl.dot needs K >= 16, and K is 4 here: pad its blocks"
    assert said["a dict"] == start + "unsupported AST node type: Dict"
    assert said["static_assert"] == start + "BLOCK must be large"
    assert said["static_assert without a word"] == start + "tl.static_assert(BLOCK > 99) does not hold"
