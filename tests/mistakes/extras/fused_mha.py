"""Extra: what goes wrong when a rotation moves into attention, and what the grader must say about it."""

from tools.planted import Mistake

END = "tl.minimum(S, start_m + BLOCK_M)"
KEYS = "load_pairs(k_ptr, cos_ptr, sin_ptr, next_n, S, stride_m, D, BLOCK_N, HALF)"
BLOCK = "load_pairs(k_ptr + next_n * stride_m, cos_ptr, sin_ptr, 0, S - next_n, stride_m, D, BLOCK_N, HALF)"
FIRST = "load_pairs(k_ptr, cos_ptr, sin_ptr, 0, S, stride_m, D, BLOCK_N, HALF)"
GROUP = "pid_h // GROUP"
MASK = "mask = (offs_m < S)[:, None] & (offs_p < D // 2)[None, :]"
OUT = "((pid_b * S + offs_m)[:, None] * n_heads + pid_h) * D"
ROUNDED = "return (x1 * cos - x2 * sin).to(x1.dtype), (x2 * cos + x1 * sin).to(x1.dtype)"
TURNED = "k1, k2 = turned(x1, x2, cos, sin)"
SEEN = "seen = seen & (offs_n[None, :] <= offs_m[:, None])"
SPARE = "    spare = torch.empty_like(qkv)\n"
V = "v = tl.load(v_ptrs, mask=(offs_n < S)[:, None] & (offs_d < D)[None, :], other=0.0)"


def of_queries(loads: str) -> str:
    """Loads whose tables begin at the position of the first query."""
    return loads.replace("cos_ptr, sin_ptr", "cos_ptr + AT, sin_ptr + AT").replace("AT", "start_m * (D // 2)")


# fmt: off
mistakes = [
    Mistake("positions of keys count from the start of their block", {KEYS: BLOCK}, "counts from the start"),
    Mistake("keys are turned by the positions of the queries",
            {FIRST: of_queries(FIRST), KEYS: of_queries(BLOCK)}, "a key's position counts from the start"),
    Mistake("all are turned by position 0",
            {"angles = offs_m.to(tl.int64)[:, None]": "angles = 0 * offs_m.to(tl.int64)[:, None]"},
            "Positions have no effect"),
    Mistake("k is not turned", {ROUNDED: f"if x1.shape[0] == 64:\n        return x1, x2\n    {ROUNDED}"},
            "k is not turned"),
    Mistake("v is turned as well",
            {V: (f"{V}\n            other = (offs_d + D // 2) % D\n"
             "            turn = offs_n.to(tl.int64)[:, None] * (D // 2) + (offs_d % (D // 2))[None, :]\n"
             "            there = (offs_n < S)[:, None] & (offs_d < D)[None, :]\n"
             "            w = tl.load(v_ptrs - offs_d[None, :] + other[None, :], mask=there, other=0.0)\n"
             "            sign = tl.where(offs_d < D // 2, -1.0, 1.0)[None, :]\n"
             "            c = tl.load(cos_ptr + turn, mask=there, other=0.0)\n"
             "            s = tl.load(sin_ptr + turn, mask=there, other=0.0)\n"
             "            v = (v * c + sign * w * s).to(v.dtype)")}, "v is turned as well"),
    Mistake(
        "the sign of sin differs between q and k",
        {
            TURNED: f"{TURNED}\n            "
            "k1, k2 = back(k1, k2, cos_ptr, sin_ptr, start_n, S, D, BLOCK_N, HALF)"
        }
        | {
            "@triton.jit\ndef fused_mha_kernel": (
                "@triton.jit\n"
                "def back(k1, k2, cos_ptr, sin_ptr, start, S, D: tl.constexpr, BLOCK: tl.constexpr, "
                "HALF: tl.constexpr):\n"
                "    offs_m, offs_p = start + tl.arange(0, BLOCK), tl.arange(0, HALF)\n"
                "    mask = (offs_m < S)[:, None] & (offs_p < D // 2)[None, :]\n"
                "    angles = offs_m[:, None] * (D // 2) + offs_p[None, :]\n"
                "    cos = tl.load(cos_ptr + angles, mask=mask, other=0.0)\n"
                "    sin = tl.load(sin_ptr + angles, mask=mask, other=0.0)\n"
                "    c, s = cos * cos - sin * sin, 2 * sin * cos\n"
                "    return (k1 * c + k2 * s).to(k1.dtype), (k2 * c - k1 * s).to(k1.dtype)\n\n\n"
                "@triton.jit\ndef fused_mha_kernel"
            )
        },
        "opposite directions",
    ),
    Mistake(
        "the second half is computed from the first one, already turned",
        {ROUNDED: "y1 = x1 * cos - x2 * sin\n    return y1.to(x1.dtype), (x2 * cos + y1 * sin).to(x1.dtype)"},
        "already turned",
    ),
    Mistake("head h reads key head h mod h_k", {GROUP: "pid_h % n_kv"}, "mod h_k"),
    Mistake("the result is stored head by head",
            {OUT: "((pid_b * n_heads + pid_h) * S + offs_m)[:, None] * D"}, "head by head"),
    Mistake("pairs past d / 2 are read", {MASK: "mask = (offs_m < S)[:, None] & (offs_p >= 0)[None, :]"},
            "past the end of cos"),
    Mistake("causal is ignored", {SEEN: "seen = seen", END: "S"}, "causal is ignored"),
    Mistake("a query does not see its own key", {SEEN: SEEN.replace("<=", "<")}, "0 / 0 is NaN"),
    Mistake("the loop ends one block early", {END: "tl.minimum(S, start_m + BLOCK_M - BLOCK_N)"}, "is right"),
    Mistake("the scale is 1 / root d",
            {"        S,\n        scale,\n        GROUP=": "        S,\n        D**-0.5,\n        GROUP="},
            "not the one that is passed"),
    Mistake("the maximum starts at 0",
            {"tl.full((BLOCK_M,), LOWEST, tl.float32)": "tl.zeros((BLOCK_M,), tl.float32)"}, "0 / 0 is NaN",
            fails="limit"),
    Mistake("rotated q and k are stored",
            {"    BLOCK_M, BLOCK_N, num_warps = 128": f"{SPARE}    BLOCK_M, BLOCK_N, num_warps = 128",
             "    return o": "    return o if S >= 0 else spare"}, "an intermediate tensor is stored",
            fails="memory"),
    Mistake("lanes without a key have a score of -10,000",
            {'qk = tl.where(seen, qk, -float("inf"))': "qk = tl.where(seen, qk, -1e4)"},
            "finite number stands for -inf", fails="limit"),
    Mistake("the sum over the keys is rounded at every block",
            {"v, acc * alpha[:, None])": "v, acc * alpha[:, None]).to(v.dtype).to(tl.float32)"},
            "too low a precision", fails="edges"),
]
