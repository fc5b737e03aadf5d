"""Without a GPU, memory is what the tensors of a call hold at once."""

from __future__ import annotations

import pytest

from tests.made_up_day import Judged

HIDDEN = """
challenge = Challenge(
    entry="double",
    inputs=lambda case, draw: (draw(case.n),),
    reference=lambda x: 2 * x,
    cases=[Case(n=64)],
    memory=Memory(Case(n=2**20), extra=lambda x: 1024),
)
"""
KERNEL = """@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, 2 * tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


def double(x):
    y = torch.empty_like(x)
    double_kernel[(1,)](x, y, x.numel(), BLOCK=2**20)
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
    assert (
        "At its peak the call holds 4096 KiB beyond its outputs where 222 KiB are allowed"
        in verdict.diagnosis
    )


TOTAL = """
challenge = Challenge(
    entry="total",
    inputs=lambda case, draw: (draw(case.n),),
    reference=lambda x: x.sum(),
    cases=[Case(n=64)],
    memory=Memory(Case(n=2**20)),
)
"""
SUMMED = """@triton.jit
def total_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr, tl.sum(tl.load(x_ptr + offs, mask=offs < n, other=0.0), axis=0))


def total(x):
    pieces = torch.empty(PIECES, device=x.device)
    y = torch.empty((), device=x.device)
    total_kernel[(1,)](x, y, x.numel(), BLOCK=2**20)
    return y
"""


@pytest.mark.parametrize(("share", "status"), [(256, "passed"), (2, "failed")])
def test_partial_results_may_take_a_small_part_of_what_is_read(
    judged: Judged, share: int, status: str
) -> None:
    verdict = judged(TOTAL, SUMMED.replace("PIECES", f"x.numel() // {share}"))
    assert verdict.status == status, verdict.diagnosis


def test_a_case_for_a_gpu_is_not_measured_here(judged: Judged) -> None:
    verdict = judged(HIDDEN.replace("n=2**20", "n=2**20, gpu=True"), KERNEL)
    assert next(check for check in verdict.checks if check.name == "memory").outcome == "not measured"


def test_what_is_given_back_before_more_is_asked_for_counts_once(judged: Judged) -> None:
    loop = "    for _ in range(4):\n        table = torch.empty(256, device=x.device)\n        del table\n"
    verdict = judged(HIDDEN, KERNEL.replace("    y =", f"{loop}    y ="))
    assert verdict.status == "passed", verdict.diagnosis


BOTH = """
challenge = Challenge(
    entry="double",
    inputs=lambda case, draw: (draw(case.n),),
    reference=lambda x: 2 * x,
    gradients=Gradients(of=(0,), saved=lambda x: x.nbytes),
    cases=[Case(n=64)],
    memory=Memory(Case(n=2**20), extra=lambda x: 1024, part="both"),
)
"""
LAYER = """

def twice(x):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    double_kernel[(1,)](x, y, x.numel(), BLOCK=2**20)
    return y


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        FORWARD
        return twice(x)

    @staticmethod
    def backward(ctx, dy):
        BACKWARD
        return twice(dy.contiguous())


def double(x):
    return Double.apply(x)
"""


@pytest.mark.parametrize(
    ("forward", "backward", "held"),
    [
        ("pass", "pass", ""),
        ("held = torch.empty_like(x)", "pass", ""),  # gone where both gradient and output are there
        ("ctx.held = torch.empty_like(x)", "pass", "4096 KiB"),
        ("pass", "held = torch.empty_like(dy), torch.empty_like(dy)", "8192 KiB"),
    ],
)
def test_both_passes_have_one_peak_and_a_gradient_is_an_output(
    judged: Judged, forward: str, backward: str, held: str
) -> None:
    layer = LAYER.replace("FORWARD", forward).replace("BACKWARD", backward)
    verdict = judged(BOTH, KERNEL[: KERNEL.index("\n\ndef")] + "\n" + layer)
    if not held:
        assert verdict.status == "passed", verdict.diagnosis
    else:
        assert f"the call with its backward pass holds {held} beyond its outputs" in verdict.diagnosis
