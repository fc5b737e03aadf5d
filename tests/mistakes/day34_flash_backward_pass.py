"""Day 34: what a flash attention backward pass gets wrong, and what the grader must say about it."""

from __future__ import annotations

from grader.dev.planted import Mistake

BLOCKS = "triton.cdiv(Sq, BLOCK_M) if kernel is dq_kernel else triton.cdiv(Sk, BLOCK_N)"
CAUSAL_T = "p_t = tl.where(offs_n[:, None] <= offs_m[None, :] + Sk - Sq, p_t, 0.0)"
DELTA = "tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)"
DK = 'dk = tl.dot(ds_t.to(q.dtype), q, dk, input_precision="ieee")'
DK_OUT = "store_rows(dk_ptr, dk * scale"
DO_READ = "offs_d[None, :] * stride_d"
DP_T = 'dp_t = tl.dot(v, do.T, input_precision="ieee")'
DQ = 'dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")'
DQ_OUT = "store_rows(dq_ptr, dq * scale"
DS = "ds = p * (dp - delta[:, None])"
DS_T = "ds_t = p_t * (dp_t - delta[None, :])"
DV = 'dv = tl.dot(p_t.to(do.dtype), do, dv, input_precision="ieee")'
FIRST = "first = tl.maximum(start_n + Sq - Sk, 0)"
LSE2 = "tl.store(lse2_ptr + rows, lse * LOG2_E, mask=offs_m < Sq)"
MASK = "p = tl.where(start_n + offs_n[None, :] < visible[:, None], p, 0.0)"
P = "p = tl.exp2(qk * (scale * LOG2_E) - lse2[:, None])"
P_T = "p_t = tl.exp2(qk_t * (scale * LOG2_E) - lse2[None, :])"
QUERIES = "range(whole if WHOLE else first, Sq if WHOLE else tl.minimum(whole, Sq), BLOCK_M)"
SHAPE = "    B, H, Sq, D = q.shape"
VISIBLE = "tl.minimum(visible, offs_m + 1 + Sk - Sq)"
KEYS = "range(edge if MASKED else 0, end if MASKED else edge, BLOCK_N)"
QK = 'qk = tl.dot(q, k.T, input_precision="ieee")'
QK_T = 'qk_t = tl.dot(k, q.T, input_precision="ieee")'
LSE2_T = "lse2 = tl.load(lse2_ptr + offs_m, mask=offs_m < Sq, other=0.0)"
LAUNCHES = "((dkdv_kernel, (dk, dv), dkdv_tile), (dq_kernel, (dq,), dq_tile))"
ADD_DQ = f"""{DK}
            offs_d = tl.arange(0, BLOCK_D)
            dq_ptrs = dq_ptr + (pid_bh.to(tl.int64) * Sq + offs_m)[:, None] * D + offs_d[None, :]
            there = (offs_m < Sq)[:, None] & (offs_d < D)[None, :]
            dq = tl.load(dq_ptrs, mask=there, other=0.0).to(tl.float32)
            ds = tl.where(offs_n[:, None] < Sk, ds_t, 0.0).T.to(q.dtype)
            dq += tl.dot(ds, k, input_precision="ieee") * scale
            tl.store(dq_ptrs, dq.to(q.dtype), mask=there)"""
TORCH_DELTA = "    delta = (o.float() * do.float()).sum(dim=-1)"


def both(edit) -> dict[str, str]:
    """The same edit where p is made from scores in both loops."""
    return {P: edit(P), P_T: edit(P_T)}


mistakes = [
    Mistake(
        "the scale is missing in p",
        swap=both(lambda p: p.replace("(scale * LOG2_E)", "LOG2_E")),
        fails="correct",
        says="missing in p",
    ),
    Mistake(
        "the scale is missing in dq",
        swap={DQ_OUT: "store_rows(dq_ptr, dq"},
        fails="correct",
        says="missing in dq",
    ),
    Mistake(
        "the scale is missing in dk",
        swap={DK_OUT: "store_rows(dk_ptr, dk"},
        fails="correct",
        says="missing in dk",
    ),
    Mistake(
        "the scale is applied to ds and to dq",
        swap={DS: f"{DS} * scale"},
        fails="correct",
        says="applied twice in dq",
    ),
    Mistake(
        "the scale is applied to dsᵀ and to dk",
        swap={DS_T: f"{DS_T} * scale"},
        fails="correct",
        says="applied twice in dk",
    ),
    Mistake(
        "dk is made from a q that was multiplied for exp2",
        swap={DK_OUT: "store_rows(dk_ptr, dk * scale * LOG2_E"},
        fails="correct",
        says="log2(e) is in dk",
    ),
    Mistake(
        "dv is multiplied by the scale",
        swap={"store_rows(dv_ptr, dv,": "store_rows(dv_ptr, dv * scale,"},
        fails="correct",
        says="applied to dv",
    ),
    Mistake(
        "exp2 is given natural scores and lse",
        swap={**both(lambda p: p.replace("(scale * LOG2_E)", "scale")), LSE2: LSE2.replace(" * LOG2_E", "")},
        fails="correct",
        says="exp2 is called",
    ),
    Mistake(
        "lse is not brought to base 2",
        swap={LSE2: LSE2.replace(" * LOG2_E", "")},
        fails="correct",
        says="and not lse",
    ),
    Mistake(
        "the scores are not brought to base 2",
        swap=both(lambda p: p.replace("(scale * LOG2_E)", "scale")),
        fails="correct",
        says="and not the scores",
    ),
    Mistake(
        "delta is not subtracted",
        swap={DS: "ds = p * dp", DS_T: "ds_t = p_t * dp_t"},
        fails="correct",
        says="delta is missing",
    ),
    Mistake(
        "delta is added",
        swap={DS: DS.replace("-", "+"), DS_T: DS_T.replace("-", "+")},
        fails="correct",
        says="delta is added",
    ),
    Mistake(
        "delta is subtracted outside of the product",
        swap={DS: "ds = p * dp - delta[:, None]", DS_T: "ds_t = p_t * dp_t - delta[None, :]"},
        fails="correct",
        says="outside of the product",
    ),
    Mistake(
        "delta is made from do alone",
        swap={DELTA: DELTA.replace("o.to(tl.float32) * do", "do.to(tl.float32) * do")},
        fails="correct",
        says="Σ do ∘ do",
    ),
    Mistake(
        "dv is made from dsᵀ",
        swap={DV: "dv = dv", DS_T: f"{DS_T}\n            " + DV.replace("p_t.to", "ds_t.to")},
        fails="correct",
        says="dv is dsᵀ do",
    ),
    Mistake(
        "only the last block of queries counts in dk and dv",
        swap={DK: DK.replace("q, dk,", "q,"), DV: DV.replace("do, dv,", "do,")},
        fails="correct",
        says="last block of queries counts",
    ),
    Mistake(
        "only the last block of keys counts in dq",
        swap={DQ: DQ.replace("k, dq,", "k,")},
        fails="correct",
        says="last block of keys counts",
    ),
    Mistake(
        "the causal mask is aligned at the top left",
        swap={
            VISIBLE: "tl.minimum(visible, offs_m + 1)",
            CAUSAL_T: CAUSAL_T.replace(" + Sk - Sq", ""),
            FIRST: "first = start_n",
            "last = tl.maximum(start_n + BLOCK_N - 1 + Sq - Sk, 0)": "last = start_n + BLOCK_N - 1",
        },
        fails="correct",
        says="top left",
    ),
    Mistake(
        "the causal mask hides the diagonal",
        swap={VISIBLE: "tl.minimum(visible, offs_m + Sk - Sq)", CAUSAL_T: CAUSAL_T.replace("<=", "<")},
        fails="correct",
        says="hides the diagonal",
    ),
    Mistake(
        "the loop over queries starts at start_n, as if Sq were Sk",
        swap={FIRST: "first = start_n"},
        fails="correct",
        says="starts at query start_n",
    ),
    Mistake(
        "the loop over queries starts behind the diagonal",
        swap={"tl.static_range(0 if CAUSAL else 1, 2)": "tl.static_range(1, 2)"},
        fails="correct",
        says="left out of dk and dv",
    ),
    Mistake(
        "the diagonal is not masked in the loop over queries",
        swap={CAUSAL_T: "p_t = p_t"},
        fails="correct",
        says="causal",
    ),
    Mistake(
        "both loops stop at the diagonal although causal is False",
        swap={
            "    first, whole = 0, 0": "    first, whole = start_n, start_n",
            "    visible = tl.full((BLOCK_M,), Sk, tl.int32)": (
                "    visible = tl.minimum(tl.full((BLOCK_M,), start_m + BLOCK_M, tl.int32), Sk)"
            ),
        },
        fails="correct",
        says="although causal is False",
    ),
    Mistake(
        "the mask is on although causal is False",
        swap={"CAUSAL=causal,": "CAUSAL=True,"},
        fails="correct",
        says="though causal is False",
    ),
    Mistake(
        "only whole blocks of queries are visited for dk and dv",
        swap={QUERIES: QUERIES.replace("Sq if", "Sq // BLOCK_M * BLOCK_M if")},
        fails="correct",
        says="last queries are left out",
    ),
    Mistake(
        "only whole blocks of keys are visited for dq",
        swap={KEYS: KEYS.replace("end if", "end // BLOCK_N * BLOCK_N if")},
        fails="correct",
        says="last keys are left out",
    ),
    Mistake(
        "hidden weights are multiplied by 0",
        swap={
            MASK: "p = p * (start_n + offs_n[None, :] < visible[:, None])",
            CAUSAL_T: "p_t = p_t * (offs_n[:, None] <= offs_m[None, :] + Sk - Sq)",
        },
        fails="correct",
        says="see no key",
    ),
    Mistake(
        "keys past the end are not masked in dq",
        swap={MASK: "p = tl.where(visible[:, None] < Sk, " + MASK.removeprefix("p = ") + ", p)"},
        fails="correct",
        says="Keys past the end count in dq",
    ),
    Mistake(
        "lse and delta of lanes past the end are read",
        swap={
            LSE2_T: "lse2 = tl.load(lse2_ptr + offs_m)",
        },
        fails="correct",
        says="mask",
    ),
    Mistake(
        "do's last stride is taken for 1",
        swap={DO_READ: "offs_d[None, :]"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "do is read with q's row stride",
        swap={
            "do_ptr, pid_b, pid_h, start_m, Sq, stride_dom, stride_dod, D, BLOCK_M, BLOCK_D, False": (
                "do_ptr, pid_b, pid_h, start_m, Sq, stride_om, stride_dod, D, BLOCK_M, BLOCK_D, False"
            )
        },
        fails="correct",
        says="stride",
    ),
    Mistake(
        "torch makes do contiguous first",
        swap={SHAPE: f"    do = do.contiguous()\n{SHAPE}"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "torch computes delta",
        swap={
            "    descriptors = suits": f"{TORCH_DELTA}\n    descriptors = suits",
        },
        fails="honest",
        says="torch",
    ),
    Mistake(
        "scores are rounded to q's dtype",
        swap={QK: QK + ".to(q.dtype).to(tl.float32)", QK_T: QK_T + ".to(q.dtype).to(tl.float32)"},
        fails="correct",
        says="precision",
    ),
    Mistake(
        "fp32 products are computed in TF32",
        swap={QK: "qk = tl.dot(q, k.T)", QK_T: "qk_t = tl.dot(k, q.T)"},
        fails="correct",
        says="precision",
        gpu=True,
    ),
    Mistake(
        "dq is fp32 whatever q is",
        swap={
            "dq = torch.empty(B, H, Sq, D, dtype=q.dtype": "dq = torch.empty(B, H, Sq, D, dtype=torch.float32"
        },
        fails="correct",
        says="fp16 is asked for",
    ),
    Mistake(
        "the last, partial block gets no program",
        swap={BLOCKS: BLOCKS.replace("triton.cdiv(Sq, BLOCK_M)", "(Sq // BLOCK_M or min(Sq, 1))")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "programs of other keys read dq, add to it and write it, all at once",
        swap={
            "dq = torch.empty(": "dq = torch.zeros(",
            LAUNCHES: "((dkdv_kernel, (dk, dv, dq), dkdv_tile),)",
            "    dv_ptr,\n    H,": "    dv_ptr,\n    dq_ptr,\n    H,",
            DK: ADD_DQ,
        },
        fails="correct",
        says="program",
    ),
]
