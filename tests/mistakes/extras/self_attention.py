"""Extra: what goes wrong between the kernels of an attention layer, and what the grader must say about it."""

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

# fmt: off
mistakes = [
    Mistake("scores are divided by the root of e", {CALL: CALL.replace("width**-0.5", "e**-0.5")},
            "divided by √d"),
    Mistake("the heads are split before the sequence",
            {HEADS: f"heads = [{PROJECT}.view(b, num_heads, s, width) for at in (0, e, 2 * e)]"},
            "split before the sequence"),
    Mistake("each head's q, k and v are taken to lie side by side",
            {HEADS: "heads = qkv.view(b, s, num_heads, 3, width).permute(3, 0, 2, 1, 4)"},
            "to lie side by side"),
    Mistake("q and k have changed places",
            {CALL: "attention(heads[1], heads[0], heads[2], width**-0.5, causal)"},
            "q and k have changed places"),
    Mistake("k and v have changed places",
            {CALL: "attention(heads[0], heads[2], heads[1], width**-0.5, causal)"},
            "k and v have changed places"),
    Mistake("the heads are merged without turning them back",
            {MERGE: "linear(context.view(b, s, num_heads, width), w_out, b_out)"},
            "without turning them back"),
    Mistake("the heads are copied into place",
            {MERGE: "linear(context.transpose(1, 2).contiguous(), w_out, b_out)"},
            "torch copied a tensor first", fails="honest"),
    Mistake("a bias that is None is read", {UNLESS: "    if True:\n"}, "None stands in this line"),
    Mistake("the bias is left out", {BIAS: "acc += 0"}, "biases are left out"),
    Mistake("causal is ignored", {CALL: CALL.replace("causal", "False")}, "causal is ignored"),
    Mistake("the columns past e take part", {INSIDE: "inside = offs_k >= 0"}, "past the end of x"),
    Mistake("every sequence reads the first one", {ROWS: "offs_m % S * stride_xs"}, "is right"),
    Mistake("x is taken to be contiguous", {ROWS: "offs_m * stride_xs"}, "is right",
            fails="correct or edges"),
    Mistake("fp32 is multiplied in TF32", {DOT: DOT.replace(', input_precision="ieee"', "")}, "precision"),
    Mistake("q, k and v are written out once more",
            {HEADS: f"{HEADS}\n    {SPARE}", MERGE: f"{MERGE} if e else spare"},
            "an intermediate tensor is stored", fails="memory"),
]
