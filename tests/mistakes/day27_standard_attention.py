"""Day 27: what three kernels of attention get wrong, and what the grader must say about it."""

from tools.planted import Mistake

CAUSAL = 's = tl.where(offs_n[None, :] <= offs_m[:, None] + Sk - Sq, s, -float("inf"))'
GUARD = 'tl.where(m_i == -float("inf"), 0.0, m_i)[:, None]'
LOAD_P = "p = tl.load(p_ptrs, mask=rows[:, None] & cols[None, :], other=0.0)"
OUTPUT = "o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)"
QUOTIENT = "numerator / tl.where(l_i == 0.0, 1.0, l_i)[:, None]"
RETURN = "    return o"
SCALED = "* scale\n    if CAUSAL"
SHAPE = "B, H, Sq, D = q.shape"
STORE_O = "tl.store(o_ptrs, acc, mask=rows[:, None] & dims[None, :])"

# fmt: off
mistakes = [
    Mistake("the scale is forgotten", {SCALED: "\n    if CAUSAL"}, "scale is missing"),
    Mistake("q was scaled, and so are the scores", {SCALED: "* scale * scale\n    if CAUSAL"},
            "scale is applied twice"),
    Mistake("scores are divided by the scale", {SCALED: "/ scale\n    if CAUSAL"}, "divided by the scale"),
    Mistake("the weights are masked, not the scores",
            {CAUSAL: "s = s",
             "    stride_vd,\n    BLOCK_M": "    stride_vd,\n    CAUSAL: tl.constexpr,\n    BLOCK_M",
             LOAD_P: f"{LOAD_P}\n        if CAUSAL:\n"
             "            p = tl.where(Sk - left + offs_n[None, :] <= offs_m[:, None] + Sk - Sq, p, 0.0)",
             "*v.stride(), **blocks": "*v.stride(), CAUSAL=causal, **blocks"}, "after the softmax"),
    Mistake("hidden scores are set to 0", {CAUSAL: CAUSAL.replace('-float("inf")', "0.0")}, "exp(0) is 1"),
    Mistake("hidden scores are set to a large negative number",
            {CAUSAL: CAUSAL.replace('-float("inf")', "-1e9")}, "mean of v"),
    Mistake("the mask is aligned at the top left", {CAUSAL: CAUSAL.replace(" + Sk - Sq", "")}, "top left"),
    Mistake("Sq and Sk are swapped in the mask", {CAUSAL: CAUSAL.replace("Sk - Sq", "Sq - Sk")},
            "the other way"),
    Mistake("a query does not see its own key", {CAUSAL: CAUSAL.replace("<=", "<")}, "one key early"),
    Mistake("a query sees one key too many", {CAUSAL: CAUSAL.replace("Sk - Sq", "Sk - Sq + 1")},
            "one key too far"),
    Mistake("queries see the future instead of the past", {CAUSAL: CAUSAL.replace("<=", ">=")},
            "those after"),
    Mistake("causal is ignored", {"CAUSAL=causal": "CAUSAL=False"}, "causal is ignored"),
    Mistake("every call is causal", {"CAUSAL=causal": "CAUSAL=True"}, "even where causal is False"),
    Mistake(
        "the softmax ends one key early",
        {"tl.load(s_ptr + offsets, mask=mask, ": "tl.load(s_ptr + offsets, mask=mask & (offs_n < Sk - 1), "},
        "The last key is left out",
    ),
    Mistake("one maximum is taken of all rows of a block",
            {"m_i = tl.max(s, axis=1)": "m_i = tl.max(s) + tl.zeros((BLOCK_M,), tl.float32)"}, "is right",
            fails="edges"),
    Mistake("lanes past the last key count in the softmax",
            {'mask=mask, other=-float("inf")': "mask=mask, other=0.0"}, "is right"),
    Mistake("a query that sees no key subtracts -inf from -inf", {GUARD: "m_i[:, None]"}, "sees no key"),
    Mistake("no maximum is subtracted", {f"s - {GUARD}": "s"}, "Large scores overflow", fails="edges"),
    Mistake("the maximum starts at 0",
            {"m_i = tl.max(s, axis=1)": "m_i = tl.maximum(tl.max(s, axis=1), 0.0)"},
            "Scores far below 0 underflow", fails="edges"),
    Mistake("the weights are not divided by their sum", {QUOTIENT: "numerator"}, "not divided"),
    Mistake("the softmax runs down the columns",
            {"m_i = tl.max(s, axis=1)": "m_i = tl.max(s, axis=0)",
             GUARD: GUARD.replace("[:, None]", "[None, :]"),
             "l_i = tl.sum(numerator, axis=1)": "l_i = tl.sum(numerator, axis=0)",
             QUOTIENT: QUOTIENT.replace("[:, None]", "[None, :]")}, "over the queries"),
    Mistake("all heads read the values of head 0", {" + pid_h * stride_vh": ""}, "values of head 0"),
    Mistake("all heads read the keys of head 0", {" + pid_h * stride_kh": ""}, "keys of head 0"),
    Mistake("the last kernel is given the keys", {"p, v, o, H": "p, k, o, H"}, "keys are added up"),
    Mistake("the keys are read with the strides of the queries",
            {"*q.stride(), *k.stride()": "*q.stride(), *q.stride()"}, "strides of the queries"),
    Mistake("columns of v past 64 are left out",
            {"BLOCK_D = max(triton.next_power_of_2(D), 16)": "BLOCK_D = 64"}, "never written"),
    Mistake("the last, partial block of keys is left out of the weighted sum",
            {"range(Sk, 0, -BLOCK_N)": "range(Sk, BLOCK_N - 1, -BLOCK_N)"}, "last, partial block"),
    Mistake("the values stand still", {"\n        v_ptrs += BLOCK_N * stride_vn": ""}, "move the pointer on"),
    Mistake("weights and values are rounded to fp16",
            {"tl.dot(p, v, acc": "tl.dot(p.to(tl.float16), v.to(tl.float16), acc"},
            "Every element is a number of"),
    Mistake(
        "the sum over the keys is rounded to v's dtype at every block",
        {
            'acc = tl.dot(p, v, acc, input_precision="ieee")': (
                'acc = tl.dot(p, v, acc, input_precision="ieee").to(v.dtype).to(tl.float32)'
            )
        },
        "too low a precision",
    ),
    Mistake("the scores are kept in q's dtype", {"dtype=torch.float32, device": "dtype=q.dtype, device"},
            "65504", fails="correct or edges"),
    Mistake("o is written past D", {STORE_O: "tl.store(o_ptrs, acc, mask=rows[:, None])"}, "past the end"),
    Mistake("o has the strides of q", {OUTPUT: "o = torch.empty_like(q)"}, "contiguous"),
    Mistake("the result is always fp32", {"dtype=q.dtype, ": ""}, "dtype"),
    Mistake("fp32 is left to tl.dot, which cuts it to TF32",
            {', input_precision="ieee") * scale': ") * scale"}, "TF32"),
    Mistake("torch copies strided inputs first",
            {SHAPE: f"q, k, v = q.contiguous(), k.contiguous(), v.contiguous()\n    {SHAPE}"}, "strides",
            fails="honest"),
    Mistake("torch adds up the values", {RETURN: "    return p @ v"}, "torch", fails="honest"),
    Mistake("half done: scores and softmax", {}, "launches no kernel yet",
            undone=("weighted_sum_kernel", "attention"),
            so_far="scores ✓ · softmax ✓ · not started: weighted sum, launcher"),
    Mistake("half done: no scale in the scores, and no softmax",
            {'tl.trans(k), input_precision="ieee") * scale': 'tl.trans(k), input_precision="ieee")'},
            "weighted_sum_kernel reads p_ptr", undone=("softmax_kernel",),
            so_far="scores ✗ · weighted sum ✓ · launcher ✓ · not started: softmax"),
    Mistake("the numbers of a tile's row and column have changed places",
            {"pid_m, pid_n = tl.program_id(0)": "pid_n, pid_m = tl.program_id(0)"}, "comes out of numbers"),
    Mistake(
        "batch and head have changed places where scores are made",
        {
            "pid_b, pid_h = pid_bh // H, pid_bh % H\n    pid_m": (
                "pid_h, pid_b = pid_bh // H, pid_bh % H\n    pid_m"
            )
        },
        "the block starts beyond it",
    ),
]
