"""Extra: what is done wrong with an operator, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

AUTOGRAD = "scaled_add.register_autograd(backward, setup_context=setup_context)\n"
DX = "        dx = dout\n"
DY = "        dy = scaled(dout, ctx.alpha)\n"
GRADIENTS = "return dx, dy, None"
IN_PLACE = '@torch.library.triton_op("track::scaled_add_", mutates_args=("x",))'
LAUNCHED = "launch(scaled_add_kernel, x.numel(), x, y, out, alpha, *strides)\n"
LAUNCHED_IN_PLACE = "launch(scaled_add_kernel, x.numel(), x, y, x, alpha, *strides)\n"
NONE = 'alpha: float) -> None:\n    """Add'
PARAMETERS = "out_ptr, alpha, stride_x, stride_y"
REGISTERED = '@torch.library.triton_op("track::scaled_add", mutates_args=())'
CLOSED = REGISTERED.replace("triton_op", "custom_op")
STORE = "tl.store(out_ptr + offs * stride_out, x + alpha * y, mask=mask)"
WRAPPED = "torch.library.wrap_triton(kernel)["

mistakes = [
    Mistake(
        "the operator does not say that it writes into x",
        swap={IN_PLACE: IN_PLACE.replace('("x",)', "()")},
        fails="edges",
        says="x is not defined as mutable",
    ),
    Mistake(
        "the operator that works in place returns x",
        swap={
            LAUNCHED_IN_PLACE: f"{LAUNCHED_IN_PLACE}    return x\n",
            NONE: NONE.replace("None", "torch.Tensor"),
        },
        fails="correct",
        says="where nothing is asked for",
    ),
    Mistake(
        "the result is written into x",
        swap={LAUNCHED: f"{LAUNCHED_IN_PLACE}    return x\n"},
        fails="correct",
        says="x",
    ),
    Mistake(
        "an empty x is returned as it is",
        swap={LAUNCHED: f"if x.numel() == 0:\n        return x\n    {LAUNCHED}"},
        fails="edges",
        says="returns an argument",
    ),
    Mistake(
        "launches are not wrapped",
        swap={WRAPPED: "kernel["},
        fails="edges",
        says="launched on fake tensors",
    ),
    Mistake(
        "the launch of the backward pass is not wrapped",
        swap={
            "    launch(scale_kernel, x.numel(), x, out, alpha, x.stride(0))\n": (
                "    grid = (triton.cdiv(x.numel(), BLOCK),)\n"
                "    scale_kernel[grid](x, out, alpha, x.stride(0), x.numel(), BLOCK=BLOCK)\n"
            )
        },
        fails="edges",
        says="in the backward pass too",
    ),
    Mistake(
        "what the backward pass calls is no operator, and launches by itself",
        swap={
            DY: (
                "        dy = torch.empty_like(dout)\n"
                "        grid = (triton.cdiv(dout.numel(), BLOCK),)\n"
                "        scale_kernel[grid](dout, dy, ctx.alpha, dout.stride(0), dout.numel(), BLOCK=BLOCK)\n"
            )
        },
        fails="edges",
        says="in the backward pass too",
    ),
    Mistake(
        "a closed box of which nobody says what comes out",
        swap={REGISTERED: CLOSED},
        fails="edges",
        says="no fake impl",
    ),
    Mistake(
        "a closed box, and another dtype is said to come out",
        swap={
            REGISTERED: CLOSED,
            AUTOGRAD: (
                "scaled_add.register_fake(lambda x, y, alpha: x.new_empty(x.shape, dtype=torch.float64))\n"
                f"{AUTOGRAD}"
            ),
        },
        fails="edges",
        says="torch.float32 and torch.float64 are not equal",
    ),
    Mistake(
        "no backward pass is registered",
        swap={AUTOGRAD: ""},
        fails="correct",
        says="no autograd formula was registered",
    ),
    Mistake(
        "alpha gets no gradient, not even None",
        swap={GRADIENTS: "return dx, dy"},
        fails="correct",
        says="4 gradients",
    ),
    Mistake(
        "y's gradient is not scaled",
        swap={DY: "        dy = dout\n"},
        fails="correct",
        says="gradient of y",
    ),
    Mistake(
        "x's gradient is scaled as well",
        swap={DX: DX.replace("dout", "scaled(dout, ctx.alpha)")},
        fails="correct",
        says="gradient of x",
    ),
    Mistake(
        "torch scales y's gradient",
        swap={DY: "        dy = ctx.alpha * dout\n"},
        fails="honest",
        says="mul ran outside of your kernel",
    ),
    Mistake(
        "y is kept, which no gradient needs",
        swap={
            "    ctx.alpha = inputs[2]\n": "    ctx.alpha = inputs[2]\n    ctx.save_for_backward(inputs[1])\n"
        },
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "the operator goes by another name",
        swap={REGISTERED: REGISTERED.replace("scaled_add", "add_scaled")},
        fails="edges",
        says="registered under this name",
    ),
    Mistake(
        "a function around the operator breaks the graph",
        swap={
            AUTOGRAD: (
                f"{AUTOGRAD}operator = scaled_add\n\n\ndef scaled_add(x, y, alpha):\n"
                "    torch._dynamo.graph_break()\n    return operator(x, y, alpha)\n"
            )
        },
        fails="edges",
        says="graph_break",
    ),
    Mistake(
        "each alpha is compiled anew",
        swap={PARAMETERS: PARAMETERS.replace("alpha", "alpha: tl.constexpr")},
        fails="edges",
        says="each value of `alpha` is compiled anew",
    ),
    Mistake(
        "alpha goes with x",
        swap={STORE: STORE.replace("x + alpha * y", "alpha * x + y")},
        fails="correct",
        says="alpha goes with y",
    ),
    Mistake(
        "alpha is left out",
        swap={STORE: STORE.replace("alpha * y", "y")},
        fails="correct",
        says="alpha is left out",
    ),
    Mistake(
        "y is read by the stride of x",
        swap={"y_ptr + offs * stride_y": "y_ptr + offs * stride_x"},
        fails="correct",
        says="Only contiguous inputs come out right",
    ),
    Mistake(
        "the result lies as x does",
        swap={"y.stride(0), out.stride(0)": "y.stride(0), x.stride(0)"},
        fails="correct or edges",
        says="past the end of",
    ),
    Mistake(
        "torch makes y contiguous",
        swap={LAUNCHED: LAUNCHED.replace("y,", "y.contiguous(),")},
        fails="correct or edges or honest",
        says="contiguous",
    ),
]
