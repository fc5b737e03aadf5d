"""Extra: what goes wrong when keys are split over programs, and what the grader must say about it."""

from tools.planted import Mistake

ACC = "acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])"
DIVIDED = " / tl.where(l_i == 0, 1.0, l_i)"
END = "end = tl.minimum(first + share, length)"
FACTOR = "factor = tl.exp2(m_s - tl.max(m_s, axis=0))"
KEYS = "k = tl.load(k_ptr + offs_n[:, None] * stride_ks + offs_d[None, :], mask=mask, other=0.0)"
LENGTH = "length = tl.load(lengths_ptr + pid_b)"
MERGED = "o = tl.sum(o_s * factor[:, None], axis=0)"
OF_V = "v_ptr += pid_b * stride_vb + pid_h * stride_vh"
PART = "part = tl.program_id(0).to(tl.int64) * tl.num_programs(1) + tl.program_id(1)"
SCORES = "s = tl.dot(q, tl.trans(k)) * (scale * LOG2_E)"
SHARE = "share = tl.cdiv(tl.cdiv(length, BLOCK_N), tl.num_programs(1)) * BLOCK_N"
START = "m_i = tl.full((16,), LOWEST, tl.float32)"
STORES = """    tl.store(m_ptr + part + row, m_i, mask=row == 0)
    tl.store(l_ptr + part + row, l_i, mask=row == 0)
    tl.store(o_ptr + part * D + offs_o, acc, mask=only)
"""
SUMS = "l_i = tl.sum(l_s * factor, axis=0)"
TO_O = "tl.store(o_ptr + part * D + offs_o, acc, mask=only)"
VALUES = "v = tl.load(v_ptr + offs_n[:, None] * stride_vs + offs_d[None, :], mask=mask, other=0.0)"

# fmt: off
mistakes = [
    Mistake("an empty split leaves what stood there before",
            {STORES: "    if end > first:\n" + STORES.replace("    tl.", "        tl.")},
            ("memory that nobody wrote", "Without keys the result is NaN", "where no kernel wrote")),
    Mistake("an empty split has the maximum -inf, and the merge no exception",
            {START: 'm_i = tl.full((16,), -float("inf"), tl.float32)'}, "(-inf) - (-inf) is NaN"),
    Mistake(
        "values behind the length are loaded",
        {
            VALUES: VALUES.replace(
                "mask=mask", "mask=(offs_n < length + BLOCK_N)[:, None] & (offs_d < D)[None, :]"
            )
        },
        "past the end of v_cache",
    ),
    Mistake("keys behind the length are loaded",
            {KEYS: KEYS.replace("mask=mask", "mask=(offs_d < D)[None, :]")}, "past the end of k_",
            fails="correct or edges"),
    Mistake(
        "the length is taken to be s",
        {
            "lengths_ptr, m_ptr, l_ptr, o_ptr, n_heads, scale": "length, m_ptr, l_ptr, o_ptr, n_heads, scale",
            LENGTH: "pass",
            "q, k_cache, v_cache, lengths, maxima": "q, k_cache, v_cache, S, maxima",
        },
        "past a sequence's length",
    ),
    Mistake("every sequence has the length of the first", {LENGTH: "length = tl.load(lengths_ptr)"},
            "length of the first one"),
    Mistake("the lengths are read by query, not by sequence",
            {LENGTH: "length = tl.load(lengths_ptr + tl.program_id(0))"}, "past the end of lengths"),
    Mistake("the last key is left out", {LENGTH: "length = tl.maximum(tl.load(lengths_ptr + pid_b) - 1, 0)"},
            "last key is left out"),
    Mistake("parts are added up without their factors", {FACTOR: "factor = tl.exp2(0.0 * m_s)"},
            "added up as they are"),
    Mistake("the sums have no factors", {SUMS: "l_i = tl.sum(l_s, axis=0)"}, "their l have none"),
    Mistake("the results have no factors", {MERGED: "o = tl.sum(o_s, axis=0)"}, "their o have none"),
    Mistake("exp of maxima in base 2", {FACTOR: "factor = tl.exp(m_s - tl.max(m_s, axis=0))"},
            "exp where exp2 belongs"),
    Mistake("parts are divided by their sums before they are merged",
            {TO_O: TO_O.replace("acc", "acc / tl.where(l_i == 0, 1.0, l_i)[:, None]")},
            "once is enough, at the end"),
    Mistake("splits of a query store over one another", {PART: PART.replace(" + tl.program_id(1)", "")},
            "where no kernel wrote"),
    Mistake(
        "the merge looks at a part that is not there",
        {
            "m_s = tl.load(m_ptr + query * n_splits + offs_s, mask=offs_s < n_splits, other=LOWEST)": (
                "m_s = tl.load(m_ptr + query * n_splits + offs_s)"
            )
        },
        "Unmasked load",
    ),
    Mistake("parts that are not there have the maximum 0",
            {"mask=offs_s < n_splits, other=LOWEST)": "mask=offs_s < n_splits, other=0.0)"}, "is right",
            fails="correct or edges"),
    Mistake("the last splits are left out where there is no power of two of them",
            {"BLOCK_S=triton.next_power_of_2(n_splits)": "BLOCK_S=triton.next_power_of_2(n_splits + 1) // 2"},
            "is right"),
    Mistake("the share is rounded down",
            {SHARE: "share = tl.maximum(length // BLOCK_N // tl.num_programs(1), 1) * BLOCK_N"},
            "do not reach"),
    Mistake("a split goes on to the next one's first block",
            {END: "end = tl.minimum(first + share + 1, length)"}, "first key of a part"),
    Mistake("a split ends behind the length", {END: "end = first + share"}, "past the end of k_cache"),
    Mistake("no keys are 0 / 0", {DIVIDED: " / l_i"}, "0 / 0"),
    Mistake("o is not rescaled when the maximum rises", {ACC: ACC.replace("acc * alpha[:, None]", "acc")},
            "added up to o is not rescaled"),
    Mistake("the scale is left out", {SCORES: SCORES.replace("scale * LOG2_E", "LOG2_E")},
            "scale is missing"),
    Mistake("values are read by the strides of the keys",
            {OF_V: OF_V.replace("_v", "_k").replace("k_ptr", "v_ptr"),
             VALUES: VALUES.replace("stride_vs", "stride_ks")}, "loads from a gap between",
            fails="correct or edges"),
    Mistake("lanes without a key have a score of -10,000",
            {'s = tl.where(seen[None, :], s, -float("inf"))': "s = tl.where(seen[None, :], s, -1e4)"},
            "finite number stands for -inf", fails="limit"),
    Mistake("lanes of k that hold no element hold Inf", {KEYS: KEYS.replace("0.0", 'float("inf")')},
            "in the tl.dot, is NaN"),
    Mistake("o is rounded to fp16 at every block", {ACC: f"{ACC}.to(tl.float16).to(tl.float32)"},
            "ends at 65504", fails="limit"),
]
