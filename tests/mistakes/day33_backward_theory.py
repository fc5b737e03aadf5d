"""Day 33: what delta and the gradient of the scores get wrong, and what the grader must say about it."""

from tools.planted import Mistake

CAUSAL = "p = tl.where(offs_n[None, :] <= offs_m[:, None] + Sk - Sq, p, 0.0)"
DELTA = "tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)"
DP = 'dp = tl.dot(do, v.T, input_precision="ieee")'
DS = "ds = p * (dp - delta[:, None])"
DS_OUT = "ds = torch.empty(B, H, Sq, Sk, dtype=torch.float32, device=q.device)"
GRID = "triton.cdiv(Sq, BLOCK_M) * triton.cdiv(Sk, BLOCK_N) * B * H"
P = "p = tl.exp(s - lse[:, None])"
S = 's = tl.dot(q, k.T, input_precision="ieee") * scale'

# fmt: off
mistakes = [
    Mistake("delta is summed over the queries of a block",
            {DELTA: DELTA.replace("axis=1", "axis=0"),
             "o.shape[3], 64": "o.shape[3], triton.next_power_of_2(o.shape[3])"}, "over the queries"),
    Mistake("delta's products are rounded to fp16", {DELTA: "tl.sum(o * do, axis=1)"}, "is computed in fp16"),
    Mistake("delta reads do with o's row stride",
            {"stride_doh, pid_m * BLOCK_M, Sq, stride_dom": "stride_doh, pid_m * BLOCK_M, Sq, stride_om"},
            "stride"),
    Mistake("delta is computed by torch",
            {"    return out": "    return (o.float() * do.float()).sum(dim=-1)"}, "torch", fails="honest"),
    Mistake("the scale is missing in p", {S: S.removesuffix(" * scale")}, "missing in p"),
    Mistake("the scale is applied to ds as well", {DS: f"{DS} * scale"}, "applied to ds"),
    Mistake("delta is not subtracted", {DS: "ds = p * dp"}, "delta is missing"),
    Mistake("delta is added", {DS: "ds = p * (dp + delta[:, None])"}, "delta is added"),
    Mistake("delta is subtracted outside of the product", {DS: "ds = p * dp - delta[:, None]"},
            "outside of the product"),
    Mistake("the factor p is forgotten", {DS: "ds = dp - delta[:, None]"}, "factor p is missing"),
    Mistake(
        "delta is laid along the keys",
        {
            "delta = tl.load(delta_ptr + pid_bh * Sq + offs_m, mask=rows, other=0.0)": (
                "delta = tl.load(delta_ptr + pid_bh * Sq + offs_n, mask=offs_n < Sq, other=0.0)"
            ),
            DS: "ds = p * (dp - delta[None, :])",
        },
        "along the keys",
    ),
    Mistake("dp is made from k", {DP: DP.replace("v.T", "k.T")}, "dp is do kᵀ"),
    Mistake("the causal mask is forgotten", {CAUSAL: "p = p"}, "Hidden entries are not 0"),
    Mistake("the causal mask is aligned at the top left",
            {CAUSAL: "p = tl.where(offs_n[None, :] <= offs_m[:, None], p, 0.0)"}, "top left"),
    Mistake("the causal mask hides the diagonal", {CAUSAL: CAUSAL.replace("<=", "<")}, "hides the diagonal"),
    Mistake("hidden weights are multiplied by 0",
            {CAUSAL: "p = p * (offs_n[None, :] <= offs_m[:, None] + Sk - Sq)"}, "see no key"),
    Mistake("exp2 is called on natural scores", {P: P.replace("exp", "exp2")}, "exp2 is called"),
    Mistake("log2(e) multiplies the scores but not lse",
            {S: f"{S} * 1.4426950408889634", P: P.replace("exp", "exp2")},
            "multiplies the scores and not lse"),
    Mistake("p is a softmax of the tile",
            {P: "s = tl.where(cols[None, :], s, -1e30)\n    p = tl.exp(s - tl.max(s, axis=1)[:, None])\n"
             "    p = p / tl.sum(p, axis=1)[:, None]"}, "softmax of these keys alone"),
    Mistake("weights are rounded to q's dtype", {P: f"{P}.to(q.dtype)"}, "precision"),
    Mistake("ds is written without a mask for the keys",
            {"ds, mask=rows[:, None] & cols[None, :])": "ds, mask=rows[:, None])"}, "both sides"),
    Mistake("ds has q's dtype", {DS_OUT: DS_OUT.replace("torch.float32", "q.dtype")}, "fp32 is asked for"),
    Mistake("the last, partial tiles of keys get no program",
            {GRID: "triton.cdiv(Sq, BLOCK_M) * max(Sk // BLOCK_N, 1) * B * H"}, "never written"),
    Mistake("v is read by the stride of k's heads",
            {"pid_b * stride_vb + pid_h * stride_vh": "pid_b * stride_vb + pid_h * stride_kh"}, "is right"),
]
