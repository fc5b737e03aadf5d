"""A day's finished helpers can be imported by a kernel that lies anywhere, evaluated and compiled."""

from __future__ import annotations

from pathlib import Path

from tests.made_up_day import Judged

HIDDEN = """
case = Case(n=1 << 20)
challenge = Challenge("double", lambda case, draw: (draw(case.n),), lambda x: 2 * x, [Case(n=100)],
                      speed=Speed(case, moved=lambda x: 2 * x.nbytes, of_copy=0.5))
"""
HELPER = """
import triton
import triton.language as tl


@triton.jit
def load_block(x_ptr, offs, n):
    return tl.load(x_ptr + offs, mask=offs < n, other=0.0)
"""
KERNEL = """
from blocks import load_block


@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, 2 * load_block(x_ptr, offs, n), mask=offs < n)


def double(x):
    y = torch.empty_like(x)
    double_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
"""


def test_a_kernel_imports_what_the_day_provides(judged: Judged, tmp_path: Path) -> None:
    catalog_folder = tmp_path / "days" / "day01_made_up" / "provided"
    catalog_folder.mkdir(parents=True)
    (catalog_folder / "blocks.py").write_text(HELPER, encoding="utf-8")
    verdict = judged(HIDDEN, KERNEL)
    assert verdict.status == "passed", verdict.diagnosis
    assert verdict.speed is None or verdict.speed.evidence == "predicted"
    fast = next(check for check in verdict.checks if check.group == "fast")
    assert fast.outcome == "passed", fast.cause


def test_a_helper_of_the_learners_own_comes_first(judged: Judged, tmp_path: Path) -> None:
    (tmp_path / "blocks.py").write_text(HELPER.replace("other=0.0)", "other=0.0) + 1"), encoding="utf-8")
    verdict = judged(HIDDEN, KERNEL)
    assert verdict.status == "failed"
    assert not (tmp_path / "__pycache__").exists()
