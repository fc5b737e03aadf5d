"""Day 27: what three kernels of attention get wrong, and what the grader must say about it."""

from __future__ import annotations

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

mistakes = [
    Mistake(
        "the scale is forgotten", swap={SCALED: "\n    if CAUSAL"}, fails="correct", says="scale is missing"
    ),
    Mistake(
        "q was scaled, and so are the scores",
        swap={SCALED: "* scale * scale\n    if CAUSAL"},
        fails="correct",
        says="scale is applied twice",
    ),
    Mistake(
        "scores are divided by the scale",
        swap={SCALED: "/ scale\n    if CAUSAL"},
        fails="correct",
        says="divided by the scale",
    ),
    Mistake(
        "the weights are masked, not the scores",
        swap={
            CAUSAL: "s = s",
            "    stride_vd,\n    BLOCK_M": "    stride_vd,\n    CAUSAL: tl.constexpr,\n    BLOCK_M",
            LOAD_P: f"{LOAD_P}\n        if CAUSAL:\n"
            "            p = tl.where(Sk - left + offs_n[None, :] <= offs_m[:, None] + Sk - Sq, p, 0.0)",
            "*v.stride(), **blocks": "*v.stride(), CAUSAL=causal, **blocks",
        },
        fails="correct",
        says="after the softmax",
    ),
    Mistake(
        "hidden scores are set to 0",
        swap={CAUSAL: CAUSAL.replace('-float("inf")', "0.0")},
        fails="correct",
        says="exp(0) is 1",
    ),
    Mistake(
        "hidden scores are set to a large negative number",
        swap={CAUSAL: CAUSAL.replace('-float("inf")', "-1e9")},
        fails="correct",
        says="mean of v",
    ),
    Mistake(
        "the mask is aligned at the top left",
        swap={CAUSAL: CAUSAL.replace(" + Sk - Sq", "")},
        fails="correct",
        says="top left",
    ),
    Mistake(
        "Sq and Sk are swapped in the mask",
        swap={CAUSAL: CAUSAL.replace("Sk - Sq", "Sq - Sk")},
        fails="correct",
        says="the other way",
    ),
    Mistake(
        "a query does not see its own key",
        swap={CAUSAL: CAUSAL.replace("<=", "<")},
        fails="correct",
        says="one key early",
    ),
    Mistake(
        "a query sees one key too many",
        swap={CAUSAL: CAUSAL.replace("Sk - Sq", "Sk - Sq + 1")},
        fails="correct",
        says="one key too far",
    ),
    Mistake(
        "queries see the future instead of the past",
        swap={CAUSAL: CAUSAL.replace("<=", ">=")},
        fails="correct",
        says="those after",
    ),
    Mistake(
        "causal is ignored", swap={"CAUSAL=causal": "CAUSAL=False"}, fails="correct", says="causal is ignored"
    ),
    Mistake(
        "every call is causal",
        swap={"CAUSAL=causal": "CAUSAL=True"},
        fails="correct",
        says="even where causal is False",
    ),
    Mistake(
        "the softmax ends one key early",
        swap={
            "tl.load(s_ptr + offsets, mask=mask, ": "tl.load(s_ptr + offsets, mask=mask & (offs_n < Sk - 1), "
        },
        fails="correct",
        says="The last key is left out",
    ),
    Mistake(
        "one maximum is taken of all rows of a block",
        swap={"m_i = tl.max(s, axis=1)": "m_i = tl.max(s) + tl.zeros((BLOCK_M,), tl.float32)"},
        fails="edges",
        says="is right",
    ),
    Mistake(
        "lanes past the last key count in the softmax",
        swap={'mask=mask, other=-float("inf")': "mask=mask, other=0.0"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "a query that sees no key subtracts -inf from -inf",
        swap={GUARD: "m_i[:, None]"},
        fails="correct",
        says="sees no key",
    ),
    Mistake(
        "a query that sees no key divides by 0",
        swap={QUOTIENT: "numerator / l_i[:, None]"},
        fails="correct",
        says="sees no key",
    ),
    Mistake(
        "no maximum is subtracted", swap={f"s - {GUARD}": "s"}, fails="edges", says="Large scores overflow"
    ),
    Mistake(
        "the maximum starts at 0",
        swap={"m_i = tl.max(s, axis=1)": "m_i = tl.maximum(tl.max(s, axis=1), 0.0)"},
        fails="edges",
        says="Scores far below 0 underflow",
    ),
    Mistake(
        "the weights are not divided by their sum",
        swap={QUOTIENT: "numerator"},
        fails="correct",
        says="not divided",
    ),
    Mistake(
        "the softmax runs down the columns",
        swap={
            "m_i = tl.max(s, axis=1)": "m_i = tl.max(s, axis=0)",
            GUARD: GUARD.replace("[:, None]", "[None, :]"),
            "l_i = tl.sum(numerator, axis=1)": "l_i = tl.sum(numerator, axis=0)",
            QUOTIENT: QUOTIENT.replace("[:, None]", "[None, :]"),
        },
        fails="correct",
        says="over the queries",
    ),
    Mistake(
        "all heads read the values of head 0",
        swap={" + pid_h * stride_vh": ""},
        fails="correct",
        says="values of head 0",
    ),
    Mistake(
        "all heads read the keys of head 0",
        swap={" + pid_h * stride_kh": ""},
        fails="correct",
        says="keys of head 0",
    ),
    Mistake(
        "the last kernel is given the keys",
        swap={"p, v, o, H": "p, k, o, H"},
        fails="correct",
        says="keys are added up",
    ),
    Mistake(
        "batch and head are mixed up",
        swap={
            "// tiles).to(tl.int64)\n    pid_b, pid_h = pid_bh // H, pid_bh % H": "// tiles).to(tl.int64)\n"
            "    pid_b, pid_h = pid_bh % H, pid_bh // H"
        },
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "the keys are read with the strides of the queries",
        swap={"*q.stride(), *k.stride()": "*q.stride(), *q.stride()"},
        fails="correct",
        says="strides of the queries",
    ),
    Mistake(
        "the keys are read past D",
        swap={
            "k = tl.load(k_ptrs, mask=cols[:, None] & dims[None, :]": "k = tl.load(k_ptrs, mask=cols[:, None]"
        },
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "columns of v past 64 are left out",
        swap={"BLOCK_D = max(triton.next_power_of_2(D), 16)": "BLOCK_D = 64"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the last, partial block of keys is left out of the weighted sum",
        swap={"range(Sk, 0, -BLOCK_N)": "range(Sk, BLOCK_N - 1, -BLOCK_N)"},
        fails="correct",
        says="last, partial block",
    ),
    Mistake(
        "the values stand still",
        swap={"\n        v_ptrs += BLOCK_N * stride_vn": ""},
        fails="correct",
        says="move the pointer on",
    ),
    Mistake(
        "weights and values are rounded to fp16",
        swap={"tl.dot(p, v, acc": "tl.dot(p.to(tl.float16), v.to(tl.float16), acc"},
        fails="correct",
        says="Every element is a number of",
    ),
    Mistake(
        "the sum over the keys is rounded to v's dtype at every block",
        swap={
            'acc = tl.dot(p, v, acc, input_precision="ieee")': (
                'acc = tl.dot(p, v, acc, input_precision="ieee").to(v.dtype).to(tl.float32)'
            )
        },
        fails="correct",
        says="too low a precision",
    ),
    Mistake(
        "the scores are kept in q's dtype",
        swap={"dtype=torch.float32, device": "dtype=q.dtype, device"},
        fails="correct or edges",
        says="65504",
    ),
    Mistake(
        "o is written past D",
        swap={STORE_O: "tl.store(o_ptrs, acc, mask=rows[:, None])"},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "o has the strides of q",
        swap={OUTPUT: "o = torch.empty_like(q)"},
        fails="correct",
        says="contiguous",
    ),
    Mistake("the result is always fp32", swap={"dtype=q.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake(
        "fp32 is left to tl.dot, which cuts it to TF32",
        swap={', input_precision="ieee") * scale': ") * scale"},
        fails="correct",
        says="TF32",
    ),
    Mistake(
        "torch copies strided inputs first",
        swap={SHAPE: f"q, k, v = q.contiguous(), k.contiguous(), v.contiguous()\n    {SHAPE}"},
        fails="honest",
        says="strides",
    ),
    Mistake("torch adds up the values", swap={RETURN: "    return p @ v"}, fails="honest", says="torch"),
    Mistake(
        "half done: scores and softmax",
        swap={},
        fails="correct",
        says="launches no kernel yet",
        undone=("weighted_sum_kernel", "attention"),
        so_far="scores ✓ · softmax ✓ · not started: weighted sum, launcher",
    ),
    Mistake(
        "half done: no scale in the scores, and no softmax",
        swap={'tl.trans(k), input_precision="ieee") * scale': 'tl.trans(k), input_precision="ieee")'},
        fails="correct",
        says="weighted_sum_kernel reads p_ptr",
        undone=("softmax_kernel",),
        so_far="scores ✗ · weighted sum ✓ · launcher ✓ · not started: softmax",
    ),
    Mistake(
        "the numbers of a tile's row and column have changed places",
        swap={"pid_m, pid_n = tl.program_id(0)": "pid_n, pid_m = tl.program_id(0)"},
        fails="correct",
        says="comes out of numbers",
    ),
    Mistake(
        "batch and head have changed places where scores are made",
        swap={
            "pid_b, pid_h = pid_bh // H, pid_bh % H\n    pid_m": (
                "pid_h, pid_b = pid_bh // H, pid_bh % H\n    pid_m"
            )
        },
        fails="correct",
        says="the block starts beyond it",
    ),
]
