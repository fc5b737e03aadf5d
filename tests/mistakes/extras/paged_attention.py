"""Extra: what goes wrong on the way to a key that a table finds, and what the grader must say about it."""

from __future__ import annotations

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

mistakes = [
    Mistake(
        "the table is not asked",
        swap={PAGES: "pages = offs_n // PAGE"},
        fails="correct",
        says="The table is not asked",
    ),
    Mistake(
        "every sequence has the table of the first one",
        swap={TABLES: "tables_ptr += 0 * max_pages"},
        fails="correct",
        says="table of the first one",
    ),
    Mistake(
        "tables are found by the key head",
        swap={TABLES: "tables_ptr += pid * max_pages"},
        fails="correct",
        says="past the end of block_tables",
    ),
    Mistake(
        "all keys are in the first page",
        swap={PAGES: "pages = tl.load(tables_ptr + offs_n * 0, mask=seen, other=0)"},
        fails="correct",
        says="first page",
    ),
    Mistake(
        "each page is one entry late",
        swap={PAGES: PAGES.replace("offs_n // PAGE", "offs_n // PAGE + 1")},
        fails="correct",
        says="past the end of block_tables",
    ),
    Mistake(
        "an entry is taken for a key",
        swap={PAGES: PAGES.replace("offs_n // PAGE", "offs_n")},
        fails="correct",
        says="past the end of block_tables",
    ),
    Mistake(
        "the table is asked once for a block",
        swap={
            PAGES: "pages = tl.load(tables_ptr + start_n // PAGE)",
            SLOTS: "slots = pages.to(tl.int64) * PAGE + tl.arange(0, BLOCK_N)",
        },
        fails="correct",
        says="asked once for a block",
    ),
    Mistake(
        "the products are still to be written",
        swap={ACC: "acc = acc * alpha[:, None]"},
        fails="correct",
        says="The result is 0 everywhere",
    ),
    Mistake(
        "the place in the page is forgotten",
        swap={SLOTS: "slots = pages.to(tl.int64) * PAGE + offs_n * 0"},
        fails="correct",
        says="All keys of a page",
    ),
    Mistake(
        "the place is that in the sequence",
        swap={SLOTS: "slots = pages.to(tl.int64) * PAGE + offs_n"},
        fails="correct",
        says="past the end of key_cache",
    ),
    Mistake(
        "a page's number is taken for a key's",
        swap={SLOTS: "slots = pages.to(tl.int64) + offs_n % PAGE"},
        fails="correct",
        says="page's number is taken for a key's",
    ),
    Mistake(
        "entries behind the length are read as pages",
        swap={
            PAGES: "pages = tl.load(tables_ptr + offs_n // PAGE, mask=offs_n // PAGE < max_pages, other=0)",
            KEYS: "k = tl.load(k_ptr + offs, mask=(offs_d < D)[None, :], other=0.0)",
        },
        fails="correct",
        says="before the start of key_cache",
    ),
    Mistake(
        "the table is read to the end of the block",
        swap={PAGES: "pages = tl.load(tables_ptr + offs_n // PAGE)"},
        fails="correct",
        says="past the end of block_tables",
    ),
    Mistake(
        "the whole of the last page is seen",
        swap={SEEN: "seen = offs_n < tl.cdiv(end, PAGE) * PAGE"},
        fails="correct",
        says="behind",
    ),
    Mistake(
        "values of the last page's end are loaded",
        swap={
            VALUES: "inside = offs_n < tl.cdiv(end, PAGE) * PAGE\n        v = tl.load("
            "v_ptr + offs, mask=inside[:, None] & (offs_d < D)[None, :], other=0.0)"
        },
        fails="correct",
        says="is right",
    ),
    Mistake(
        "keys behind the length count as scores of 0",
        swap={HIDDEN: "qk = tl.where(seen[None, :], qk, 0.0)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "every group reads key head 0",
        swap={HEADS: ""},
        fails="correct",
        says="head 0",
    ),
    Mistake(
        "a head's keys are taken to lie side by side",
        swap={OFFS: "offs = slots[:, None] * D + offs_d[None, :]"},
        fails="correct",
        says="h_k · d apart",
    ),
    Mistake(
        "every sequence has the length of the first",
        swap={LENGTH: "length = tl.load(lengths_ptr)"},
        fails="correct",
        says="length of the first one",
    ),
    Mistake(
        "keys are taken for values",
        swap={VALUES: VALUES.replace("v_ptr", "k_ptr")},
        fails="correct",
        says="keys are taken for the values",
    ),
    Mistake(
        "the scale is left out",
        swap={DOT: DOT.replace("scale * LOG2_E", "LOG2_E")},
        fails="correct",
        says="scale is missing",
    ),
    Mistake(
        "acc is not rescaled when the maximum rises",
        swap={ACC: ACC.replace("acc * alpha[:, None]", "acc")},
        fails="correct",
        says="added up to o is not rescaled",
    ),
    Mistake(
        "an empty split has the maximum -inf",
        swap={START: 'm_i = tl.full((BLOCK_G,), -float("inf"), tl.float32)'},
        fails="correct",
        says=("so is (-inf) - (-inf)", "(-inf) - (-inf) is NaN"),
    ),
    Mistake(
        "a split goes on to the next one's first key",
        swap={END: "end = tl.minimum(first + share + 1, length)"},
        fails="correct",
        says="first key of a part",
    ),
    Mistake(
        "the share is rounded down",
        swap={SHARE: "share = tl.maximum(length // BLOCK_N // tl.num_programs(1), 1) * BLOCK_N"},
        fails="correct",
        says="do not reach",
    ),
    Mistake(
        "the last, partial page is left out",
        swap={SEEN: "seen = offs_n < end // PAGE * PAGE"},
        fails="correct",
        says="last keys are left out",
    ),
    Mistake(
        "torch gathers the pages",
        swap={
            "    B, H, D = q.shape\n": "    pages = block_tables.clamp(min=0).long()\n"
            "    key_cache, value_cache = key_cache[pages].flatten(0, 1), value_cache[pages].flatten(0, 1)\n"
            "    block_tables = torch.arange(pages.numel(), device=q.device).int().view(pages.shape)\n"
            "    B, H, D = q.shape\n"
        },
        fails="correct or honest",
        says="outside of your kernel",
    ),
    Mistake(
        "lanes without a key have a score of -10,000",
        swap={HIDDEN: HIDDEN.replace('-float("inf")', "-1e4")},
        fails="limit",
        says="finite number stands for -inf",
    ),
    Mistake(
        "the longest length is read on the host",
        swap={
            "choose_splits(B * n_kv, max_pages * PAGE, BLOCK_N)": (
                "choose_splits(B * n_kv, int(lengths.max()) if B else 0, BLOCK_N)"
            )
        },
        fails="correct",
        says="on the host",
    ),
    Mistake(
        "-1e6 stands for -inf",
        swap={HIDDEN: "qk = tl.where(seen[None, :], qk, -1e6)"},
        fails="limit",
        says=("rows are 0", "is right"),
    ),
    Mistake(
        "the maximum is taken of scores without the scale, which may be negative",
        swap={
            DOT: f"raw = tl.dot(q, k.T)\n        {DOT.replace('tl.dot(q, k.T)', 'raw')}",
            "m_new = tl.maximum(m_i, tl.max(qk, axis=1))": (
                "raw = tl.where(seen[None, :], raw, LOWEST)\n"
                "        m_new = tl.maximum(m_i, tl.max(raw, axis=1) * (scale * LOG2_E))"
            ),
        },
        fails="limit",
        says=("A running maximum that falls", "becomes Inf in fp16"),
    ),
    Mistake(
        "the splits take exp, and the merge takes exp2",
        swap={
            DOT: DOT.replace("(scale * LOG2_E)", "scale"),
            "p = tl.exp2(qk - m_new[:, None])": "p = tl.exp(qk - m_new[:, None])",
            "alpha = tl.exp2(m_i - m_new)": "alpha = tl.exp(m_i - m_new)",
        },
        fails="correct",
        says="those of plain scores, and the factor is exp2",
    ),
    Mistake(
        "the values are handed over as keys, too",
        swap={"q, key_cache, value_cache, block_tables": "q, value_cache, value_cache, block_tables"},
        fails="correct",
        says="The values are taken for the keys",
    ),
    Mistake(
        "the caches change places",
        swap={"q, key_cache, value_cache, block_tables": "q, value_cache, key_cache, block_tables"},
        fails="correct",
        says="Keys and values have changed places",
    ),
]
