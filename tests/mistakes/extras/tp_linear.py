"""Extra: what is done wrong, and what the grader must say about it."""

from tools.planted import Mistake

PARTIAL = "launch(x_shard, w_shard, None, sums)"
REDUCE = "None, sums)\n    reduce(sums)\n"
NONE = "None, sums)\n"
SUMS = "sums = torch.empty(m, n, dtype=torch.float32, device=x_shard.device)"

# fmt: off
mistakes = [
    Mistake("each rank adds the bias before the sum over ranks",
            {PARTIAL: "launch(x_shard, w_shard, b, sums)",
             "+ tl.load(b_ptr + offs % n, mask=mask)": "+ 0.0 * tl.load(b_ptr + offs % n, mask=mask)"},
            "each rank adds it"),
    Mistake("the bias is added before the sum over ranks, and once more behind it",
            {PARTIAL: "launch(x_shard, w_shard, b, sums)"}, "is right"),
    Mistake("reduce is forgotten", {REDUCE: NONE}, "never called"),
    Mistake("reduce is called twice", {REDUCE: REDUCE + "    reduce(sums)\n"}, "called twice"),
    Mistake("the sums are rounded to x's dtype before the sum over ranks",
            {SUMS: SUMS.replace("torch.float32", "x_shard.dtype")}, "calls reduce with",
            fails="correct or edges"),
    Mistake("reduce is given the result",
            {REDUCE: NONE, "BLOCK=1024)\n    return y": "BLOCK=1024)\n    reduce(y)\n    return y"},
            "The bias is in what reduce is given", fails="correct or edges"),
    Mistake("a shard's rows are taken to lie side by side",
            {"        *w.stride(),\n": "        k,\n        1,\n"}, "stride", fails="edges"),
    Mistake("no mask where K ends",
            {"x = tl.load(x_ptrs, mask=offs_k[None, :] < k_left, other=0.0)": "x = tl.load(x_ptrs)"},
            "Unmasked load", fails="correct or edges"),
    Mistake("the bias of a rank's columns is left out",
            {"launch(x, w_shard, b_shard, y)": "launch(x, w_shard, None, y)"}, "left out"),
    Mistake("the bias goes along the rows",
            {"tl.load(b_ptr + offs % n, mask=mask)": "tl.load(b_ptr + offs // n, mask=mask)"}, "is right",
            fails="correct or edges"),
    Mistake(
        "torch adds the bias",
        {
            "bias_kernel[(triton.cdiv(y.numel(), 1024),)](sums, b, y, y.numel(), n, BLOCK=1024)": (
                "y = (sums + b).to(y.dtype)"
            )
        },
        "torch did part of the work",
        fails="honest",
    ),
    Mistake("tiles at the end are not masked", {"& (offs_n < n)[None, :]": "& (offs_n >= 0)[None, :]"},
            "past the end of"),
]
