"""Extra: what goes wrong between the chunks of a row, and what the grader must say about it."""

from tools.planted import Mistake

CHUNKS = "n_chunks = triton.cdiv(n_cols, chunk)"
CLAMP = "m_new = tl.minimum(tl.maximum(m_i, tl.max(x, axis=0)), HIGHEST)"
END = "end = tl.minimum(first + chunk, n_cols)"
GRID = "chunk_kernel[(n_rows * n_chunks,)]"
LOSS = "tl.store(loss_ptr + row, log_l + (m - x_target))"
LSE = "tl.store(lse_ptr + row, log_l + m)"
MAXIMA = "mask=index < n_chunks, other=-HIGHEST"
SUMS = "mask=index < n_chunks, other=0.0"
MERGED = "l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + l_c * tl.exp2((m_c - m_new) * LOG2_E)"
ONLY_HALF = 'cols < end, other=-float("inf")'
RESCALED = "l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + tl.sum(p, axis=0)"
START = "m_i = tl.full((LANES,), -HIGHEST, tl.float32)"
TARGET = "tl.load(logits_ptr + row * stride_m + tl.load(target_ptr + row))"
TO_MAX = "tl.store(max_ptr + tl.program_id(0), m)"
TO_SUM = "tl.store(sum_ptr + tl.program_id(0), "

# fmt: off
mistakes = [
    Mistake("the chunks of a row store over one another",
            {TO_MAX: "tl.store(max_ptr + row * n_chunks, m)", TO_SUM: "tl.store(sum_ptr + row * n_chunks, ",
             MAXIMA: "mask=index < 1, other=-HIGHEST", SUMS: "mask=index < 1, other=0.0"}, "race"),
    Mistake("a chunk ends behind the end of its row", {END: "end = first + chunk"}, "past"),
    Mistake("lanes past the chunk hold 0", {ONLY_HALF: "cols < end, other=0.0"}, "Lanes past a chunk's end"),
    Mistake("the last chunk that is not whole is left out", {CHUNKS: "n_chunks = max(n_cols // chunk, 1)"},
            "is left out"),
    Mistake("a program a row",
            {GRID: "chunk_kernel[(n_rows,)]", CHUNKS: "n_chunks, chunk = 1, triton.next_power_of_2(n_cols)"},
            "first launch has"),
    Mistake("the parts are added without their maxima", {MERGED: "l_i += l_c"}, "is right"),
    Mistake("the sum so far is not rescaled when the maximum rises", {RESCALED: "l_i += tl.sum(p, axis=0)"},
            "is right", fails="correct or edges"),
    Mistake("lse in base 2", {LSE: "tl.store(lse_ptr + row, (log_l + m) * LOG2_E)"},
            "times what it should be"),
    Mistake("a chunk of -inf alone is NaN", {START: 'm_i = tl.full((LANES,), -float("inf"), tl.float32)'},
            "NaN", fails="correct or edges"),
    Mistake("Inf less Inf", {CLAMP: "m_new = tl.maximum(m_i, tl.max(x, axis=0))"}, ("Inf - Inf", "inf - inf"),
            fails="limit"),
    Mistake(
        "the target is looked for in the last chunk",
        {
            TARGET: TARGET.replace(
                "tl.load(target_ptr + row)", "(n_chunks - 1) * 0 + tl.load(target_ptr + row) % 32"
            )
        },
        "lse: right in every case",
    ),
    Mistake("the loss lacks the target", {LOSS: "tl.store(loss_ptr + row, log_l + m + 0 * x_target)"},
            "lacks the logit"),
    Mistake("rows are taken to be n_cols apart",
            {"logits_ptr + row * stride_m + cols": "logits_ptr + row * n_cols + cols"}, "stride",
            fails="edges"),
]
