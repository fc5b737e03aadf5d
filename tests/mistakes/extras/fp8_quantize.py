"""Extra: what FP8 codes and their scales get wrong, and what the grader must say about it."""

from tools.planted import Mistake

AMAX = "amax = tl.max(tl.abs(x), axis=1)"
SCALE = "scale = tl.where(amax > 0, amax / LARGEST, 1.0)"
CODES = "q = (x / scale[:, None]).to(tl.float8e4nv)"
MASK = "mask = (offs_g < n_blocks)[:, None] & (offs_n < block)[None, :]"
STORE = "tl.store(q_ptr + row * n_cols + cols, q, mask=mask)"
STORE_SCALE = "tl.store(scale_ptr + row * n_blocks + offs_g, scale, mask=offs_g < n_blocks)"

# fmt: off
mistakes = [
    Mistake("the maximum is that of the tile",
            {AMAX: "amax = tl.zeros((BLOCK_G,), tl.float32) + tl.max(tl.max(tl.abs(x), axis=1), axis=0)"},
            "whole row"),
    Mistake("the largest element for the largest magnitude", {AMAX: "amax = tl.max(x, axis=1)"},
            "tl.abs() is missing"),
    Mistake("lanes past the end of a block are not masked",
            {MASK: "mask = (offs_g < n_blocks)[:, None] & (cols < n_cols)",
             STORE: STORE.replace("mask=mask", "mask=mask & (offs_n < block)[None, :]")},
            "sees elements of the next block"),
    Mistake("a block of zeros is divided by 0", {SCALE: "scale = amax / LARGEST"}, "0 / 0"),
    Mistake("a block of zeros gets a tiny scale", {SCALE: "scale = tl.maximum(amax, 1e-12) / LARGEST"},
            "small"),
    Mistake("the scale is stored upside down",
            {STORE_SCALE: STORE_SCALE.replace("offs_g, scale", "offs_g, 1 / scale")}, "upside down"),
    Mistake("the maximum is stored for the scale",
            {STORE_SCALE: STORE_SCALE.replace("offs_g, scale", "offs_g, amax")}, "divided by 448"),
    Mistake("x is multiplied by the scale", {CODES: CODES.replace("/", "*")}, "multiplied by the scale"),
    Mistake("the largest number of another format", {"constexpr(448.0)": "constexpr(240.0)"}, "448"),
    Mistake("the maximum goes through fp16", {AMAX: AMAX + ".to(tl.float16).to(tl.float32)"},
            "close but not close enough"),
    Mistake("the quotient is rounded to bf16 before the cast",
            {CODES: CODES.replace(".to(", ".to(tl.bfloat16).to(")}, "rounded to bf16"),
    Mistake("the quotient is rounded to an integer first",
            {CODES: "q = tl.floor(x / scale[:, None] + 0.5).to(tl.float8e4nv)"}, "rounded to integers"),
    Mistake("codes of the other kind of fp8",
            {CODES: "q = (x / scale[:, None]).to(tl.float8e5).to(tl.float32)"}, "e5m2"),
    Mistake("the result is of the other kind of fp8",
            {"dtype=torch.float8_e4m3fn": "dtype=torch.float8_e5m2", ".to(tl.float8e4nv)": ""},
            "fp8_e5m2 where fp8_e4m3 is asked for"),
    Mistake("the codes are multiplied after the cast",
            {CODES: "q = x.to(tl.float8e4nv) / scale[:, None].to(tl.float8e4nv)"},
            "no arithmetic in fp8e4nv"),
    Mistake("blocks are a power of two apart", {"offs_g[:, None] * block": "offs_g[:, None] * BLOCK_N"},
            "past the end"),
    Mistake("the last group of blocks is left out",
            {"triton.cdiv(n_blocks, BLOCK_G)": "max(n_blocks // BLOCK_G, 1)"}, "never written"),
    Mistake("every group of blocks is the first one", {"tl.program_id(1) * BLOCK_G + ": ""},
            "no store reached them"),
    Mistake("rows of x are taken to be n_cols apart", {"row * stride_xm": "row * n_cols"}, "stride",
            fails="edges"),
    Mistake("rows of q are taken to be as far apart as those of x",
            {STORE: STORE.replace("row * n_cols", "row * stride_xm")}, "never written", fails="edges"),
    Mistake(
        "the scale is that of the call before",
        {
            "    n_rows, n_cols = x.shape\n": "    n_rows, n_cols = x.shape\n    global kept\n",
            "    scale = torch.empty(n_rows, n_blocks, dtype=torch.float32, device=x.device)\n": (
                "    if kept is None or kept.shape != (n_rows, n_blocks):\n"
                "        kept = torch.empty(n_rows, n_blocks, dtype=torch.float32, device=x.device)\n"
                "    scale = kept\n"
            ),
            "@triton.jit\n": "kept = None\n\n\n@triton.jit\n",
        },
        "earlier call",
        fails="edges",
    ),
    Mistake("torch converts the codes",
            {"dtype=torch.float8_e4m3fn, device": "dtype=torch.float32, device", ".to(tl.float8e4nv)": "",
             "return q, scale": "return q.to(torch.float8_e4m3fn), scale"}, "torch converted",
            fails="honest"),
]
