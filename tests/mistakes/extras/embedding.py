"""Extra: what an embedding and its gradient get wrong, and what the grader must say about it."""

from tools.planted import Mistake

ATOMIC = 'tl.atomic_add(sums, dy.to(tl.float32), mask=mask, sem="relaxed")'
MASK = "mask = (inside & (ids != padding_idx))[:, None] & (offs_d < width)[None, :]"
PADDING = "ctx.n_rows, ctx.padding_idx = n_rows, padding_idx"
READ = "ids[:, None] * stride_wv"
SAVE = "ctx.save_for_backward(ids)"
STORE = "tl.store(y_ptr + tokens[:, None] * width + offs_d[None, :], row, mask=mask)"
SUMS = "sums = torch.zeros(ctx.n_rows, width, dtype=torch.float32, device=dy.device)"
WHOLE = "mask = inside[:, None] & (offs_d < width)[None, :]"

# fmt: off
mistakes = [
    Mistake("the token's place is taken for its id", {READ: "tokens[:, None] * stride_wv"},
            "place is taken for its id"),
    Mistake("the padded row comes out as zeros",
            {"stride_wv,\n    BLOCK_T": "stride_wv,\n    padding_idx,\n    BLOCK_T",
             STORE: f"row = tl.where((ids == padding_idx)[:, None], 0.0, row)\n    {STORE}",
             "weight.stride(0), **shape": "weight.stride(0), padding_idx, **shape"}, "read as it stands"),
    Mistake("the padded row gets a gradient",
            {MASK: MASK.replace("(inside & (ids != padding_idx))", "inside")}, "padded row gets a gradient"),
    Mistake("padding_idx 0 is taken for none", {PADDING: f"{PADDING} or -1"}, "padding_idx 0"),
    Mistake("padding_idx -1 is taken for the last row", {PADDING: f"{PADDING} % n_rows"}, "there is none"),
    Mistake("the gradient is loaded, added to and stored",
            {ATOMIC: "tl.store(sums, tl.load(sums, mask=mask) + dy.to(tl.float32), mask=mask)"},
            "the last one alone counts"),
    Mistake("gradients are added up in 16 bits",
            {SUMS: SUMS.replace("torch.float32", "dy.dtype"), ATOMIC: ATOMIC.replace(".to(tl.float32)", "")},
            "too low a precision"),
    Mistake("sums are kept from call to call",
            {SUMS: "sums = kept_sums.setdefault((ctx.n_rows, width), " + SUMS.removeprefix("sums = ") + ")",
             "class Embedding(": "kept_sums = {}\n\n\nclass Embedding(",
             "            dweight = sums\n": "            dweight = sums.clone()\n"}, "in the first call"),
    Mistake("rows of the table are taken to be `width` apart", {READ: "ids[:, None] * width"}, "stride",
            fails="edges"),
    Mistake("lanes past the last column are read and written",
            {WHOLE: "mask = inside[:, None] & (offs_d >= 0)[None, :]"}, "past"),
    Mistake("the table is kept for the backward pass",
            {SAVE: "ctx.save_for_backward(ids, weight)", "(ids,) = ctx": "ids, _ = ctx"}, "keeps"),
    Mistake("ids go through int16", {READ: READ.replace("ids[:", "ids.to(tl.int16).to(tl.int64)[:")},
            "before the start of weight", gpu=True),
]
