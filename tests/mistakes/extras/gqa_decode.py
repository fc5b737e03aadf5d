"""Extra: what goes wrong when query heads become rows of one tile, and what the grader must say about it."""

from tools.planted import Mistake

ACC = "acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])"
DOT = "qk = tl.dot(q, k.T) * (scale * LOG2_E)"
END = "end = tl.minimum(first + share, length)"
LENGTH = "length = tl.load(lengths_ptr + pid // n_kv)"
OF_K = "k_ptr += pid // n_kv * stride_kb + pid % n_kv * stride_kh"
OF_V = "v_ptr += pid // n_kv * stride_vb + pid % n_kv * stride_vh"
QUERIES = "queries = pid * GROUP + offs_g"
QUERY_LOAD = "q = tl.load(q_ptr + queries[:, None] * D + offs_d[None, :], mask=there, other=0.0)"
SHARE = "share = tl.cdiv(tl.cdiv(length, BLOCK_N), tl.num_programs(1)) * BLOCK_N"
START = "m_i = tl.full((BLOCK_G,), LOWEST, tl.float32)"
TO_M = "tl.store(m_ptr + parts, m_i, mask=offs_g < GROUP)"
TO_L = "tl.store(l_ptr + parts, l_i, mask=offs_g < GROUP)"
TO_O = "tl.store(o_ptr + parts[:, None] * D + offs_d[None, :], acc, mask=there)"
VALUES = "v = tl.load(v_ptr + offs_n[:, None] * stride_vs + offs_d[None, :], mask=mask, other=0.0)"

# fmt: off
mistakes = [
    Mistake("query head j reads key head j mod h_k",
            {QUERIES: "queries = pid // n_kv * n_kv * GROUP + pid % n_kv + offs_g * n_kv"}, "mod h_k"),
    Mistake("rows past the group are stored",
            {TO_M: "tl.store(m_ptr + parts, m_i)", TO_L: "tl.store(l_ptr + parts, l_i)",
             TO_O: TO_O.replace("mask=there", "mask=(offs_d < D)[None, :]")}, "past the end"),
    Mistake(
        "rows past the group are stored where q ends",
        {
            TO_M: "tl.store(m_ptr + parts, m_i, mask=queries < tl.num_programs(0) * GROUP)",
            TO_L: "tl.store(l_ptr + parts, l_i, mask=queries < tl.num_programs(0) * GROUP)",
            TO_O: TO_O.replace(
                "mask=there", "mask=(queries < tl.num_programs(0) * GROUP)[:, None] & (offs_d < D)[None, :]"
            ),
        },
        "race",
    ),
    Mistake("queries past the group are loaded",
            {QUERY_LOAD: QUERY_LOAD.replace("mask=there", "mask=(offs_d < D)[None, :]")},
            "past the end of q"),
    Mistake("all rows are the first query of the group",
            {QUERY_LOAD: QUERY_LOAD.replace("queries[:, None] * D", "(queries - offs_g)[:, None] * D")},
            "All heads of a group"),
    Mistake("the groups begin at the key head's number", {QUERIES: "queries = pid + offs_g"},
            "where no kernel wrote"),
    Mistake("every group reads key head 0",
            {OF_K: OF_K.replace("pid % n_kv", "0"), OF_V: OF_V.replace("pid % n_kv", "0")}, "head 0"),
    Mistake("every sequence reads the first one's cache",
            {OF_K: OF_K.replace("pid // n_kv", "0"), OF_V: OF_V.replace("pid // n_kv", "0")}, "first one"),
    Mistake("lengths are read by group, not by sequence", {LENGTH: "length = tl.load(lengths_ptr + pid)"},
            "past the end of lengths"),
    Mistake("every sequence has the length of the first", {LENGTH: "length = tl.load(lengths_ptr)"},
            "length of the first one"),
    Mistake("values behind the length are loaded",
            {VALUES: VALUES.replace("mask=mask", "mask=(offs_d < D)[None, :]")}, "past the end of v_cache"),
    Mistake("an empty split leaves what stood there before",
            {TO_M: "if end > first:\n        " + TO_M, TO_L: "if end > first:\n        " + TO_L,
             TO_O: "if end > first:\n        " + TO_O},
            ("memory that nobody wrote", "Without keys the result is NaN", "where no kernel wrote")),
    Mistake(
        "one split, and its maximum begins at -inf",
        {
            START: 'm_i = tl.full((BLOCK_G,), -float("inf"), tl.float32)',
            "n_splits = choose_splits(B * n_kv, S, BLOCK_N)": "n_splits = 1",
            "tl.exp2(m_s - tl.max(m_s, axis=0))": (
                'tl.where(m_s == -float("inf"), 0.0, tl.exp2(m_s - tl.max(m_s, axis=0)))'
            ),
        },
        "(-inf) - (-inf) is NaN",
        fails="limit",
    ),
    Mistake("an empty split has the maximum -inf",
            {START: 'm_i = tl.full((BLOCK_G,), -float("inf"), tl.float32)'}, "(-inf) - (-inf) is NaN"),
    Mistake("parts are divided by their sums before they are merged",
            {TO_O: TO_O.replace("acc", "acc / tl.where(l_i == 0, 1.0, l_i)[:, None]")},
            "once is enough, at the end"),
    Mistake("the share is rounded down",
            {SHARE: "share = tl.maximum(length // BLOCK_N // tl.num_programs(1), 1) * BLOCK_N"},
            "do not reach"),
    Mistake("a split goes on to the next one's first key",
            {END: "end = tl.minimum(first + share + 1, length)"}, "first key of a part"),
    Mistake("acc is not rescaled when the maximum rises", {ACC: ACC.replace("acc * alpha[:, None]", "acc")},
            "added up to o is not rescaled"),
    Mistake("the scale is left out", {DOT: DOT.replace("scale * LOG2_E", "LOG2_E")}, "scale is missing"),
    Mistake("values are read by the strides of the keys",
            {OF_V: OF_V.replace("stride_v", "stride_k"), VALUES: VALUES.replace("stride_vs", "stride_ks")},
            "stride", fails="correct or edges"),
    Mistake("lanes without a key have a score of -10,000",
            {'qk = tl.where(seen[None, :], qk, -float("inf"))': "qk = tl.where(seen[None, :], qk, -1e4)"},
            "finite number stands for -inf", fails="limit"),
    Mistake("all rows of a block go by the largest score of any", {"tl.max(qk, axis=1)": "tl.max(qk)"},
            "is right"),
    Mistake("there are 8 heads of v", {OF_V: OF_V.replace("pid % n_kv", "pid % n_kv % 8")}, "At ["),
]
