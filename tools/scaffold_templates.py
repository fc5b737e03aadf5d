"""What `track dev new` writes, by place: the smallest day that runs, and a TODO wherever an author is needed.

The names to be filled in are $slug, $title, $heading, $place, $who ("Extra" or "Day 36") and $after.
"""

from __future__ import annotations

LESSON = """\
# $heading
$after
TODO: why this matters, in a sentence or two with one measured number; without a GPU a predicted one.

## The idea

TODO: the idea, with a small drawing.

## A worked example

TODO: a kernel near this one that is not the answer.

```python
```

## Your task

```python
$slug(x)  # x[n] → a new [n] of the same dtype
```

TODO: the shapes, dtypes and layouts that come; what the launcher may not do.

## How it is graded

TODO: the cases of hidden_tests.py in words, and the speed bar.

## What to try next

TODO: two or three experiments.

## Where it is from

TODO: the paper or the kernel, with a link.
"""

TOP = '''\
"""$who: TODO: what the kernel computes, in one line."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def ${slug}_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """y[i] = 2 * x[i]; a program owns BLOCK elements."""
'''
LAUNCHER = '''\


def $slug(x: torch.Tensor) -> torch.Tensor:
    """Return 2 * x as a new tensor [n]."""
    y = torch.empty_like(x)
'''

SKELETON = f"""\
{TOP}\
    # TODO 1: number the elements of this program, and mark which of them exist.
    # TODO 2: read them, double them, and write them.
{LAUNCHER}\
    # TODO 3: launch just enough programs to cover n elements.
    return y
"""

SOLUTION = f"""\
{TOP}\
    # TODO: your kernel in the place of this one. The skeleton is this file less the lines to be learnt.
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(y_ptr + offs, 2 * x, mask=mask)
{LAUNCHER}\
    ${{slug}}_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
"""

HIDDEN_TESTS = '''\
"""$who: TODO: what is asked for, and how fast it has to be."""

from __future__ import annotations

from grader.challenge import Case, Challenge

challenge = Challenge(
    entry="$slug",
    inputs=lambda case, draw: (draw(case.n),),
    reference=lambda x: 2 * x,
    cases=[
        # TODO: sizes 0, 1, around a block and prime, one drawn by between(); each dtype, layout and kind of
        # values of the lesson.
        Case(n=4),
    ],
    # TODO: speed=Speed(Case(n=2**26, gpu=True), moved=lambda x: 2 * x.nbytes, of_copy=0.60)
)
'''

HINTS = """\
## Nudge

TODO: a question that points at the heart of it.

## Approach

TODO: the steps, numbered, without code.

## Code

```python
# TODO: two or three lines with the crucial expression
```
"""

MISTAKES = '''\
"""$who: what is done wrong, and what the grader must say about it."""

from tools.planted import Mistake

mistakes: list[Mistake] = [
    # TODO: the slips that people make in your kernel. These are of the kernel that new made.
    Mistake("the store has no mask", {"2 * x, mask=mask": "2 * x"}, "Unmasked store"),
    Mistake("the grid rounds down", {"triton.cdiv(x.numel(), 1024)": "x.numel() // 1024"}, "never written"),
    Mistake("torch does the work", {"return y": "return x + x"}, "torch", fails="honest"),
    Mistake("the input is returned", {"return y": "return x"}, "input x"),
    Mistake("x is overwritten", {"tl.store(y_ptr": "tl.store(x_ptr"}, "x"),
]
'''

LAGGARDS = '''\
"""$who: right answers that are needlessly slow, for every speed bar."""

from tools.planted import Laggard

laggards: list[Laggard] = [
    # TODO, with a speed bar:
    # Laggard("32 elements a program", swap={", 1024": ", 32", "BLOCK=1024": "BLOCK=32"}),
]
'''

RIGHT = '''\
"""TODO: a right kernel in another style than the solution's; here programs that walk on over the elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def walk(src, dst, count, SIZE: tl.constexpr):
    for first in range(tl.program_id(0) * SIZE, count, tl.num_programs(0) * SIZE):
        at = first + tl.arange(0, SIZE)
        value = tl.load(src + at, at < count)
        tl.store(dst + at, value + value, at < count)


def $slug(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    if x.numel():
        walk[(min(64, triton.cdiv(x.numel(), 512)),)](x, out, x.numel(), SIZE=512)
    return out
'''

FILES = {
    "days/$place/README.md": LESSON,
    "days/$place/kernel.py": SKELETON,
    "days/$place/hidden_tests.py": HIDDEN_TESTS,
    "solutions/$place.py": SOLUTION,
    "hints/$place.md": HINTS,
    "tests/mistakes/$place.py": MISTAKES,
    "tests/laggards/$place.py": LAGGARDS,
    "tests/right/$place/in_another_style.py": RIGHT,
}
