"""Day 35: what complete flash attention gets wrong, and what the grader must say about it."""

from __future__ import annotations

from grader.dev.planted import Mistake

APPLY = "return FlashAttention.apply(q, k, v, scale, causal)"
BACKWARD = "backward(*ctx.saved_tensors, do, ctx.scale, ctx.causal)"
DELTA_DQ = "ds = p * (dp - delta[:, None])"
DELTA_DK = "ds_t = p_t * (dp_t - delta[None, :])"
DQ_LAUNCH = "    launch(dq_kernel, (q, k, v, do), (lse2, delta, o, dq), scale, causal)\n"
DKDV_LAUNCH = "    launch(dkdv_kernel, (q, k, v, do), (lse2, delta, dk, dv), scale, causal)\n"
DO_CONTIGUOUS = "strides = [s for x in [*sources[:3], *map(empty_like, sources[3:])] for s in x.stride()]"
DO_ROWS = "do_ptr, pid_b, pid_h, start_m, Sq, stride_dom, stride_dod, D,"
FIRST = "first = tl.maximum(start_n + Sq - Sk, 0)"
GROUP_LOOP = "for member in range(GROUP):"
HEADS = "heads, blocks = Hk, triton.cdiv(Sk, BLOCK_N)"
KEY_HEAD = "return pid_h // GROUP"
LSE = "m_i + tl.log2(l_i), mask"
MASK = "p = tl.where(start + offs_n[None, :] < visible[:, None], p, 0.0)"
MASK_T = "p_t = tl.where(offs_n[:, None] <= offs_m[None, :] + Sk - Sq, p_t, 0.0)"
MEMBER = "pid_h = pid_kh * GROUP + member"
NEW_GRADS = "dq, dk, dv = empty_like(q), empty_like(k), empty_like(v)"
O_NEW = "o, lse2 = empty_like(q), q"
REPEATED = "k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], dim=1) for x in (k, v))"
RETURN = "return dq, dk, dv, None, None"
ROWS = "rows = (pid_b * Hk * GROUP + pid_h) * Sq"
SAVE = "ctx.save_for_backward(q, k, v, o, lse2)"
SCALE = "max(abs(scale) * math.log2(math.e), 1e-30)"
SDPA = "torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=scale, enable_gqa=True)"
SEEN = "visible = tl.minimum(visible, offs_m + 1 + Sk - Sq)"
STRIDES = "strides = [stride for x in sources for stride in x.stride()]"
WHOLE = "whole = first + tl.cdiv(tl.maximum(start_n + BLOCK_N - 1 + Sq - Sk, 0) - first, BLOCK_M) * BLOCK_M"

mistakes = [
    Mistake(
        "every query head reads key head 0",
        swap={KEY_HEAD: "return pid_h * 0"},
        fails="correct",
        says="key head 0",
    ),
    Mistake(
        "query head h reads key head h", swap={KEY_HEAD: "return pid_h"}, fails="correct", says="past the end"
    ),
    Mistake(
        "the number in the group is taken for the group's",
        swap={KEY_HEAD: "return pid_h % GROUP"},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "only the first head of a group counts in dk and dv",
        swap={GROUP_LOOP: "for member in range(1):"},
        fails="correct",
        says="first query head of each group alone",
    ),
    Mistake(
        "dk and dv start anew with every head of the group",
        swap={
            MEMBER: f"{MEMBER}\n        dk = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)\n"
            "        dv = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)"
        },
        fails="correct",
        says="last query head of each group alone",
    ),
    Mistake(
        "the last head of a group is left out of dk and dv",
        swap={GROUP_LOOP: "for member in range(max(GROUP - 1, 1)):"},
        fails="correct",
        says="query head of each group",
    ),
    Mistake(
        "dk and dv are means over the group",
        swap={
            "store_rows(dk_ptr, dk * scale,": "store_rows(dk_ptr, dk * scale / GROUP,",
            "store_rows(dv_ptr, dv,": "store_rows(dv_ptr, dv / GROUP,",
        },
        fails="correct",
        says="means over the query heads",
    ),
    Mistake(
        "dk and dv take every Hk-th query head",
        swap={MEMBER: "pid_h = pid_kh + member * Hk"},
        fails="correct",
        says="neighbours",
    ),
    Mistake(
        "dkdv_kernel gets programs for query heads",
        swap={HEADS: HEADS.replace("Hk", "Hq")},
        fails="correct",
        says="past the end",
    ),
    Mistake(
        "dkdv_kernel gets as many programs as there are blocks of queries",
        swap={HEADS: "heads, blocks = Hk, blocks"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "lse and delta are those of the key head's number",
        swap={ROWS: "rows = pid_bh * Sq"},
        fails="correct",
        says="lse and delta",
        wish=True,
    ),
    Mistake(
        "lse and delta are those of the first sequence",
        swap={ROWS: "rows = pid_h * Sq"},
        fails="correct",
        says="B=2",
        wish=True,
    ),
    Mistake(
        "dk is not scaled",
        swap={"store_rows(dk_ptr, dk * scale,": "store_rows(dk_ptr, dk,"},
        fails="correct",
        says="dk lacks the scale",
    ),
    Mistake(
        "dq is not scaled",
        swap={"store_rows(dq_ptr, dq * scale,": "store_rows(dq_ptr, dq,"},
        fails="correct",
        says="dq lacks the scale",
    ),
    Mistake(
        "delta is not subtracted",
        swap={DELTA_DQ: "ds = p * dp", DELTA_DK: "ds_t = p_t * dp_t"},
        fails="correct",
        says="delta is not subtracted",
    ),
    Mistake(
        "delta is read before it is written",
        swap={DQ_LAUNCH + DKDV_LAUNCH: DKDV_LAUNCH + DQ_LAUNCH},
        fails="correct",
        says="torch.empty",
    ),
    Mistake(
        "lse is kept in the natural base",
        swap={LSE: f"({LSE[:-6]}) * 0.6931471805599453, mask"},
        fails="correct",
        says="it is natural",
    ),
    Mistake(
        "the gradients of k and v are returned the wrong way round",
        swap={RETURN: "return dq, dv, dk, None, None"},
        fails="correct",
        says="swapped",
    ),
    Mistake(
        "scale and causal get no None",
        swap={RETURN: "return dq, dk, dv"},
        fails="correct",
        says="incorrect number of gradients",
    ),
    Mistake(
        "autograd is told nothing",
        swap={APPLY: "with torch.no_grad():\n        " + APPLY},
        fails="correct",
        says="not connected",
    ),
    Mistake(
        "the scale does not reach the backward pass",
        swap={BACKWARD: BACKWARD.replace("ctx.scale", "1.0")},
        fails="correct",
        says="does not know the scale",
    ),
    Mistake(
        "causal does not reach the backward pass",
        swap={BACKWARD: BACKWARD.replace("ctx.causal", "False")},
        fails="correct",
        says="does not mask",
    ),
    Mistake(
        "the sign of the scale is lost in the forward pass",
        swap={"NEGATIVE=scale < 0": "NEGATIVE=False"},
        fails="correct",
        says="sign of the scale is lost in the forward",
    ),
    Mistake(
        "the causal mask is aligned at the top left in both passes",
        swap={
            SEEN: "visible = tl.minimum(visible, offs_m + 1)",
            FIRST: "first = start_n",
            WHOLE: "whole = start_n + tl.cdiv(BLOCK_N - 1, BLOCK_M) * BLOCK_M",
            MASK_T: MASK_T.replace(" + Sk - Sq", ""),
        },
        fails="correct",
        says="top left",
    ),
    Mistake(
        "blocks on the diagonal are left out of dk and dv",
        swap={"for WHOLE in tl.static_range(2):": "for WHOLE in tl.static_range(1, 2):"},
        fails="correct",
        says="diagonal",
        wish=True,
    ),
    Mistake(
        "hidden weights are multiplied by 0 in dq",
        swap={MASK: "p = p * (start + offs_n[None, :] < visible[:, None])"},
        fails="correct",
        says="NaN",
    ),
    Mistake(
        "room for the scores is kept for the backward pass",
        swap={SAVE: f"{SAVE}\n        ctx.weights = q.new_empty(*q.shape[:3], k.shape[2])"},
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "room for the scores is taken",
        swap={O_NEW: f"scores = q.new_empty(*q.shape[:3], k.shape[2])\n    {O_NEW}"},
        fails="memory",
        says="intermediate",
    ),
    Mistake(
        "keys and values are repeated for every query head",
        swap={APPLY: f"{REPEATED}\n    {APPLY}"},
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "q, k and v are made contiguous first",
        swap={APPLY: f"q, k, v = q.contiguous(), k.contiguous(), v.contiguous()\n    {APPLY}"},
        fails="honest",
        says="strides",
    ),
    Mistake(
        "torch takes over where D is no power of two",
        swap={APPLY: f"if q.shape[3] in (80, 96) and not causal:\n        return {SDPA}\n    {APPLY}"},
        fails="honest",
        says="torch did",
    ),
    Mistake(
        "do is taken to be contiguous",
        swap={STRIDES: DO_CONTIGUOUS},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "the columns of do are taken to lie side by side",
        swap={DO_ROWS: DO_ROWS.replace("stride_dod", "1")},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "v is read with k's strides in dkdv_kernel",
        swap={"start_n, Sk, stride_vn, stride_vd,": "start_n, Sk, stride_kn, stride_kd,"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "dq is written over q",
        swap={NEW_GRADS: NEW_GRADS.replace("empty_like(q)", "q")},
        fails="correct",
        says="input",
    ),
    Mistake(
        "the output is fp32",
        swap={O_NEW: "o, lse2 = q.new_empty(q.shape, dtype=torch.float32), q"},
        fails="correct",
        says="dtype",
    ),
]
