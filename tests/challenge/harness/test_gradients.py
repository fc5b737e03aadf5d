"""A differentiable day is judged forward and backward, and by what it keeps in between."""

from __future__ import annotations

import pytest

from tests.made_up_day import Judged, fails

HIDDEN = """
challenge = Challenge(
    entry="cube",
    inputs=lambda case, draw: (draw(case.rows, case.cols), draw(case.cols)),
    reference=lambda x, w: w * x**3,
    gradients=Gradients(of=(0, 1), saved=lambda x, w: x.nbytes + w.nbytes),
    suspects={"The 3 of 3x² is missing.": lambda x, w: w * (x**3 - 2 * x.detach() ** 2 * (x - x.detach()))},
    cases=[Case(rows=3, cols=5), Case(rows=9, cols=300), Case(rows=4, cols=6, calls=2)]
    + [
        Case(rows=4, cols=6, upstream=layout)
        for layout in ("expanded", "broadcast", "scalar", "transposed", "first")
    ],
)
"""
KERNEL = """@triton.jit
def forward_kernel(x_ptr, w_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    pid_m, offs_n = tl.program_id(0), tl.arange(0, BLOCK)
    mask = offs_n < n_cols
    x = tl.load(x_ptr + pid_m * n_cols + offs_n, mask=mask, other=0.0)
    w = tl.load(w_ptr + offs_n, mask=mask, other=0.0)
    tl.store(y_ptr + pid_m * n_cols + offs_n, w * x * x * x, mask=mask)


@triton.jit
def backward_kernel(
    x_ptr, w_ptr, dy_ptr, dx_ptr, dw_ptr, n_cols, stride_dym, stride_dyn, BLOCK: tl.constexpr
):
    pid_m, offs_n = tl.program_id(0), tl.arange(0, BLOCK)
    mask = offs_n < n_cols
    x = tl.load(x_ptr + pid_m * n_cols + offs_n, mask=mask, other=0.0)
    w = tl.load(w_ptr + offs_n, mask=mask, other=0.0)
    dy = tl.load(dy_ptr + pid_m * stride_dym + offs_n * stride_dyn, mask=mask, other=0.0)
    tl.store(dx_ptr + pid_m * n_cols + offs_n, dy * w * 3 * x * x, mask=mask)
    tl.atomic_add(dw_ptr + offs_n, dy * x * x * x, mask=mask)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        y = torch.empty_like(x)
        forward_kernel[(x.shape[0],)](x, w, y, x.shape[1], BLOCK=512)
        ctx.save_for_backward(x, w)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, w = ctx.saved_tensors
        dx, dw = torch.empty_like(x), torch.zeros_like(w)
        backward_kernel[(x.shape[0],)](x, w, dy, dx, dw, x.shape[1], *dy.stride(), BLOCK=512)
        return dx, dw


def cube(x, w):
    return Cube.apply(x, w)
"""


def test_a_right_backward_pass_passes(judged: Judged) -> None:
    verdict = judged(HIDDEN, KERNEL)
    assert verdict.status == "passed", verdict.diagnosis


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("dy * w * 3", "dy * w", "The 3 of 3x² is missing."),
        (
            "dy * x * x * x, mask",
            "2 * dy * x * x * x, mask",
            "In the gradient of w: Every element is 2 times",
        ),
        ("return dx, dw", "return dx, None", "The gradient of w is None"),
        ("return Cube.apply(x, w)", "return Cube.apply(x.detach(), w.detach())", "not connected"),
        ("*dy.stride()", "dy.shape[1], 1", "Only contiguous upstream"),
        ("torch.zeros_like(w)", "torch.empty_like(w)", "In the gradient of w"),
        (
            "save_for_backward(x, w)",
            "save_for_backward(x, w)\n        ctx.y = y",
            "keeps 21600 bytes for the backward pass beside w",
        ),
        (
            "save_for_backward(x, w)",
            "save_for_backward(x, w)\n        ctx.held = (y, torch.empty_like(x))",
            "keeps 32400 bytes",  # two tensors of one name are two
        ),
        (
            "tl.atomic_add(dw_ptr + offs_n, dy * x * x * x, mask=mask)",
            "dw = tl.load(dw_ptr + offs_n, mask=mask)\n"
            "    tl.store(dw_ptr + offs_n, dw + dy * x * x * x, mask=mask)",
            "A race between programs",
        ),
    ],
)
def test_a_wrong_backward_pass_is_told_why(judged: Judged, old: str, new: str, says: str) -> None:
    fails(judged, HIDDEN, KERNEL, (old, new), says)


def test_a_parameter_that_is_kept_costs_nothing(judged: Judged) -> None:
    assert HIDDEN.count("x.nbytes + w.nbytes") == 1
    verdict = judged(HIDDEN.replace("x.nbytes + w.nbytes", "x.nbytes"), KERNEL)
    assert verdict.status == "passed", verdict.diagnosis


def test_what_is_kept_is_listed_with_its_bytes(judged: Judged) -> None:
    kernel = KERNEL.replace("save_for_backward(x, w)", "save_for_backward(x, w)\n        ctx.y = y")
    assert judged(HIDDEN, kernel).diagnosis.endswith(
        "are enough: x (10800), the tensor from torch.empty_like (10800)."
    )


HIDDEN_PAIR = """
challenge = Challenge(
    entry="doubled",
    inputs=lambda case, draw: (draw(case.n), draw(2 * case.n)),
    reference=lambda x, w: (2 * x, 2 * w),
    gradients=Gradients(of=(0, 1), saved=lambda x, w: 0),
    suspects={"The results have changed places.": lambda x, w: (2 * w, 2 * x)},
    cases=[Case(n=5), Case(n=7, upstream="first")],
)
"""
PAIR = """@triton.jit
def double_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, 2 * tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


def double(x):
    if x is None:
        return None
    y = torch.empty_like(x)
    double_kernel[(1,)](x, y, x.numel(), BLOCK=16)
    return y


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.set_materialize_grads(False)
        return double(x), double(w)

    @staticmethod
    def backward(ctx, dy, dv):
        return double(dy), double(dv)


def doubled(x, w):
    return Doubled.apply(x, w)
"""


def test_an_input_of_no_output_that_is_used_needs_no_gradient(judged: Judged) -> None:
    verdict = judged(HIDDEN_PAIR, PAIR)
    assert verdict.status == "passed", verdict.diagnosis


def test_an_input_of_an_output_that_is_used_needs_one(judged: Judged) -> None:
    verdict = judged(HIDDEN_PAIR, PAIR.replace("double(dy), double(dv)", "double(dy), None"))
    assert "The gradient of w is None" in verdict.diagnosis


def test_a_suspect_whose_results_have_other_shapes_is_none(judged: Judged) -> None:
    verdict = judged(HIDDEN_PAIR, PAIR.replace("2 * tl.load", "3 * tl.load"))
    assert verdict.status == "failed"
    assert "Every element is 1.5 times" in verdict.diagnosis


ALONE = HIDDEN.replace("calls=2)]\n    + [", "alone=1), Case(rows=4, cols=6, alone=0)]\n    + 0 * [")
IF_ASKED = ALONE.replace("w.nbytes),\n    sus", "w.nbytes, if_asked=True),\n    sus")
LAZY = KERNEL.replace(
    "return dx, dw", "return dx if ctx.needs_input_grad[0] else None, dw if ctx.needs_input_grad[1] else None"
)


def test_each_gradient_is_asked_for_alone(judged: Judged) -> None:
    assert judged(ALONE, KERNEL).status == "passed"
    assert judged(IF_ASKED, LAZY).status == "passed"
    verdict = judged(
        ALONE, LAZY.replace("grad[1]", "grad[2]").replace("grad[0]", "grad[1]").replace("[2]", "[0]")
    )
    assert verdict.failed is not None
    assert verdict.failed.name == "edges[rows=4-cols=6-fp32-alone_1]"
    assert "The gradient of w is None" in verdict.diagnosis


def test_one_that_nobody_asks_for_is_not_computed_where_the_day_says_so(judged: Judged) -> None:
    verdict = judged(IF_ASKED, KERNEL)
    assert "Only the gradient of w is asked for here, and that of x was computed as well" in verdict.diagnosis
    assert "96 bytes" in verdict.diagnosis
