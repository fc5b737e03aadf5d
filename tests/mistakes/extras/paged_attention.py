"""Extra: what goes wrong on the way to a key that a table finds, and what the grader must say about it."""

from tools.planted import Mistake

ACC = "acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])"
DOT = "qk = tl.dot(q, k.T) * (scale * LOG2_E)"
END = "end = tl.minimum(first + share, length)"
HEADS = "    k_ptr += pid % n_kv * D\n    v_ptr += pid % n_kv * D\n"
HIDDEN = 'qk = tl.where(seen[None, :], qk, -float("inf"))'
KEYS = "k = tl.load(k_ptr + offs, mask=mask, other=0.0)"
LENGTH = "length = tl.load(lengths_ptr + pid // n_kv)"
OFFS = "offs = slots[:, None] * (n_kv * D) + offs_d[None, :]"
PAGES = "pages = tl.load(tables_ptr + offs_n // PAGE, mask=seen, other=0)"
SEEN = "seen = offs_n < end"
SHARE = "share = tl.cdiv(tl.cdiv(length, BLOCK_N), tl.num_programs(1)) * BLOCK_N"
SLOTS = "slots = pages.to(tl.int64) * PAGE + offs_n % PAGE"
START = "m_i = tl.full((BLOCK_G,), LOWEST, tl.float32)"
TABLES = "tables_ptr += pid // n_kv * max_pages"
VALUES = "v = tl.load(v_ptr + offs, mask=mask, other=0.0)"

# fmt: off
mistakes = [
    Mistake("the table is not asked", {PAGES: "pages = offs_n // PAGE"}, "The table is not asked"),
    Mistake("every sequence has the table of the first one", {TABLES: "tables_ptr += 0 * max_pages"},
            "table of the first one"),
    Mistake("tables are found by the key head", {TABLES: "tables_ptr += pid * max_pages"},
            "past the end of block_tables"),
    Mistake("all keys are in the first page",
            {PAGES: "pages = tl.load(tables_ptr + offs_n * 0, mask=seen, other=0)"}, "first page"),
    Mistake("the table is asked once for a block",
            {PAGES: "pages = tl.load(tables_ptr + start_n // PAGE)",
             SLOTS: "slots = pages.to(tl.int64) * PAGE + tl.arange(0, BLOCK_N)"}, "asked once for a block"),
    Mistake("the products are still to be written", {ACC: "acc = acc * alpha[:, None]"},
            "The result is 0 everywhere"),
    Mistake("the place in the page is forgotten", {SLOTS: "slots = pages.to(tl.int64) * PAGE + offs_n * 0"},
            "All keys of a page"),
    Mistake("the place is that in the sequence", {SLOTS: "slots = pages.to(tl.int64) * PAGE + offs_n"},
            "past the end of key_cache"),
    Mistake("a page's number is taken for a key's", {SLOTS: "slots = pages.to(tl.int64) + offs_n % PAGE"},
            "page's number is taken for a key's"),
    Mistake("entries behind the length are read as pages",
            {PAGES: "pages = tl.load(tables_ptr + offs_n // PAGE, mask=offs_n // PAGE < max_pages, other=0)",
             KEYS: "k = tl.load(k_ptr + offs, mask=(offs_d < D)[None, :], other=0.0)"},
            "before the start of key_cache"),
    Mistake("the whole of the last page is seen", {SEEN: "seen = offs_n < tl.cdiv(end, PAGE) * PAGE"},
            "behind"),
    Mistake("keys behind the length count as scores of 0", {HIDDEN: "qk = tl.where(seen[None, :], qk, 0.0)"},
            "is right"),
    Mistake("every group reads key head 0", {HEADS: ""}, "head 0"),
    Mistake("a head's keys are taken to lie side by side",
            {OFFS: "offs = slots[:, None] * D + offs_d[None, :]"}, "h_k · d apart"),
    Mistake("every sequence has the length of the first", {LENGTH: "length = tl.load(lengths_ptr)"},
            "length of the first one"),
    Mistake("keys are taken for values", {VALUES: VALUES.replace("v_ptr", "k_ptr")},
            "keys are taken for the values"),
    Mistake("the scale is left out", {DOT: DOT.replace("scale * LOG2_E", "LOG2_E")}, "scale is missing"),
    Mistake("acc is not rescaled when the maximum rises", {ACC: ACC.replace("acc * alpha[:, None]", "acc")},
            "added up to o is not rescaled"),
    Mistake("an empty split has the maximum -inf",
            {START: 'm_i = tl.full((BLOCK_G,), -float("inf"), tl.float32)'},
            ("so is (-inf) - (-inf)", "(-inf) - (-inf) is NaN")),
    Mistake("a split goes on to the next one's first key",
            {END: "end = tl.minimum(first + share + 1, length)"}, "first key of a part"),
    Mistake("the share is rounded down",
            {SHARE: "share = tl.maximum(length // BLOCK_N // tl.num_programs(1), 1) * BLOCK_N"},
            "do not reach"),
    Mistake("the last, partial page is left out", {SEEN: "seen = offs_n < end // PAGE * PAGE"},
            "last keys are left out"),
    Mistake("torch gathers the pages",
            {"    B, H, D = q.shape\n": "    pages = block_tables.clamp(min=0).long()\n"
             "    key_cache, value_cache = key_cache[pages].flatten(0, 1), value_cache[pages].flatten(0, 1)\n"
             "    block_tables = torch.arange(pages.numel(), device=q.device).int().view(pages.shape)\n"
             "    B, H, D = q.shape\n"}, "outside of your kernel", fails="correct or honest"),
    Mistake("lanes without a key have a score of -10,000", {HIDDEN: HIDDEN.replace('-float("inf")', "-1e4")},
            "finite number stands for -inf", fails="limit"),
    Mistake("-1e6 stands for -inf", {HIDDEN: "qk = tl.where(seen[None, :], qk, -1e6)"},
            ("rows are 0", "is right"), fails="limit"),
    Mistake("the maximum is taken of scores without the scale, which may be negative",
            {DOT: f"raw = tl.dot(q, k.T)\n        {DOT.replace('tl.dot(q, k.T)', 'raw')}",
             "m_new = tl.maximum(m_i, tl.max(qk, axis=1))": ("raw = tl.where(seen[None, :], raw, LOWEST)\n"
             "        m_new = tl.maximum(m_i, tl.max(raw, axis=1) * (scale * LOG2_E))")},
            ("A running maximum that falls", "becomes Inf in fp16"), fails="limit"),
    Mistake("the splits take exp, and the merge takes exp2",
            {DOT: DOT.replace("(scale * LOG2_E)", "scale"),
             "p = tl.exp2(qk - m_new[:, None])": "p = tl.exp(qk - m_new[:, None])",
             "alpha = tl.exp2(m_i - m_new)": "alpha = tl.exp(m_i - m_new)"},
            "those of plain scores, and the factor is exp2"),
    Mistake("the values are handed over as keys, too",
            {"q, key_cache, value_cache, block_tables": "q, value_cache, value_cache, block_tables"},
            "The values are taken for the keys"),
    Mistake("the caches change places",
            {"q, key_cache, value_cache, block_tables": "q, value_cache, key_cache, block_tables"},
            "Keys and values have changed places"),
]
