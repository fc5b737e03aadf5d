"""Day 33: what delta and the gradient of the scores get wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

CAUSAL = "p = tl.where(offs_n[None, :] <= offs_m[:, None] + Sk - Sq, p, 0.0)"
DELTA = "tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)"
DP = 'dp = tl.dot(do, v.T, input_precision="ieee")'
DS = "ds = p * (dp - delta[:, None])"
DS_OUT = "ds = torch.empty(B, H, Sq, Sk, dtype=torch.float32, device=q.device)"
GRID = "triton.cdiv(Sq, BLOCK_M) * triton.cdiv(Sk, BLOCK_N) * B * H"
P = "p = tl.exp(s - lse[:, None])"
S = 's = tl.dot(q, k.T, input_precision="ieee") * scale'

mistakes = [
    Mistake(
        "delta is summed over the queries of a block",
        swap={
            DELTA: DELTA.replace("axis=1", "axis=0"),
            "o.shape[3], 64": "o.shape[3], triton.next_power_of_2(o.shape[3])",
        },
        fails="correct",
        says="over the queries",
    ),
    Mistake(
        "delta's products are rounded to fp16",
        swap={DELTA: "tl.sum(o * do, axis=1)"},
        fails="correct",
        says="is computed in fp16",
    ),
    Mistake(
        "delta reads do with o's row stride",
        swap={"stride_doh, pid_m * BLOCK_M, Sq, stride_dom": "stride_doh, pid_m * BLOCK_M, Sq, stride_om"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "delta has o's dtype",
        swap={"out = torch.empty(B, H, Sq, dtype=torch.float32": "out = torch.empty(B, H, Sq, dtype=o.dtype"},
        fails="correct",
        says="fp32 is asked for",
    ),
    Mistake(
        "delta is computed by torch",
        swap={"    return out": "    return (o.float() * do.float()).sum(dim=-1)"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "the scale is missing in p",
        swap={S: S.removesuffix(" * scale")},
        fails="correct",
        says="missing in p",
    ),
    Mistake(
        "the scale is applied to ds as well",
        swap={DS: f"{DS} * scale"},
        fails="correct",
        says="applied to ds",
    ),
    Mistake("delta is not subtracted", swap={DS: "ds = p * dp"}, fails="correct", says="delta is missing"),
    Mistake(
        "delta is added", swap={DS: "ds = p * (dp + delta[:, None])"}, fails="correct", says="delta is added"
    ),
    Mistake(
        "delta is subtracted outside of the product",
        swap={DS: "ds = p * dp - delta[:, None]"},
        fails="correct",
        says="outside of the product",
    ),
    Mistake(
        "the factor p is forgotten",
        swap={DS: "ds = dp - delta[:, None]"},
        fails="correct",
        says="factor p is missing",
    ),
    Mistake(
        "delta is laid along the keys",
        swap={
            "delta = tl.load(delta_ptr + pid_bh * Sq + offs_m, mask=rows, other=0.0)": (
                "delta = tl.load(delta_ptr + pid_bh * Sq + offs_n, mask=offs_n < Sq, other=0.0)"
            ),
            DS: "ds = p * (dp - delta[None, :])",
        },
        fails="correct",
        says="along the keys",
    ),
    Mistake("dp is made from k", swap={DP: DP.replace("v.T", "k.T")}, fails="correct", says="dp is do kᵀ"),
    Mistake(
        "the causal mask is forgotten",
        swap={CAUSAL: "p = p"},
        fails="correct",
        says="Hidden entries are not 0",
    ),
    Mistake(
        "the causal mask is aligned at the top left",
        swap={CAUSAL: "p = tl.where(offs_n[None, :] <= offs_m[:, None], p, 0.0)"},
        fails="correct",
        says="top left",
    ),
    Mistake(
        "the causal mask hides the diagonal",
        swap={CAUSAL: CAUSAL.replace("<=", "<")},
        fails="correct",
        says="hides the diagonal",
    ),
    Mistake(
        "hidden scores are -inf, and rows without keys have lse -inf",
        swap={
            P: "seen = offs_n[None, :] <= offs_m[:, None] + Sk - Sq\n"
            '    p = tl.exp(tl.where(seen if CAUSAL else True, s, -float("inf")) - lse[:, None])',
            CAUSAL: "p = p",
        },
        fails="correct",
        says="see no key",
    ),
    Mistake(
        "hidden weights are multiplied by 0",
        swap={CAUSAL: "p = p * (offs_n[None, :] <= offs_m[:, None] + Sk - Sq)"},
        fails="correct",
        says="see no key",
    ),
    Mistake(
        "exp2 is called on natural scores",
        swap={P: P.replace("exp", "exp2")},
        fails="correct",
        says="exp2 is called",
    ),
    Mistake(
        "log2(e) multiplies the scores but not lse",
        swap={S: f"{S} * 1.4426950408889634", P: P.replace("exp", "exp2")},
        fails="correct",
        says="multiplies the scores and not lse",
    ),
    Mistake(
        "p is a softmax of the tile",
        swap={
            P: "s = tl.where(cols[None, :], s, -1e30)\n    p = tl.exp(s - tl.max(s, axis=1)[:, None])\n"
            "    p = p / tl.sum(p, axis=1)[:, None]"
        },
        fails="correct",
        says="softmax of these keys alone",
    ),
    Mistake(
        "weights are rounded to q's dtype", swap={P: f"{P}.to(q.dtype)"}, fails="correct", says="precision"
    ),
    Mistake(
        "ds is written without a mask for the keys",
        swap={"ds, mask=rows[:, None] & cols[None, :])": "ds, mask=rows[:, None])"},
        fails="correct",
        says="both sides",
    ),
    Mistake(
        "ds has q's dtype",
        swap={DS_OUT: DS_OUT.replace("torch.float32", "q.dtype")},
        fails="correct",
        says="fp32 is asked for",
    ),
    Mistake(
        "the last, partial tiles of keys get no program",
        swap={GRID: "triton.cdiv(Sq, BLOCK_M) * max(Sk // BLOCK_N, 1) * B * H"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "v is read by the stride of k's heads",
        swap={"pid_b * stride_vb + pid_h * stride_vh": "pid_b * stride_vb + pid_h * stride_kh"},
        fails="correct",
        says="is right",
    ),
]
