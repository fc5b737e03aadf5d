"""Day 32: what a flash attention forward pass gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ACC = 'acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")'
ALPHA = "alpha = tl.exp2(m_i - m_new)"
BASE_2 = "(scale * LOG2_E)"
DIVIDED = "tl.where(l_i == 0, 1.0, l_i)[:, None]"
FIRST = "start_m = tl.program_id(0) * BLOCK_M"
LAST = "offs_m + 1 + Sk - Sq"
LSE = "(m_i + tl.log2(l_i)) * LN_2"
M_NEW = "m_new = tl.maximum(m_i, tl.max(qk, axis=1))"
P = "p = tl.exp2(qk - m_new[:, None])"
QK = 'tl.dot(q, k.T, input_precision="ieee")'
SHAPE = "    B, H, Sq, D = q.shape"
WHERE = 'qk = tl.where(seen, qk, -float("inf"))'
VISIBLE = "visible = tl.zeros_like(offs_m) + Sk"

# fmt: off
mistakes = [
    Mistake("lanes past the last key count as keys", {VISIBLE: VISIBLE.replace("Sk", "tl.cdiv(Sk, 64) * 64")},
            "is right"),
    Mistake("log2(e) is missing", {BASE_2: "scale"}, "log2(e) is missing"),
    Mistake("exp is called on scores in base 2",
            {P: P.replace("exp2", "exp"), ALPHA: ALPHA.replace("exp2", "exp")},
            "exp is called where exp2 belongs"),
    Mistake("lse is in base 2", {LSE: "m_i + tl.log2(l_i)"}, "in base 2"),
    Mistake("the sum's logarithm is natural, the maximum in base 2", {LSE: "m_i + tl.log(l_i)"}, "two bases"),
    Mistake("the scale is left out", {BASE_2: "LOG2_E"}, "scale is missing"),
    Mistake("the scale is applied twice", {BASE_2: "(scale * scale * LOG2_E)"}, "applied twice"),
    Mistake("the scale's sign is lost", {BASE_2: "(tl.abs(scale) * LOG2_E)"}, "sign"),
    Mistake("the maximum is taken before a negative scale, which makes it the minimum",
            {f"{QK} * {BASE_2}": QK, M_NEW: f"m_new = tl.maximum(m_i, tl.max(qk, axis=1) * {BASE_2})",
             P: f"p = tl.exp2(qk * {BASE_2} - m_new[:, None])"}, "NaN"),
    Mistake("acc is not rescaled when the maximum rises", {"acc * alpha[:, None]": "acc"},
            "acc is not rescaled"),
    Mistake("the sum is not rescaled when the maximum rises", {"l_i * alpha + tl": "l_i + tl"}, "rescale"),
    Mistake("the running maximum starts at 0", {"(BLOCK_M,), LOWEST, tl": "(BLOCK_M,), 0.0, tl"}, "is right",
            fails="correct or edges"),
    Mistake("-inf is subtracted from -inf in rows that see no key",
            {"(BLOCK_M,), LOWEST, tl": '(BLOCK_M,), -float("inf"), tl'}, "see no key"),
    Mistake("rows that see no key are divided by 0", {DIVIDED: "l_i[:, None]"}, "0 / 0"),
    Mistake("the causal mask is aligned at the top left", {LAST: "offs_m + 1"}, "top left"),
    Mistake("the causal mask hides the diagonal", {LAST: "offs_m + Sk - Sq"}, "hides the diagonal"),
    Mistake("the causal shift is Sq - Sk", {LAST: "offs_m + 1 + Sq - Sk"}, "wrong way round"),
    Mistake("inside of a visited block no key is hidden", {"[None, :] < visible[:, None]": "[None, :] < Sk"},
            "masks nothing"),
    Mistake("only whole blocks of keys are visited",
            {"tl.max(visible, axis=0), ": "tl.max(visible, axis=0) // BLOCK_N * BLOCK_N, "},
            "last keys are left out"),
    Mistake("v is read with k's row stride",
            {"v_ptr, start_n, Sk, stride_vn": "v_ptr, start_n, Sk, stride_kn"}, "is right"),
    Mistake("every head reads the keys and values of head 0",
            {" + pid_h * stride_kh": "", " + pid_h * stride_vh": ""}, "head 0"),
    Mistake("columns past D are read",
            {"[:, None] & (offs_d < D)[None, :], other=0.0)": "[:, None], other=0.0)"}, "mask"),
    Mistake("lse is written without a mask", {f"{LSE}, mask=offs_m < Sq": LSE}, "Unmasked store"),
    Mistake("the block of the first queries gets no program",
            {FIRST: FIRST.replace("tl.program_id(0)", "(tl.program_id(0) + 1)")}, "never written"),
    Mistake("scores are rounded to q's dtype", {QK: QK + ".to(q.dtype).to(tl.float32)"},
            "too low a precision"),
    Mistake("the sum over the keys is rounded to v's dtype at every block",
            {ACC: ACC + ".to(v.dtype).to(tl.float32)"}, "too low a precision"),
    Mistake("fp32 scores are computed in TF32", {QK: "tl.dot(q, k.T)"}, "precision"),
    Mistake("lse has q's dtype", {"dtype=torch.float32, device": "dtype=q.dtype, device"},
            "fp32 is asked for"),
    Mistake("torch makes q, k and v contiguous first",
            {SHAPE: f"    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()\n{SHAPE}"}, "torch",
            fails="honest"),
    Mistake("-inf is put in before the scale", {f"{QK} * {BASE_2}": QK, WHERE: f"{WHERE} * {BASE_2}"},
            "is NaN"),
    Mistake("the loop over keys ends with the last query, as if Sq were Sk",
            {"range(0, tl.max(visible, axis=0), BLOCK_N)": "range(0, tl.minimum(start_m + BLOCK_M, Sk) "
             "if CAUSAL else Sk, BLOCK_N)"}, "the loop ends with key i for query i"),
    Mistake("a tl.where at the end swallows NaN",
            {DIVIDED: f"{DIVIDED}\n    o = tl.where(l_i[:, None] > 0, o, 0.0)"}, "where nan is right",
            fails="limit"),
    Mistake("no maximum is taken",
            {M_NEW: "m_new = m_i * 0",
             "tl.full((BLOCK_M,), LOWEST, tl.float32)": "tl.zeros((BLOCK_M,), tl.float32)"},
            "becomes Inf in fp16"),
    Mistake("alpha is taken from the new maximum twice, and is always 1",
            {ALPHA: "alpha = tl.exp2(m_new - m_new)"}, "Neither acc nor l_i is rescaled"),
    Mistake("the scale goes by the heads' width alone",
            {"Sq, k.shape[2], scale, *q": "Sq, k.shape[2], D**-0.5, *q"}, "not the one that is passed",
            fails="correct or edges"),
    Mistake(
        "a causal tile leaves out the last key that its last query sees",
        {
            "range(0, tl.max(visible, axis=0), BLOCK_N)": (
                "range(0, (tl.minimum(Sk, start_m + BLOCK_M - 1 + Sk - Sq) if CAUSAL else Sk), BLOCK_N)"
            )
        },
        "is right",
    ),
    Mistake("keys and values change places", {"        q, k, v, o, lse, Sq": "        q, v, k, o, lse, Sq"},
            "Keys and values have changed places"),
]
