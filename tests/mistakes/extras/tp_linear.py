"""Extra: what is done wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

PARTIAL = "launch(x_shard, w_shard, None, sums)"
REDUCE = "None, sums)\n    reduce(sums)\n"
NONE = "None, sums)\n"
SUMS = "sums = torch.empty(m, n, dtype=torch.float32, device=x_shard.device)"

mistakes: list[Mistake] = [
    Mistake(
        "each rank adds the bias before the sum over ranks",
        swap={
            PARTIAL: "launch(x_shard, w_shard, b, sums)",
            "+ tl.load(b_ptr + offs % n, mask=mask)": "+ 0.0 * tl.load(b_ptr + offs % n, mask=mask)",
        },
        fails="correct",
        says="each rank adds it",
    ),
    Mistake(
        "the bias is added before the sum over ranks, and once more behind it",
        swap={PARTIAL: "launch(x_shard, w_shard, b, sums)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "reduce is forgotten",
        swap={REDUCE: NONE},
        fails="correct",
        says="never called",
    ),
    Mistake(
        "reduce is called twice",
        swap={REDUCE: REDUCE + "    reduce(sums)\n"},
        fails="correct",
        says="called twice",
    ),
    Mistake(
        "the sums are rounded to x's dtype before the sum over ranks",
        swap={SUMS: SUMS.replace("torch.float32", "x_shard.dtype")},
        fails="correct or edges",
        says="calls reduce with",
    ),
    Mistake(
        "reduce is given the result",
        swap={REDUCE: NONE, "BLOCK=1024)\n    return y": "BLOCK=1024)\n    reduce(y)\n    return y"},
        fails="correct or edges",
        says="The bias is in what reduce is given",
    ),
    Mistake(
        "a shard's rows are taken to lie side by side",
        swap={"        *w.stride(),\n": "        k,\n        1,\n"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "no mask where K ends",
        swap={"x = tl.load(x_ptrs, mask=offs_k[None, :] < k_left, other=0.0)": "x = tl.load(x_ptrs)"},
        fails="correct or edges",
        says="Unmasked load",
    ),
    Mistake(
        "the bias of a rank's columns is left out",
        swap={"launch(x, w_shard, b_shard, y)": "launch(x, w_shard, None, y)"},
        fails="correct",
        says="left out",
    ),
    Mistake(
        "the bias goes along the rows",
        swap={"tl.load(b_ptr + offs % n, mask=mask)": "tl.load(b_ptr + offs // n, mask=mask)"},
        fails="correct or edges",
        says="is right",
    ),
    Mistake(
        "torch adds the bias",
        swap={
            "bias_kernel[(triton.cdiv(y.numel(), 1024),)](sums, b, y, y.numel(), n, BLOCK=1024)": (
                "y = (sums + b).to(y.dtype)"
            ),
        },
        fails="honest",
        says="torch did part of the work",
    ),
    Mistake(
        "tiles at the end are not masked",
        swap={"& (offs_n < n)[None, :]": "& (offs_n >= 0)[None, :]"},
        fails="correct",
        says="past the end of",
    ),
]
