"""Extra: what is done wrong with an operator, and what the grader must say about it."""

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

# fmt: off
mistakes = [
    Mistake("the operator does not say that it writes into x", {IN_PLACE: IN_PLACE.replace('("x",)', "()")},
            "x is not defined as mutable", fails="edges"),
    Mistake("the operator that works in place returns x",
            {LAUNCHED_IN_PLACE: f"{LAUNCHED_IN_PLACE}    return x\n",
             NONE: NONE.replace("None", "torch.Tensor")}, "where nothing is asked for"),
    Mistake("the result is written into x", {LAUNCHED: f"{LAUNCHED_IN_PLACE}    return x\n"}, "x"),
    Mistake("an empty x is returned as it is",
            {LAUNCHED: f"if x.numel() == 0:\n        return x\n    {LAUNCHED}"}, "returns an argument",
            fails="edges"),
    Mistake("launches are not wrapped", {WRAPPED: "kernel["}, "launched on fake tensors", fails="edges"),
    Mistake(
        "the launch of the backward pass is not wrapped",
        {
            "    launch(scale_kernel, x.numel(), x, out, alpha, x.stride(0))\n": (
                "    grid = (triton.cdiv(x.numel(), BLOCK),)\n"
                "    scale_kernel[grid](x, out, alpha, x.stride(0), x.numel(), BLOCK=BLOCK)\n"
            )
        },
        "in the backward pass too",
        fails="edges",
    ),
    Mistake("a closed box of which nobody says what comes out", {REGISTERED: CLOSED}, "no fake impl",
            fails="edges"),
    Mistake(
        "a closed box, and another dtype is said to come out",
        {
            REGISTERED: CLOSED,
            AUTOGRAD: (
                "scaled_add.register_fake(lambda x, y, alpha: x.new_empty(x.shape, dtype=torch.float64))\n"
                f"{AUTOGRAD}"
            ),
        },
        "torch.float32 and torch.float64 are not equal",
        fails="edges",
    ),
    Mistake("no backward pass is registered", {AUTOGRAD: ""}, "no autograd formula was registered"),
    Mistake("alpha gets no gradient, not even None", {GRADIENTS: "return dx, dy"}, "4 gradients"),
    Mistake("y's gradient is not scaled", {DY: "        dy = dout\n"}, "gradient of y"),
    Mistake("x's gradient is scaled as well", {DX: DX.replace("dout", "scaled(dout, ctx.alpha)")},
            "gradient of x"),
    Mistake("torch scales y's gradient", {DY: "        dy = ctx.alpha * dout\n"},
            "mul ran outside of your kernel", fails="honest"),
    Mistake(
        "y is kept, which no gradient needs",
        {"    ctx.alpha = inputs[2]\n": "    ctx.alpha = inputs[2]\n    ctx.save_for_backward(inputs[1])\n"},
        "keeps",
    ),
    Mistake("the operator goes by another name", {REGISTERED: REGISTERED.replace("scaled_add", "add_scaled")},
            "registered under this name", fails="edges"),
    Mistake("a function around the operator breaks the graph",
            {AUTOGRAD: (f"{AUTOGRAD}operator = scaled_add\n\n\ndef scaled_add(x, y, alpha):\n"
             "    torch._dynamo.graph_break()\n    return operator(x, y, alpha)\n")}, "graph_break",
            fails="edges"),
    Mistake("each alpha is compiled anew", {PARAMETERS: PARAMETERS.replace("alpha", "alpha: tl.constexpr")},
            "each value of `alpha` is compiled anew", fails="edges"),
    Mistake("alpha goes with x", {STORE: STORE.replace("x + alpha * y", "alpha * x + y")},
            "alpha goes with y"),
    Mistake("alpha is left out", {STORE: STORE.replace("alpha * y", "y")}, "alpha is left out"),
    Mistake("y is read by the stride of x", {"y_ptr + offs * stride_y": "y_ptr + offs * stride_x"},
            "Only contiguous inputs come out right"),
    Mistake("the result lies as x does", {"y.stride(0), out.stride(0)": "y.stride(0), x.stride(0)"},
            "past the end of", fails="correct or edges"),
    Mistake("torch makes y contiguous", {LAUNCHED: LAUNCHED.replace("y,", "y.contiguous(),")}, "contiguous",
            fails="correct or edges or honest"),
]
