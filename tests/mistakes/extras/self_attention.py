"""Extra: what goes wrong between the kernels of an attention layer, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

BIAS = "acc += tl.load(b_ptr + offs_n, mask=cols, other=0.0)[None, :]"
DOT = 'acc = tl.dot(x, w, acc, input_precision="ieee")'
INSIDE = "inside = offs_k < k"
CALL = "attention(heads[0], heads[1], heads[2], width**-0.5, causal)"
HEADS = "heads = qkv.view(b, s, 3, num_heads, width).permute(2, 0, 3, 1, 4)"
MERGE = "linear(context.transpose(1, 2), w_out, b_out)"
ROWS = "offs_m // S * stride_xb + offs_m % S * stride_xs"
PROJECT = "linear(x[:, :, None, :], w_qkv[at : at + e], b_qkv if b_qkv is None else b_qkv[at : at + e])"
SPARE = "spare = torch.empty(3, b, num_heads, s, width, dtype=x.dtype, device=x.device)"
UNLESS = "    if b_ptr is not None:\n"

mistakes = [
    Mistake(
        "scores are divided by the root of e",
        swap={CALL: CALL.replace("width**-0.5", "e**-0.5")},
        fails="correct",
        says="divided by √d",
    ),
    Mistake(
        "the heads are split before the sequence",
        swap={HEADS: f"heads = [{PROJECT}.view(b, num_heads, s, width) for at in (0, e, 2 * e)]"},
        fails="correct",
        says="split before the sequence",
    ),
    Mistake(
        "each head's q, k and v are taken to lie side by side",
        swap={HEADS: "heads = qkv.view(b, s, num_heads, 3, width).permute(3, 0, 2, 1, 4)"},
        fails="correct",
        says="to lie side by side",
    ),
    Mistake(
        "q and k have changed places",
        swap={CALL: "attention(heads[1], heads[0], heads[2], width**-0.5, causal)"},
        fails="correct",
        says="q and k have changed places",
    ),
    Mistake(
        "k and v have changed places",
        swap={CALL: "attention(heads[0], heads[2], heads[1], width**-0.5, causal)"},
        fails="correct",
        says="k and v have changed places",
    ),
    Mistake(
        "the heads are merged without turning them back",
        swap={MERGE: "linear(context.view(b, s, num_heads, width), w_out, b_out)"},
        fails="correct",
        says="without turning them back",
    ),
    Mistake(
        "the heads are copied into place",
        swap={MERGE: "linear(context.transpose(1, 2).contiguous(), w_out, b_out)"},
        fails="honest",
        says="torch copied a tensor first",
    ),
    Mistake(
        "a bias that is None is read",
        swap={UNLESS: "    if True:\n"},
        fails="correct",
        says="None stands in this line",
    ),
    Mistake("the bias is left out", swap={BIAS: "acc += 0"}, fails="correct", says="biases are left out"),
    Mistake(
        "causal is ignored",
        swap={CALL: CALL.replace("causal", "False")},
        fails="correct",
        says="causal is ignored",
    ),
    Mistake(
        "the columns past e take part",
        swap={INSIDE: "inside = offs_k >= 0"},
        fails="correct",
        says="past the end of x",
    ),
    Mistake(
        "every sequence reads the first one",
        swap={ROWS: "offs_m % S * stride_xs"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "x is taken to be contiguous",
        swap={ROWS: "offs_m * stride_xs"},
        fails="correct or edges",
        says="is right",
    ),
    Mistake(
        "fp32 is multiplied in TF32",
        swap={DOT: DOT.replace(', input_precision="ieee"', "")},
        fails="correct",
        says="precision",
    ),
    Mistake(
        "q, k and v are written out once more",
        swap={
            HEADS: f"{HEADS}\n    {SPARE}",
            MERGE: f"{MERGE} if e else spare",
        },
        fails="memory",
        says="an intermediate tensor is stored",
    ),
    Mistake(
        "torch adds the input back",
        swap={f"return {MERGE}": "return linear(context.transpose(1, 2), w_out, b_out) + 0 * x"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "torch attends",
        swap={
            CALL: "torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=causal)",
            "from mine import attention\n": "",
        },
        fails="honest",
        says="torch",
    ),
]
