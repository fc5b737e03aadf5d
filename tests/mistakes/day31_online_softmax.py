"""Day 31: what an online softmax over attention scores gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALIGNED = "seen &= keys[None, :] <= offs_m[:, None] + (Sk - Sq)"
ALLOCATION = "lse = torch.empty(B, H, Sq, dtype=torch.float32, device=q.device)"
ALPHA = "alpha = tl.exp(m_i - shift)"
BLOCK_D = "max(triton.next_power_of_2(D), 16)"
END = "end = tl.minimum(Sk, (pid_m + 1) * BLOCK_M + Sk - Sq)"
GRID = "(triton.cdiv(Sq, BLOCK_M) * B * H,)"
LOAD_K = "k = tl.load(k_ptrs, mask=dims[:, None] & (keys < Sk)[None, :], other=0.0)"
MASK = 's = tl.where(seen, s, -float("inf"))'
MAXIMUM = "m_new = tl.maximum(m_i, tl.max(s, axis=1))"
MOVE = "        k_ptrs += BLOCK_N * stride_kn\n"
RESULT = "m_i + tl.log(l_i)"
RETURN = "    return lse"
SCORES = 's = tl.dot(q, k, input_precision="ieee") * scale'
SEEN = "seen = (keys < Sk)[None, :]"
SHIFT = 'tl.where(m_new == -float("inf"), 0.0, m_new)'
UPDATE = "l_i = l_i * alpha + tl.sum(tl.exp(s - shift[:, None]), axis=1)"

# fmt: off
mistakes = [
    Mistake("the sum is not rescaled when the maximum rises", {UPDATE: UPDATE.replace("l_i * alpha", "l_i")},
            "not rescaled"),
    Mistake("the rescaling goes the wrong way",
            {ALPHA: 'alpha = tl.where(m_i == -float("inf"), 0.0, tl.exp(shift - m_i))'}, "wrong way"),
    Mistake("the rescaling goes the wrong way from the first tile on", {ALPHA: "alpha = tl.exp(shift - m_i)"},
            "Leave out what must not count"),
    Mistake("the maximum forgets the tiles before", {MAXIMUM: "m_new = tl.max(s, axis=1)"},
            "maximum is that of the last tile"),
    Mistake("a row that saw nothing yet gives NaN", {SHIFT: "m_new"},
            "Where the maximum is -inf, subtract a finite number"),
    Mistake("only the last tile of keys counts",
            {MAXIMUM: "m_new = tl.max(s, axis=1)", UPDATE: UPDATE.replace("l_i * alpha + ", "")},
            "Only the last tile"),
    Mistake("lanes past the last key count with score 0", {SEEN: "seen = (keys < Sk + BLOCK_N)[None, :]"},
            "exp(0) is 1"),
    Mistake("the logarithm is in base 2", {RESULT: "m_i + tl.log2(l_i)"}, "base 2"),
    Mistake("all is in base 2, and stays so",
            {SCORES: f"{SCORES} * 1.4426950408889634", ALPHA: ALPHA.replace("exp", "exp2"),
             UPDATE: UPDATE.replace("tl.exp(", "tl.exp2("), RESULT: "m_i + tl.log2(l_i)"}, "ln(2)"),
    Mistake("exp2 takes the place of exp as it is",
            {ALPHA: ALPHA.replace("exp", "exp2"), UPDATE: UPDATE.replace("tl.exp(", "tl.exp2(")}, "log2(e)"),
    Mistake("the maximum is not added back", {RESULT: "tl.log(l_i)"}, "not added back"),
    Mistake("the logarithm is forgotten", {RESULT: "m_i"}, "logarithm of the sum is missing"),
    Mistake("the scale is forgotten", {SCORES: SCORES.replace(" * scale", "")}, "scale"),
    Mistake("scores are masked before they are scaled",
            {SCORES: SCORES.replace(" * scale", ""), MASK: f"{MASK} * scale"}, "before the scale"),
    Mistake("the causal mask is aligned top-left",
            {ALIGNED: "seen &= keys[None, :] <= offs_m[:, None]",
             END: "end = tl.minimum(Sk, (pid_m + 1) * BLOCK_M)"}, "top-left"),
    Mistake("the causal mask hides the diagonal", {ALIGNED: ALIGNED.replace("<=", "<")}, "one key too many"),
    Mistake("the causal mask hides the earlier keys", {ALIGNED: ALIGNED.replace("<=", ">="), END: "end = Sk"},
            "hides the earlier keys"),
    Mistake("the mask is causal whatever was asked for", {"CAUSAL=causal": "CAUSAL=True"},
            "even where causal=False"),
    Mistake("there is no causal mask", {"CAUSAL=causal": "CAUSAL=False"}, "no causal mask"),
    Mistake("the loop ends at the diagonal of a square", {END: "end = tl.minimum(Sk, (pid_m + 1) * BLOCK_M)"},
            "ends with key i"),
    Mistake("the loop ends where the tile's first query ends",
            {END: "end = tl.minimum(Sk, pid_m * BLOCK_M + 1 + Sk - Sq)"}, "first query"),
    Mistake("k has no mask along the keys", {LOAD_K: LOAD_K.replace(" & (keys < Sk)[None, :]", "")},
            "past the end of k"),
    Mistake("the dimensions past D are not masked",
            {"rows, dims = offs_m < Sq, offs_d < D": "rows, dims = offs_m < Sq, offs_d < BLOCK_D"},
            "wrong limit"),
    Mistake("only 64 dimensions take part", {BLOCK_D: "64"}, "dimensions"),
    Mistake("k stands still", {MOVE: ""}, "k stands still"),
    Mistake("the terms are rounded to fp16 before the sum",
            {UPDATE: UPDATE.replace("shift[:, None])", "shift[:, None]).to(tl.float16)")}, "precision"),
    Mistake("k is taken to lie as q does",
            {"pid_b * stride_kb + pid_h * stride_kh": "pid_b * stride_qb + pid_h * stride_qh"}, "stride"),
    Mistake("heads are taken to follow one another, as in a contiguous [B, H, S, D]",
            {"pid_b * stride_qb + pid_h * stride_qh": "pid_bh * Sq * D",
             "pid_b * stride_kb + pid_h * stride_kh": "pid_bh * Sk * D"}, "past the end of", fails="edges"),
    Mistake("the store has no mask", {f"{RESULT}, mask=rows": RESULT}, "Unmasked store"),
    Mistake("the last, partial tile of queries gets no program",
            {"tiles_m = tl.cdiv(Sq, BLOCK_M)": "tiles_m = tl.maximum(Sq // BLOCK_M, 1)",
             GRID: "(max(Sq // BLOCK_M, 1) * B * H,)"}, "never written"),
    Mistake("the grid has an axis for heads, and the kernel reads one axis",
            {GRID: "(triton.cdiv(Sq, BLOCK_M), H, B)"}, "no store reached them"),
    Mistake("tiles are counted by // in the kernel",
            {"tiles_m = tl.cdiv(Sq, BLOCK_M)": "tiles_m = Sq // BLOCK_M"}, "the block starts beyond it"),
    Mistake("the result has q's dtype", {ALLOCATION: ALLOCATION.replace("torch.float32", "q.dtype")},
            "dtype"),
    Mistake("the scores are stored first",
            {"    lse_ptr,\n    H,": "    lse_ptr,\n    s_ptr,\n    H,", SCORES: (f"{SCORES}\n"
             "        s_ptrs = s_ptr + (pid_bh * Sq + offs_m)[:, None] * Sk + keys[None, :]\n"
             "        tl.store(s_ptrs, s, mask=rows[:, None] & (keys < Sk)[None, :])\n"
             "        s = tl.load(s_ptrs, mask=rows[:, None] & (keys < Sk)[None, :], other=0.0)"),
             ALLOCATION: (f"{ALLOCATION}\n"
             "    scores = torch.empty(B, H, Sq, k.shape[2], dtype=torch.float32, device=q.device)"),
             "        lse,\n        H,": "        lse,\n        scores,\n        H,"}, "intermediate tensor",
            fails="memory"),
    Mistake("torch copies strided tensors first",
            {"B, H, Sq = q.shape[:3]": "q, k = q.contiguous(), k.contiguous()\n    B, H, Sq = q.shape[:3]"},
            "strides", fails="honest"),
    Mistake(
        "torch does the work",
        {RETURN: "    return lse if causal else torch.logsumexp(q.float() @ k.mT.float() * scale, dim=-1)"},
        "torch",
        fails="honest",
    ),
    Mistake(
        "the running maximum starts at 0",
        {'m_i = tl.full((BLOCK_M,), -float("inf"), tl.float32)': "m_i = tl.zeros((BLOCK_M,), tl.float32)"},
        "log(0) is -inf",
        fails="edges",
    ),
    Mistake("the running maximum begins as a number, and becomes a block",
            {'m_i = tl.full((BLOCK_M,), -float("inf"), tl.float32)': 'm_i = -float("inf")'}, "m_i"),
    Mistake("the maximum of a tile that shows nothing is kept as 0",
            {"        m_i = m_new\n": "        m_i = shift\n"}, ("is -inf where", "log(0) is -inf"),
            fails="limit"),
    Mistake("the maximum is never below -10,000",
            {'tl.where(m_new == -float("inf"), 0.0, m_new)': "tl.maximum(m_new, -1e4)"}, "log(0) is -inf",
            fails="correct or edges"),
    Mistake("the tile's own terms are rescaled, too",
            {UPDATE: "l_i = (l_i + tl.sum(tl.exp(s - shift[:, None]), axis=1)) * alpha"},
            "own terms are rescaled, too, in tiles of 32"),
    Mistake("the maximum is not kept, and every lse is -inf", {"        m_i = m_new\n": ""},
            "the result is -inf where"),
    Mistake("a tile is shifted by its own maximum",
            {UPDATE: "own = tl.max(s, axis=1)\n        "
             "own = tl.where(own == -float('inf'), 0.0, own)\n        " + UPDATE.replace("shift", "own")},
            "is right"),
    Mistake("a tl.where at the end swallows NaN",
            {f"{RESULT}, mask=rows": f"tl.where(l_i > 0, {RESULT}, -float('inf')), mask=rows"},
            "where nan is right", fails="limit"),
    Mistake("every second tile of keys is skipped",
            {"range(0, end, BLOCK_N)": "range(0, end, 2 * BLOCK_N)",
             MOVE: MOVE.replace("+= BLOCK_N", "+= 2 * BLOCK_N")}, "Every second tile of 32 keys is skipped"),
    Mistake("a causal tile leaves out the last key that its last query sees",
            {"(pid_m + 1) * BLOCK_M + Sk - Sq)": "pid_m * BLOCK_M + BLOCK_M - 1 + Sk - Sq)"},
            "The loop ends one key before the last that the tile's last query sees",
            at="BLOCK_M - 1 + Sk - Sq"),
]
