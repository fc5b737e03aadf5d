"""Extra: what goes wrong where two products share a loop, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

DOT_GATE = 'gate = tl.dot(x, w_gate, gate, input_precision="ieee")'
DOT_UP = 'up = tl.dot(x, w_up, up, input_precision="ieee")'
EVEN = 'args["k"] % args["BLOCK_K"] == 0'
GRID = "(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)"
ROUNDED = (
    "gate, up = gate.to(x_ptr.dtype.element_ty).to(tl.float32), up.to(x_ptr.dtype.element_ty).to(tl.float32)"
)
STRIDES = "        *w_gate.stride(),\n        *w_up.stride(),"
UP_MASK = "w_up = tl.load(up_ptrs, mask=offs_k[:, None] < k_left, other=0.0)"
UP_STEP = "        up_ptrs += BLOCK_K * stride_uk\n"
Y = "y = gate / (1 + tl.exp(-gate)) * up"

mistakes = [
    Mistake(
        "gate and up have changed places",
        swap={Y: "y = up / (1 + tl.exp(-up)) * gate"},
        fails="correct",
        says="changed places",
    ),
    Mistake(
        "the sums are rounded before the activation",
        swap={Y: f"{ROUNDED}\n    {Y}"},
        fails="correct",
        says=("half precision is too low", "in fp16, which ends at 65504"),
    ),
    Mistake(
        "one accumulator for both",
        swap={
            DOT_UP: 'gate = tl.dot(x, w_up, gate, input_precision="ieee")',
            Y: "y = gate / (1 + tl.exp(-gate)) * gate",
        },
        fails="correct",
        says="one accumulator",
    ),
    Mistake(
        "the tail of k is not masked",
        swap={EVEN: "True"},
        fails="correct",
        says="Unmasked load",
    ),
    Mistake(
        "the tail of k is masked for x and one weight alone",
        swap={UP_MASK: "w_up = tl.load(up_ptrs)"},
        fails="correct",
        says="Unmasked load",
    ),
    Mistake(
        "the last step along k is left out",
        swap={"range(k, 0, -BLOCK_K)": "range(k, BLOCK_K - 1, -BLOCK_K)"},
        fails="correct",
        says="is left out",
    ),
    Mistake(
        "the weights are read as if they were [k, n]",
        swap={STRIDES: "        *w_gate.T.stride(),\n        *w_up.T.stride(),"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "w_up is read with the strides of w_gate",
        swap={STRIDES: "        *w_gate.stride(),\n        *w_gate.stride(),"},
        fails="correct",
        says=("Only contiguous inputs come out right", "Of the inputs that are not contiguous"),
    ),
    Mistake(
        "x is taken to be contiguous",
        swap={"        *x.stride(),": "        k,\n        1,"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "fp32 is multiplied in TF32",
        swap={DOT_GATE: DOT_GATE.replace(', input_precision="ieee"', "")},
        fails="correct",
        says="precision",
    ),
    Mistake(
        "the tiles of w_up stand still",
        swap={UP_STEP: ""},
        fails="correct",
        says=("Right up to k = 31", "Right up to k = 32"),
    ),
    Mistake(
        "the exponential overflows",
        swap={Y: "y = gate * (tl.exp(gate) / (1 + tl.exp(gate))) * up"},
        fails="correct or edges",
        says="NaN",
    ),
    Mistake(
        "there is no activation",
        swap={Y: "y = gate * up"},
        fails="correct",
        says="activation is missing",
    ),
    Mistake(
        "the grid counts no tile that is not whole",
        swap={GRID: "(max(m // BLOCK_M, 1) * max(n // BLOCK_N, 1),)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "torch copies x first",
        swap={"    (m, k), n = x.shape": "    x = x.contiguous()\n    (m, k), n = x.shape"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "a product is stored",
        swap={
            "    # 85 operations a byte": "    product = torch.empty_like(y)\n    # 85 operations a byte",
            "    return y": "    return y if m + n else product",
        },
        fails="memory",
        says="an intermediate tensor is stored",
    ),
]
