"""How often a kernel is compiled over some calls, and what Triton tells apart in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernel.fresh import answer
from tests.made_up_day import KERNEL as HEAD
from tests.made_up_day import Judged

HIDDEN = """
def inputs(case, draw):
    return draw(case.n, layout=case.layout), case.share, case.step


STEPS = [Case(n=40, share=0.5 / step, step=step) for step in (1, 2, 3, 1000)]

challenge = Challenge(
    entry="scaled",
    inputs=inputs,
    reference=lambda x, share, step: x * share / step,
    cases=STEPS,
    compilations=Compilations(STEPS, most=2),
)
"""
KERNEL = """@triton.jit
def scale_kernel(x_ptr, y_ptr, n, share, step, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=mask) * share / step, mask=mask)


def scaled(x, share, step):
    y = torch.empty_like(x)
    scale_kernel[(triton.cdiv(len(x), 16),)](x, y, len(x), share, step, BLOCK=16)
    return y
"""
SIXTEEN = HIDDEN.replace("1000", "1600")


@pytest.mark.parametrize(
    ("hidden", "old", "new"),
    [
        (HIDDEN, "", ""),
        (SIXTEEN, "step, BLOCK=16)", "float(step), BLOCK=16)"),
        (SIXTEEN, "@triton.jit", "@triton.jit(do_not_specialize=['step'])"),
        (SIXTEEN, "@triton.jit", "@triton.jit(do_not_specialize_on_alignment=[4])"),
        (HIDDEN, "n, share, step, BLOCK: tl", "n, share: tl.float32, step, BLOCK: tl"),
    ],
)
def test_few_compilations_pass(judged: Judged, hidden: str, old: str, new: str) -> None:
    verdict = judged(hidden, KERNEL.replace(old, new))
    assert verdict.status == "passed", verdict.diagnosis
    assert next(check for check in verdict.checks if "compilations" in check.name).outcome == "passed"


def test_the_items_of_a_tuple_are_no_constants(judged: Judged) -> None:
    kernel = KERNEL.replace("* share / step", "* pair[0] / pair[1]").replace(
        "n, share, step, B", "n, pair, B"
    )
    verdict = judged(HIDDEN, kernel.replace("share, step, BLOCK=16", "(share, float(step)), BLOCK=16"))
    assert verdict.status == "passed", verdict.diagnosis


@pytest.mark.parametrize(
    ("hidden", "old", "new", "says"),
    [
        (
            HIDDEN,
            "share, step, BLOCK:",
            "share: tl.constexpr, step, BLOCK:",
            "As tl.constexpr each value of `share` is",
        ),
        (
            HIDDEN,
            "share, step, BLOCK:",
            "share: tl.constexpr, step: tl.constexpr, BLOCK:",
            "Over 4 calls scale_kernel is compiled 4 times; 2 are enough. As tl.constexpr each value "
            "of `share` and `step` is compiled anew.",
        ),
        (SIXTEEN, "", "", "is compiled 3 times; 2 are enough. Of the integer `step` Triton asks"),
        (
            HIDDEN,
            "BLOCK=16)\n",
            "BLOCK=16, num_warps=min(1 << step, 8) if step < 4 else 16)\n",
            "The option `num_warps` differs",
        ),
    ],
)
def test_too_many_are_told_with_what_differs(
    judged: Judged, hidden: str, old: str, new: str, says: str
) -> None:
    assert not old or KERNEL.count(old) == 1
    verdict = judged(hidden, KERNEL.replace(old, new) if old else KERNEL)
    assert verdict.status == "failed"
    assert says in verdict.diagnosis


def test_dtypes_and_alignment_are_told_apart(judged: Judged) -> None:
    for more, says in (
        ("dtype=torch.float16", "The dtype of `x_ptr` and `y_ptr` differs"),
        ("layout='offset'", "Whether `x_ptr` begins at a multiple of 16 bytes differs"),
    ):
        cases = f"[Case(n=40, share=0.5, step=2), Case(n=40, share=0.5, step=2, {more})]"
        verdict = judged(
            HIDDEN.replace("Compilations(STEPS, most=2)", f"Compilations({cases}, most=1)"), KERNEL
        )
        assert says in verdict.diagnosis


COMPILED = """
import importlib.util
import torch, triton
from triton.runtime import driver
from grader import datasheets
from grader.performance.compiler.fake_driver import Driver

answer, compiled = [], []
triton.knobs.runtime.jit_cache_hook = lambda **_: compiled.append(1) and None
driver.set_active(Driver(datasheets.GPUS[datasheets.USUAL]))
x = torch.empty(16)
for path in paths:
    spec = importlib.util.spec_from_file_location("kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compiled.clear()
    for step in (1, 2, 3, 1600):
        module.scale_kernel.warmup(x, x, 40, 0.5 / step, step, BLOCK=16, grid=(1,))
    answer.append(len(compiled))
"""
COUNTS = {
    ("", ""): 3,
    ("@triton.jit", "@triton.jit(do_not_specialize=['step'])"): 1,
    ("share, s", "share: tl.constexpr, s"): 4,
}


def test_tritons_own_hook_counts_the_same(tmp_path: Path) -> None:
    paths = [tmp_path / f"kernel{number}.py" for number in range(len(COUNTS))]
    for path, edit in zip(paths, COUNTS, strict=True):
        path.write_text(HEAD + KERNEL.replace(*edit, 1), encoding="utf-8")
    given = f"import os\nos.environ['TRITON_CACHE_DIR'] = {str(tmp_path / 'cache')!r}\n"
    given += f"paths = {[*map(str, paths)]}\n"
    assert answer(given + COMPILED, evaluates=False) == list(COUNTS.values())
