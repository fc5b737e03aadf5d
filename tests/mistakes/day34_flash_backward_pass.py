"""Day 34: what a flash attention backward pass gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

DELTA = "tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)"
DK = 'dk = tl.dot(ds_t.to(q.dtype), q, dk, input_precision="ieee")'
DK_OUT = "dk_ptr + pid_bh * Sk * D, dk * scale,"
DKDV_GRID = "dkdv_kernel[triton.cdiv(Sk, tall), H, B]"
DO_READ = "offs_d[None, :] * stride_xd"
DQ = 'dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")'
DQ_OUT = "dq_ptr + pid_bh * Sq * D, dq * scale,"
DS = "ds = p * (dp - delta)"
DV = 'dv = tl.dot(p_t.to(do.dtype), do, dv, input_precision="ieee")'
DV_OUT = "dv_ptr + pid_bh * Sk * D, dv,"
FIRST = "first = tl.maximum(start_n + Sq - Sk, 0)"
DQ_LAUNCH = """    dq_kernel[triton.cdiv(Sq, tall), H, B](
        *inputs, dq, Sq, Sk, scale, *strides, BLOCK_M=tall, BLOCK_N=narrow, **options
    )
"""
LOADED = """        lse = tl.load(lse_ptr + pid_bh * Sq + offs_m, mask=offs_m < Sq, other=0.0)
        delta ="""
DELTA_ROWS = """        delta = tl.load(delta_ptr + pid_bh * Sq + offs_m, mask=offs_m < Sq, other=0.0)
        seen"""
MASK = "p = tl.where(seen, p, 0.0)"
NEW_DQ = "dq, dk, dv = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k, v))"
P = 'p = tl.exp(tl.dot(q, k.T, input_precision="ieee") * scale - lse)'
QK = 'tl.dot(q, k.T, input_precision="ieee")'
READ_V = """        v = load_rows(v_ptr, start_n, Sk, stride_vn, 1, D, BLOCK_N, BLOCK_D)
        seen"""
QUERIES = "range(first, Sq, BLOCK_M)"
KEYS = "range(0, tl.max(visible, axis=0), BLOCK_N)"
SEEN = "seen = start_n + tl.arange(0, BLOCK_N)[None, :] < visible[:, None]"
SEEN_T = "seen = offs_n[:, None] < keys_seen(offs_m, Sq, Sk, CAUSAL)[None, :]"
VISIBLE = "tl.minimum(visible, offs_m + 1 + Sk - Sq)"
ADD_DQ = f"""{DK}
        offs_d = tl.arange(0, BLOCK_D)
        dq_ptrs = dq_ptr + (pid_bh * Sq + offs_m)[:, None] * D + offs_d[None, :]
        there = (offs_m < Sq)[:, None] & (offs_d < D)[None, :]
        dq = tl.load(dq_ptrs, mask=there, other=0.0).to(tl.float32)
        dq += tl.dot(ds_t.T.to(q.dtype), k, input_precision="ieee") * scale
        tl.store(dq_ptrs, dq.to(q.dtype), mask=there)"""
TORCH_DELTA = "    delta = (o.float() * do.float()).sum(dim=-1)"

HEAD_OF_DELTA = """behind the first one.
    pid_b, pid_h = tl.program_id(2).to(tl.int64), tl.program_id(1).to(tl.int64)"""

# fmt: off
mistakes = [
    Mistake("dv is rounded to 16 bits at every block", {DV: f"{DV}.to(do.dtype).to(tl.float32)"},
            "precision"),
    Mistake("a head of dk begins where one of dq would",
            {"store_rows(dk_ptr + pid_bh * Sk * D": "store_rows(dk_ptr + pid_bh * Sq * D"},
            "past the end of"),
    Mistake("dk knows no heads",
            {"store_rows(dk_ptr + pid_bh * Sk * D": "store_rows(dk_ptr + pid_b * Sk * D"}, "never written"),
    Mistake("the scale is missing in p", {P: P.replace(" * scale", "")}, "missing in p"),
    Mistake("the scale is missing in dq", {DQ_OUT: DQ_OUT.replace(" * scale", "")}, "missing in dq"),
    Mistake("the scale is missing in dk", {DK_OUT: DK_OUT.replace(" * scale", "")}, "missing in dk"),
    Mistake("the scale is applied to ds and to dq", {DQ: DQ.replace("ds.to", "(ds * scale).to")},
            "applied twice in dq"),
    Mistake("the scale is applied to dsᵀ and to dk", {DK: DK.replace("ds_t.to", "(ds_t * scale).to")},
            "applied twice in dk"),
    Mistake("dk is made from a q that was multiplied for exp2",
            {DK_OUT: DK_OUT.replace("scale", "(scale * 1.4426950408889634)")}, "log2(e) is in dk"),
    Mistake("dv is multiplied by the scale", {DV_OUT: DV_OUT.replace(" dv,", " dv * scale,")},
            "applied to dv"),
    Mistake("exp2 is given natural scores and lse", {P: P.replace("exp(", "exp2(")}, "exp2 is called"),
    Mistake("lse is not brought to base 2",
            {P: P.replace("exp(", "exp2(").replace("scale", "scale * 1.4426950408889634")}, "and not lse"),
    Mistake("the scores are not brought to base 2",
            {P: P.replace("exp(", "exp2(").replace("lse", "lse * 1.4426950408889634")}, "and not the scores"),
    Mistake("delta is not subtracted", {DS: "ds = p * dp"}, "delta is missing"),
    Mistake("delta is added", {DS: DS.replace("-", "+")}, "delta is added"),
    Mistake("delta is subtracted outside of the product", {DS: "ds = p * dp - delta"},
            "outside of the product"),
    Mistake("delta is made from do alone",
            {DELTA: DELTA.replace("o.to(tl.float32) * do", "do.to(tl.float32) * do")}, "Σ do ∘ do"),
    Mistake("dv is made from dsᵀ", {DV: DV.replace("p_t.to", "ds_t.to")}, "dv is dsᵀ do"),
    Mistake(
        "only the last block of queries counts in dk and dv",
        {DK: DK.replace("q, dk,", "q,"), DV: DV.replace("do, dv,", "do,")},
        "is right",
        on_gpu="Only the last block of queries counts in dk and dv: each turn of the loop must add to them.",
    ),
    Mistake("only the last block of keys counts in dq", {DQ: DQ.replace("k, dq,", "k,")},
            "last block of keys counts"),
    Mistake("the causal mask is aligned at the top left",
            {VISIBLE: "tl.minimum(visible, offs_m + 1)", FIRST: "first = start_n"}, "top left"),
    Mistake("the causal mask hides the diagonal", {VISIBLE: "tl.minimum(visible, offs_m + Sk - Sq)"},
            "hides the diagonal"),
    Mistake("the loop over queries starts at start_n, as if Sq were Sk", {FIRST: "first = start_n"},
            "starts at query start_n"),
    Mistake("the loop over queries starts behind the diagonal",
            {FIRST: "first = tl.maximum(start_n + BLOCK_N - 1 + Sq - Sk, 0)"}, "left out of dk and dv"),
    Mistake("the diagonal is not masked in the loop over queries", {SEEN_T: "seen = offs_n[:, None] < Sk"},
            "causal"),
    Mistake("both loops stop at the diagonal although causal is False",
            {"    first = 0": "    first = start_n",
             KEYS: "range(0, tl.minimum(start_m + BLOCK_M, tl.max(visible, axis=0)), BLOCK_N)"},
            "although causal is False", on_gpu="sees keys up to i + Sk - Sq"),
    Mistake("the mask is on although causal is False", {'"CAUSAL": causal': '"CAUSAL": True'},
            "though causal is False"),
    Mistake("only whole blocks of queries are visited for dk and dv",
            {QUERIES: QUERIES.replace("Sq", "Sq // BLOCK_M * BLOCK_M")}, "visits whole blocks only",
            on_gpu="last queries are left out"),
    Mistake("only whole blocks of keys are visited for dq",
            {KEYS: KEYS.replace("axis=0)", "axis=0) // BLOCK_N * BLOCK_N")}, "last keys are left out"),
    Mistake("hidden weights are multiplied by 0", {MASK: "p = p * seen"}, "see no key"),
    Mistake("keys past the end are not masked in dq", {SEEN: SEEN + " | (visible[:, None] == Sk)"},
            "Keys past the end count in dq"),
    Mistake("lse and delta of lanes past the end are read",
            {LOADED: LOADED.replace(", mask=offs_m < Sq, other=0.0", "")}, "mask"),
    Mistake("do's last stride is taken for 1", {DO_READ: "offs_d[None, :]"}, "stride"),
    Mistake("torch computes delta", {"    inputs = q": f"{TORCH_DELTA}\n    inputs = q"}, "torch",
            fails="honest"),
    Mistake(
        "scores are rounded to q's dtype once they are scaled",
        {f"p = tl.exp({QK} * scale - lse)": f"p = tl.exp(({QK} * scale).to(q.dtype).to(tl.float32) - lse)"},
        "too low a precision",
    ),
    Mistake("dq is fp32 whatever q is", {NEW_DQ: f"{NEW_DQ}\n    dq = torch.empty(q.shape, device=q.device)"},
            "fp16 is asked for"),
    Mistake("programs of other keys read dq, add to it and write it, all at once",
            {NEW_DQ: NEW_DQ.replace("torch.empty", "torch.zeros"),
             f"{DKDV_GRID}(\n        *inputs, dk, dv,": f"{DKDV_GRID}(\n        *inputs, dk, dv, dq,",
             DQ_LAUNCH: "", "dk_ptr, dv_ptr, Sq": "dk_ptr, dv_ptr, dq_ptr, Sq", DK: ADD_DQ}, "program"),
    Mistake("delta is forgotten in the kernel for dk and dv",
            {"lse[None, :], delta[None, :]": "lse[None, :], 0.0"}, "In dk, not in dq: delta is missing"),
    Mistake("delta is forgotten in the kernel for dq", {"lse[:, None], delta[:, None]": "lse[:, None], 0.0"},
            "In dq, not in dk: delta is missing"),
    Mistake(
        "the kernel for dq masks nothing",
        {
            "    visible = keys_seen(offs_m, Sq, Sk, CAUSAL)\n": (
                "    visible = keys_seen(offs_m, Sq, Sk, False)\n"
            )
        },
        "In dq, not in dk and dv: causal=True masks nothing",
    ),
    Mistake("the kernel for dk and dv hides the diagonal",
            {SEEN_T: "seen = offs_n[:, None] + CAUSAL < keys_seen(offs_m, Sq, Sk, CAUSAL)[None, :]"},
            "In dk and dv, not in dq: The causal mask hides the diagonal"),
    Mistake("the keys of dq end at the diagonal of a square",
            {KEYS: "range(0, tl.minimum(start_m + BLOCK_M, Sk) if CAUSAL else Sk, BLOCK_N)"},
            "The loop for dq ends with key i"),
    Mistake("half done: dv alone",
            {"    store_rows(dk_ptr + pid_bh * Sk * D, dk * scale, start_n, Sk, D, BLOCK_N, BLOCK_D)\n": ""},
            "Still in the file is “TODO 8", undone=("dq_kernel", "flash_backward"),
            so_far="dscores ✓ · dv ✓ · not started: dk, dq, launches"),
    Mistake("half done: dq without the scale, and no dk and dv", {"dq * scale": "dq"},
            "Still in the file is “TODO 8", undone=("dkdv_kernel", "flash_backward"),
            so_far="dscores ✓ · dq ✗ · not started: dv, dk, launches"),
    Mistake("the loop over keys reads v by k's rows", {READ_V: READ_V.replace("stride_vn", "stride_kn")},
            "is right"),
    Mistake("the first query may lie before the tensor", {FIRST: "first = start_n + Sq - Sk"},
            "before the start of q", at="load_rows(q_ptr, start_m"),
    Mistake("the first query is counted from the wrong end",
            {FIRST: "first = tl.maximum(start_n + Sk - Sq, 0)"},
            ("as if nothing was added up for them", "the wrong way round")),
    Mistake("the first query that sees a key is counted as the one behind it",
            {FIRST: "first = tl.maximum(start_n + Sq - Sk + 1, 0) // BLOCK_M * BLOCK_M"}, "is right",
            fails="edges"),
    Mistake(
        "a causal tile leaves out the last key that its last query sees, in dq",
        {
            "range(0, tl.max(visible, axis=0), BLOCK_N)": (
                "range(0, (tl.minimum(Sk, start_m + BLOCK_M - 1 + Sk - Sq) if CAUSAL else Sk), BLOCK_N)"
            )
        },
        ("dk and dv: right in every case", "too low a precision"),
        fails="edges",
    ),
    Mistake("the loop over queries starts a block late", {FIRST: f"{FIRST} + BLOCK_M"},
            "the loop starts behind them", at="range(first, Sq, BLOCK_M)"),
    Mistake("delta is that of the batch's first head",
            {DELTA_ROWS: DELTA_ROWS.replace("pid_bh * Sq", "pid_b * Sq")}, "is right"),
    Mistake(
        "half done: dq is added up, and not written",
        {
            "    store_rows(dq_ptr + pid_bh * Sq * D, dq * scale, start_m, Sq, D, BLOCK_M, BLOCK_D)\n": (
                "    # TODO 7: dq is multiplied by the scale once. Write it.\n"
            )
        },
        "Still in the file is “TODO 7",
        at="# TODO 7",
    ),
    Mistake(
        "all blocks of queries of all heads stand along axis 1",
        {
            "delta_kernel[triton.cdiv(Sq, narrow), H, B]": "delta_kernel[H, triton.cdiv(Sq, narrow), B]",
            HEAD_OF_DELTA: HEAD_OF_DELTA.replace("id(1)", "id(0)"),
            "start_m = tl.program_id(0) * BLOCK_M\n    # The only read of o": (
                "start_m = tl.program_id(1) * BLOCK_M\n    # The only read of o"
            ),
            "(pid_b * tl.num_programs(1) + pid_h) * Sq + offs_m": (
                "(pid_b * tl.num_programs(0) + pid_h) * Sq + offs_m"
            ),
            "tall, narrow = 64, 32": "tall, narrow = 16, 16",
        },
        "CUDA refuses to launch it",
        fails="limit",
    ),
    Mistake("only deltas that are not 0 are stored",
            {"+ offs_m, delta, mask=offs_m < Sq)": "+ offs_m, delta, mask=(offs_m < Sq) & (delta != 0))"},
            "made from memory that nobody wrote"),
]
