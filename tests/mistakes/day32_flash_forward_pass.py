"""Day 32: what a flash attention forward pass gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ACC = 'acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")'
ALPHA = "alpha = tl.exp2(m_i - m_new)"
BASE_2 = "(scale * LOG2_E)"
DIVIDED = "tl.where(l_i == 0, 1.0, l_i)[:, None]"
FIRST = "start_m = tl.program_id(0) * BLOCK_M"
GRID = "flash_forward_kernel[triton.cdiv(Sq, BLOCK_M), H, B]"
LAST = "offs_m + 1 + Sk - Sq"
LSE = "(m_i + tl.log2(l_i)) * LN_2"
M_NEW = "m_new = tl.maximum(m_i, tl.max(qk, axis=1))"
P = "p = tl.exp2(qk - m_new[:, None])"
QK = 'tl.dot(q, k.T, input_precision="ieee")'
SHAPE = "    B, H, Sq, D = q.shape"
WHERE = 'qk = tl.where(seen, qk, -float("inf"))'
VISIBLE = "visible = tl.zeros_like(offs_m) + Sk"

mistakes = [
    Mistake(
        "lanes past the last key count as keys",
        swap={VISIBLE: VISIBLE.replace("Sk", "tl.cdiv(Sk, 64) * 64")},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "log2(e) is missing",
        swap={BASE_2: "scale"},
        fails="correct",
        says="log2(e) is missing",
    ),
    Mistake(
        "exp is called on scores in base 2",
        swap={P: P.replace("exp2", "exp"), ALPHA: ALPHA.replace("exp2", "exp")},
        fails="correct",
        says="exp is called where exp2 belongs",
    ),
    Mistake("lse is in base 2", swap={LSE: "m_i + tl.log2(l_i)"}, fails="correct", says="in base 2"),
    Mistake(
        "the sum's logarithm is natural, the maximum in base 2",
        swap={LSE: "m_i + tl.log(l_i)"},
        fails="correct",
        says="two bases",
    ),
    Mistake("the scale is left out", swap={BASE_2: "LOG2_E"}, fails="correct", says="scale is missing"),
    Mistake(
        "the scale is applied twice",
        swap={BASE_2: "(scale * scale * LOG2_E)"},
        fails="correct",
        says="applied twice",
    ),
    Mistake(
        "the scale's sign is lost",
        swap={BASE_2: "(tl.abs(scale) * LOG2_E)"},
        fails="correct",
        says="sign",
    ),
    Mistake(
        "the maximum is taken before a negative scale, which makes it the minimum",
        swap={
            f"{QK} * {BASE_2}": QK,
            M_NEW: f"m_new = tl.maximum(m_i, tl.max(qk, axis=1) * {BASE_2})",
            P: f"p = tl.exp2(qk * {BASE_2} - m_new[:, None])",
        },
        fails="correct",
        says="NaN",
    ),
    Mistake(
        "acc is not rescaled when the maximum rises",
        swap={"acc * alpha[:, None]": "acc"},
        fails="correct",
        says="acc is not rescaled",
    ),
    Mistake(
        "the sum is not rescaled when the maximum rises",
        swap={"l_i * alpha + tl": "l_i + tl"},
        fails="correct",
        says="rescale",
    ),
    Mistake(
        "the running maximum starts at 0",
        swap={"(BLOCK_M,), LOWEST, tl": "(BLOCK_M,), 0.0, tl"},
        fails="correct or edges",
        says="is right",
    ),
    Mistake(
        "-inf is subtracted from -inf in rows that see no key",
        swap={"(BLOCK_M,), LOWEST, tl": '(BLOCK_M,), -float("inf"), tl'},
        fails="correct",
        says="see no key",
    ),
    Mistake(
        "rows that see no key are divided by 0", swap={DIVIDED: "l_i[:, None]"}, fails="correct", says="0 / 0"
    ),
    Mistake(
        "the causal mask is aligned at the top left",
        swap={LAST: "offs_m + 1"},
        fails="correct",
        says="top left",
    ),
    Mistake(
        "the causal mask hides the diagonal",
        swap={LAST: "offs_m + Sk - Sq"},
        fails="correct",
        says="hides the diagonal",
    ),
    Mistake(
        "the causal shift is Sq - Sk",
        swap={LAST: "offs_m + 1 + Sq - Sk"},
        fails="correct",
        says="wrong way round",
    ),
    Mistake(
        "inside of a visited block no key is hidden",
        swap={"[None, :] < visible[:, None]": "[None, :] < Sk"},
        fails="correct",
        says="masks nothing",
    ),
    Mistake(
        "only whole blocks of keys are visited",
        swap={"tl.max(visible, axis=0), ": "tl.max(visible, axis=0) // BLOCK_N * BLOCK_N, "},
        fails="correct",
        says="last keys are left out",
    ),
    Mistake(
        "acc is not divided by the sum",
        swap={f"acc / {DIVIDED}": "acc"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "v is read with k's row stride",
        swap={"v_ptr, start_n, Sk, stride_vn": "v_ptr, start_n, Sk, stride_kn"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "o is written with q's row stride",
        swap={"o_ptr + rows[:, None] * D": "o_ptr + rows[:, None] * stride_qm"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "every head reads the keys and values of head 0",
        swap={" + pid_h * stride_kh": "", " + pid_h * stride_vh": ""},
        fails="correct",
        says="head 0",
    ),
    Mistake(
        "columns past D are read",
        swap={"[:, None] & (offs_d < D)[None, :], other=0.0)": "[:, None], other=0.0)"},
        fails="correct",
        says="mask",
    ),
    Mistake(
        "lse is written without a mask",
        swap={f"{LSE}, mask=offs_m < Sq": LSE},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "the block of the first queries gets no program",
        swap={FIRST: FIRST.replace("tl.program_id(0)", "(tl.program_id(0) + 1)")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the last, partial block of queries gets no program",
        swap={GRID: GRID.replace("triton.cdiv(Sq, BLOCK_M)", "max(Sq // BLOCK_M, 1)")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "scores are rounded to q's dtype",
        swap={QK: QK + ".to(q.dtype).to(tl.float32)"},
        fails="correct",
        says="half precision is too low",
    ),
    Mistake(
        "the sum over the keys is rounded to v's dtype at every block",
        swap={ACC: ACC + ".to(v.dtype).to(tl.float32)"},
        fails="correct",
        says="too low a precision",
    ),
    Mistake(
        "fp32 scores are computed in TF32",
        swap={QK: "tl.dot(q, k.T)"},
        fails="correct",
        says="precision",
    ),
    Mistake(
        "lse has q's dtype",
        swap={"dtype=torch.float32, device": "dtype=q.dtype, device"},
        fails="correct",
        says="fp32 is asked for",
    ),
    Mistake(
        "torch makes q, k and v contiguous first",
        swap={SHAPE: f"    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()\n{SHAPE}"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "-inf is put in before the scale",
        swap={
            f"{QK} * {BASE_2}": QK,
            WHERE: f"{WHERE} * {BASE_2}",
        },
        fails="correct",
        says="is NaN",
    ),
    Mistake(
        "the loop over keys ends with the last query, as if Sq were Sk",
        swap={
            "range(0, tl.max(visible, axis=0), BLOCK_N)": "range(0, tl.minimum(start_m + BLOCK_M, Sk) "
            "if CAUSAL else Sk, BLOCK_N)"
        },
        fails="correct",
        says="the loop ends with key i for query i",
    ),
    Mistake(
        "a tl.where at the end swallows NaN",
        swap={DIVIDED: f"{DIVIDED}\n    o = tl.where(l_i[:, None] > 0, o, 0.0)"},
        fails="limit",
        says="any comparison with NaN is false",
    ),
    Mistake(
        "no maximum is taken",
        swap={
            M_NEW: "m_new = m_i * 0",
            "tl.full((BLOCK_M,), LOWEST, tl.float32)": "tl.zeros((BLOCK_M,), tl.float32)",
        },
        fails="correct",
        says="becomes Inf in fp16",
    ),
    Mistake(
        "a tile is shifted by its own maximum",
        swap={"p = tl.exp2(qk - m_new[:, None])": "p = tl.exp2(qk - tl.max(qk, axis=1)[:, None])"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "v is read by the stride of k's heads",
        swap={"pid_b * stride_vb + pid_h * stride_vh": "pid_b * stride_vb + pid_h * stride_kh"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "alpha is taken from the new maximum twice, and is always 1",
        swap={ALPHA: "alpha = tl.exp2(m_new - m_new)"},
        fails="correct",
        says="Neither acc nor l_i is rescaled",
    ),
    Mistake(
        "the scale goes by the heads' width alone",
        swap={"Sq, k.shape[2], scale, *q": "Sq, k.shape[2], D**-0.5, *q"},
        fails="correct or edges",
        says="not the one that is passed",
    ),
    Mistake(
        "the loop ends after the first block of keys",
        swap={"tl.max(visible, axis=0), BLOCK_N)": "tl.minimum(tl.max(visible, axis=0), BLOCK_N), BLOCK_N)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "a causal tile leaves out the last key that its last query sees",
        swap={
            "range(0, tl.max(visible, axis=0), BLOCK_N)": (
                "range(0, (tl.minimum(Sk, start_m + BLOCK_M - 1 + Sk - Sq) if CAUSAL else Sk), BLOCK_N)"
            ),
        },
        fails="correct",
        says="a small part is left out",
        at="BLOCK_M - 1 + Sk - Sq",
    ),
    Mistake(
        "the sum starts at 1",
        swap={"l_i = tl.zeros((BLOCK_M,), tl.float32)": "l_i = tl.full((BLOCK_M,), 1.0, tl.float32)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "keys and values change places",
        swap={"        q, k, v, o, lse, Sq": "        q, v, k, o, lse, Sq"},
        fails="correct",
        says="Keys and values have changed places",
    ),
]
