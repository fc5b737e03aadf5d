"""Without a GPU, memory is what a call asks torch for in all."""

from __future__ import annotations

from tests.judge.conftest import Judged

HIDDEN = """
challenge = Challenge(
    entry="double",
    inputs=lambda case, draw: (draw(case.n),),
    reference=lambda x: 2 * x,
    cases=[Case(n=64)],
    memory=Memory(Case(n=4096), extra=lambda x: 1024),
)
"""
KERNEL = """@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, 2 * tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


def double(x):
    y = torch.empty_like(x)
    double_kernel[(1,)](x, y, x.numel(), BLOCK=4096)
    return y
"""


def test_outputs_and_what_the_day_allows_are_free(judged: Judged) -> None:
    small = KERNEL.replace("    y =", "    table = torch.empty(256, device=x.device)\n    y =")
    for kernel in (KERNEL, small):
        verdict = judged(HIDDEN, kernel)
        assert verdict.status == "passed", verdict.diagnosis
        assert next(check for check in verdict.checks if check.name == "memory").outcome == "passed"


def test_a_tensor_beyond_that_is_named_with_its_size(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL.replace("    y =", "    held = torch.empty_like(x)\n    y ="))
    assert verdict.status == "failed"
    assert "the call allocates 16 KiB beyond its outputs where 2 KiB are allowed" in verdict.diagnosis


def test_a_case_for_a_gpu_is_not_measured_here(judged: Judged) -> None:
    verdict = judged(HIDDEN.replace("n=4096", "n=4096, gpu=True"), KERNEL)
    assert next(check for check in verdict.checks if check.name == "memory").outcome == "not measured"
