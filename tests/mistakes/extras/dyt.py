"""Extra: what a dynamic tanh and its backward pass get wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALPHA_TERM = "dalpha += dz * x"
BIAS_TERM = "dbias += dy\n"
DTYPE = "dx_ptr.dtype.element_ty"
DX = "dz * alpha, mask=mask"
DY = "dy_ptr + row * stride_dym + offs_n * stride_dyn"
DZ = "dz = dy * weight * (1 - t) * (1 + t)"
PART_ALPHA = "dalpha_part = torch.empty(chunks * strips, 1, dtype=torch.float32, device=x.device)"
SAVE = "ctx.save_for_backward(x, alpha, weight)"
STORE_ALPHA = "tl.store(dalpha_part_ptr + tl.program_id(0), tl.sum(dalpha, axis=0))"
STORE_WEIGHT = "tl.store(dweight_part_ptr + chunk * n_cols + offs_n, dweight, mask=mask)"
TANH = "return 2 * tl.sigmoid(2 * z) - 1"
WEIGHT_TERM = "dweight += dy * t\n"
Y = "y = weight[None, :] * tanh(alpha * x.to(tl.float32)) + bias[None, :]"
ZEROS = "dweight = tl.zeros((BLOCK_N,), tl.float32)"

# fmt: off
mistakes = [
    Mistake("tanh overflows for large numbers", {TANH: "return (tl.exp(2 * z) - 1) / (tl.exp(2 * z) + 1)"},
            "overflow", fails="edges"),
    Mistake("alpha is left out", {Y: Y.replace("alpha * ", "")}, "alpha is left out"),
    Mistake("alpha stands outside of tanh",
            {Y: "y = weight[None, :] * alpha * tanh(x.to(tl.float32)) + bias[None, :]"}, "outside of tanh"),
    Mistake("the bias is multiplied as well",
            {Y: "y = weight[None, :] * (tanh(alpha * x.to(tl.float32)) + bias[None, :])"},
            "bias is multiplied"),
    Mistake("dx lacks alpha", {DX: "dz, mask=mask"}, "dx lacks alpha, its last factor"),
    Mistake("dx takes tanh for its slope", {DZ: "dz = dy * weight * t"}, "take tanh for its slope"),
    Mistake("the weight does not reach dx and dalpha", {DZ: DZ.replace(" * weight", "")},
            "dx and dalpha lack the weight"),
    Mistake("the slope of tanh is left out", {DZ: "dz = dy * weight"}, "left out of dx and dalpha"),
    Mistake("dalpha takes dx, with a factor alpha too many", {ALPHA_TERM: "dalpha += dz * alpha * x"},
            "factor alpha too many"),
    Mistake("dalpha lacks x", {ALPHA_TERM: "dalpha += dz"}, "dalpha lacks x"),
    Mistake(
        "each row replaces what dalpha was so far",
        {ALPHA_TERM: "dalpha = dz * x"},
        "last row of each program",
        on_gpu="In the gradient of alpha: At [0]",  # programs take several rows in one case alone
    ),
    Mistake("dalpha is that of one program alone",
            {STORE_ALPHA: STORE_ALPHA.replace(" + tl.program_id(0)", "")}, "gradient of alpha"),
    Mistake("dalpha is added to one place by load, add and store",
            {STORE_ALPHA: "tl.store(dalpha_part_ptr, tl.load(dalpha_part_ptr) + tl.sum(dalpha, axis=0))",
             PART_ALPHA: "dalpha_part = torch.zeros(1, 1, dtype=torch.float32, device=x.device)"}, "race"),
    Mistake("dweight takes x", {WEIGHT_TERM: "dweight += dy * x\n"}, "dweight takes x"),
    Mistake("each row replaces dweight, where few programs share the rows",
            {"programs = 2 * strips\n        if x.is_cuda:": "programs = 264 * strips\n        if False:",
             WEIGHT_TERM: "dweight = dy * t\n"}, "weight"),
    Mistake("dweight is a sum in the dtype of x",
            {ZEROS: f"dweight = tl.zeros((BLOCK_N,), {DTYPE})",
             WEIGHT_TERM: f"dweight += (dy * t).to({DTYPE})\n"}, "precision"),
    Mistake("all chunks store dweight in the first row",
            {STORE_WEIGHT: STORE_WEIGHT.replace("chunk * n_cols + ", "")}, "gradient of weight"),
    Mistake("dbias takes dy times the weight", {BIAS_TERM: "dbias += dy * weight\n"},
            "dbias takes dy · weight"),
    Mistake("dbias is summed as dweight is", {BIAS_TERM: "dbias += dy * t\n"}, "dbias takes dy · tanh"),
    Mistake("dy is taken to be contiguous", {DY: "dy_ptr + row * n_cols + offs_n"}, "stride", fails="edges"),
    Mistake("alpha is read on the host", {SAVE: f"ctx.alpha = alpha.item()\n        {SAVE}"}, ".item()"),
    Mistake("y is kept as well",
            {SAVE: "ctx.save_for_backward(x, alpha, weight, y)",
             "x, alpha, weight = ctx": "x, alpha, weight, y = ctx"}, "keeps"),
    Mistake("the last chunk runs past the last row",
            {"min((chunk + 1) * rows_each, n_rows)": "(chunk + 1) * rows_each"}, "past the end"),
    Mistake("128 partial sums are added, and a GPU has more programs",
            {"(0, n_parts, BLOCK_P)": "(0, min(n_parts, 128), BLOCK_P)"}, "In the gradient of",
            fails="correct or edges"),
    Mistake("gradients in fp32, which autograd converts",
            {"column_sum(part, x.dtype)": "column_sum(part, torch.float32)"},
            "backward() returns a gradient in another dtype than its input has", fails="honest",
            at="return dx"),
]
