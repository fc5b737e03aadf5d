"""Extra: what goes wrong where two products share a loop, and what the grader must say about it."""

from tools.planted import Mistake

DOT_GATE = 'gate = tl.dot(x, w_gate, gate, input_precision="ieee")'
DOT_UP = 'up = tl.dot(x, w_up, up, input_precision="ieee")'
EVEN = 'args["k"] % args["BLOCK_K"] == 0'
GRID = "(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)"
ROUNDED = (
    "gate, up = gate.to(x_ptr.dtype.element_ty).to(tl.float32), up.to(x_ptr.dtype.element_ty).to(tl.float32)"
)
STRIDES = "        *w_gate.stride(),\n        *w_up.stride(),"
UP_STEP = "        up_ptrs += BLOCK_K * stride_uk\n"
Y = "y = gate / (1 + tl.exp(-gate)) * up"

# fmt: off
mistakes = [
    Mistake("gate and up have changed places", {Y: "y = up / (1 + tl.exp(-up)) * gate"}, "changed places"),
    Mistake("the sums are rounded before the activation", {Y: f"{ROUNDED}\n    {Y}"},
            ("half precision is too low", "in fp16, which ends at 65504")),
    Mistake("one accumulator for both",
            {DOT_UP: 'gate = tl.dot(x, w_up, gate, input_precision="ieee")',
             Y: "y = gate / (1 + tl.exp(-gate)) * gate"}, "one accumulator"),
    Mistake("the tail of k is not masked", {EVEN: "True"}, "Unmasked load"),
    Mistake("the last step along k is left out", {"range(k, 0, -BLOCK_K)": "range(k, BLOCK_K - 1, -BLOCK_K)"},
            "is left out"),
    Mistake("w_up is read with the strides of w_gate",
            {STRIDES: "        *w_gate.stride(),\n        *w_gate.stride(),"},
            ("Only contiguous inputs come out right", "Of the inputs that are not contiguous")),
    Mistake("x is taken to be contiguous", {"        *x.stride(),": "        k,\n        1,"}, "stride"),
    Mistake("fp32 is multiplied in TF32", {DOT_GATE: DOT_GATE.replace(', input_precision="ieee"', "")},
            "precision"),
    Mistake("the tiles of w_up stand still", {UP_STEP: ""}, ("Right up to k = 31", "Right up to k = 32")),
    Mistake("the exponential overflows", {Y: "y = gate * (tl.exp(gate) / (1 + tl.exp(gate))) * up"}, "NaN",
            fails="correct or edges"),
    Mistake("there is no activation", {Y: "y = gate * up"}, "activation is missing"),
    Mistake("the grid counts no tile that is not whole",
            {GRID: "(max(m // BLOCK_M, 1) * max(n // BLOCK_N, 1),)"}, "never written"),
    Mistake("a product is stored",
            {"    # 85 operations a byte": "    product = torch.empty_like(y)\n    # 85 operations a byte",
             "    return y": "    return y if m + n else product"}, "an intermediate tensor is stored",
            fails="memory"),
]
