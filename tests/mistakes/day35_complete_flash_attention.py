"""Day 35: what complete flash attention gets wrong, and what the grader must say about it."""

from grader.course import catalog
from tools.planted import Mistake

APPLY = "return FlashAttention.apply(q, k, v, scale, causal)"
ATTEND = "attend(q, k, v, seen, scale,"
BACKWARD = "backward(*ctx.saved_tensors, do, ctx.scale, ctx.causal)"
DK_OUT = "dk_ptr + pid_bkh * Sk * D, dk * scale,"
DKDV_LAUNCH = "    launch(dkdv_kernel, (q, k, v, do), (lse2, delta, dk, dv), scale, causal)\n"
DO_CONTIGUOUS = "*(stride for x in [*sources[:3], *map(empty_like, sources[3:])] for stride in x.stride()),"
DQ_LAUNCH = "    launch(dq_kernel, (q, k, v, do), (lse2, delta, o, dq), scale, causal)\n"
DQ_OUT = "dq_ptr + pid_bh * Sq * D, dq * scale,"
DV_OUT = "dv_ptr + pid_bkh * Sk * D, dv,"
FIRST = "first = tl.maximum(start_n + Sq - Sk, 0)"
FIRST_KERNEL = "@triton.jit\ndef key_head"
GROUP_LOOP = "for member in range(GROUP):"
HEADS = "(triton.cdiv(Sk, tall), Hk, B)"
IMPORT = "from tiles import attend, dscores, keys_seen, load_rows, store_rows"
KEY_HEAD = "return pid_h // GROUP"
LSE = "m_i + tl.log2(l_i), mask"
MEMBER = "pid_h = pid_kh * GROUP + member"
NEW_GRADS = "dq, dk, dv = empty_like(q), empty_like(k), empty_like(v)"
O_NEW = "o, lse2 = empty_like(q), q"
REPEATED = "k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], dim=1) for x in (k, v))"
RETURN = "return dq, dk, dv, None, None"
ROWS = "rows = (pid_b * tl.num_programs(1) * GROUP + pid_h) * Sq"
SAVE = "ctx.save_for_backward(q, k, v, o, lse2)"
SDPA = "torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=scale, enable_gqa=True)"
STRIDES = "*(stride for x in sources for stride in x.stride()),"
TILES = catalog.find("35").provided / "tiles.py"
V_ROWS = "stride_vn, stride_vd, D, BLOCK_N, BLOCK_D)\n    dk = tl.zeros"


def own(name: str, old: str, new: str) -> dict[str, str]:
    """Not the `name` that is handed out, but one of the learner's with `new` for `old`."""
    head = f"@triton.jit\ndef {name}("
    handed_out = head + TILES.read_text(encoding="utf-8").split(head)[1].split("\n\n\n")[0]
    assert handed_out.count(old) == 1
    mine = handed_out.replace(old, new).rstrip()
    imported = IMPORT.replace(f" {name},", "").replace("import", "import LOG2_E,")
    return {IMPORT: imported, FIRST_KERNEL: f"{mine}\n\n\n{FIRST_KERNEL}"}


# fmt: off
mistakes = [
    Mistake("every query head reads key head 0", {KEY_HEAD: "return pid_h * 0"}, "is right"),
    Mistake("query head h reads key head h", {KEY_HEAD: "return pid_h"}, "past the end"),
    Mistake("only the first head of a group counts in dk and dv", {GROUP_LOOP: "for member in range(1):"},
            "first query head of each group alone"),
    Mistake("dk and dv start anew with every head of the group",
            {MEMBER: f"{MEMBER}\n        dk = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)\n"
             "        dv = tl.zeros((BLOCK_N, BLOCK_D), tl.float32)"}, "last query head of each group alone"),
    Mistake("the last head of a group is left out of dk and dv",
            {GROUP_LOOP: "for member in range(max(GROUP - 1, 1)):"}, "query head of each group"),
    Mistake("dk and dv are means over the group",
            {DK_OUT: DK_OUT.replace("scale", "scale / GROUP"),
             DV_OUT: DV_OUT.replace(" dv,", " dv / GROUP,")}, "means over the query heads"),
    Mistake("dk and dv take every Hk-th query head", {MEMBER: "pid_h = pid_kh + member * tl.num_programs(1)"},
            "neighbours"),
    Mistake("dkdv_kernel gets as many programs as there are blocks of queries",
            {HEADS: HEADS.replace("Sk", "Sq")}, "never written"),
    Mistake("lse and delta are those of the first sequence", {ROWS: "rows = pid_h * Sq"},
            "In the gradient of k"),
    Mistake("dk is not scaled", {DK_OUT: DK_OUT.replace(" * scale", "")}, "dk lacks the scale"),
    Mistake("dq is not scaled", {DQ_OUT: DQ_OUT.replace(" * scale", "")}, "dq lacks the scale"),
    Mistake("delta is not subtracted",
            {"delta[:, None], seen": "0.0, seen", "delta[None, :], seen": "0.0, seen"},
            "delta is not subtracted"),
    Mistake("delta is read before it is written", {DQ_LAUNCH + DKDV_LAUNCH: DKDV_LAUNCH + DQ_LAUNCH},
            "torch.empty"),
    Mistake("lse is kept in the natural base", {LSE: f"({LSE[:-6]}) * 0.6931471805599453, mask"},
            "In the gradient of v"),
    Mistake("the gradients of k and v are returned the wrong way round",
            {RETURN: "return dq, dv, dk, None, None"}, "swapped"),
    Mistake("scale and causal get no None", {RETURN: "return dq, dk, dv"},
            "returns 3 values where 5 gradients are asked for"),
    Mistake("autograd is told nothing", {APPLY: "with torch.no_grad():\n        " + APPLY}, "not connected"),
    Mistake("the scale does not reach the backward pass", {BACKWARD: BACKWARD.replace("ctx.scale", "1.0")},
            "does not know the scale"),
    Mistake("causal does not reach the backward pass", {BACKWARD: BACKWARD.replace("ctx.causal", "False")},
            "does not mask"),
    Mistake("the sign of the scale is lost in the forward pass",
            {ATTEND: ATTEND.replace("scale", "tl.abs(scale)")}, "sign of the scale is lost in the forward"),
    Mistake("the causal mask is aligned at the top left in both passes",
            {**own("keys_seen", "offs_m + 1 + Sk - Sq", "offs_m + 1"), FIRST: "first = start_n"}, "top left"),
    Mistake("hidden weights are multiplied by 0",
            own("dscores", "tl.where(seen, tl.exp2(qk - lse2), 0.0)", "tl.exp2(qk - lse2) * seen"), "NaN"),
    Mistake("room for the scores is taken",
            {O_NEW: f"scores = q.new_empty(*q.shape[:3], k.shape[2])\n    {O_NEW}"}, "intermediate",
            fails="memory"),
    Mistake("keys and values are repeated for every query head", {APPLY: f"{REPEATED}\n    {APPLY}"},
            "keeps"),
    Mistake("q, k and v are made contiguous first",
            {APPLY: f"q, k, v = q.contiguous(), k.contiguous(), v.contiguous()\n    {APPLY}"}, "strides",
            fails="honest"),
    Mistake("torch takes over where D is no power of two",
            {APPLY: f"if q.shape[3] in (80, 96) and not causal:\n        return {SDPA}\n    {APPLY}"},
            "torch did", fails="honest"),
    Mistake("do is taken to be contiguous", {STRIDES: DO_CONTIGUOUS}, "stride", fails="edges"),
    Mistake("v is read with k's strides in dkdv_kernel", {V_ROWS: V_ROWS.replace("_v", "_k")}, "stride"),
    Mistake("dq is written over q", {NEW_GRADS: NEW_GRADS.replace("empty_like(q)", "q")}, "input"),
    Mistake("the output is fp32", {O_NEW: "o, lse2 = q.new_empty(q.shape, dtype=torch.float32), q"}, "dtype"),
    Mistake(
        "the forward kernel, which is handed out, counts the heads of v by a rule of its own",
        {
            "v_ptr += pid_b * stride_vb + key_head(pid_h, GROUP) * stride_vh\n    start_m": (
                "v_ptr += pid_b * stride_vb + (pid_h + 1) // 2 * stride_vh\n    start_m"
            )
        },
        "a head, row or block number that v does not have",
    ),
    Mistake("a query head reads the key head of its number within the group",
            {KEY_HEAD: "return pid_h % GROUP"}, "nothing of it lies inside"),
    Mistake("dk alone holds the scale twice", {DK_OUT: DK_OUT.replace("dk * scale", "dk * scale * scale")},
            "dk holds the scale twice"),
    Mistake("dq alone holds the scale twice", {DQ_OUT: DQ_OUT.replace("dq * scale", "dq * scale * scale")},
            "dq holds the scale twice"),
    Mistake("dk is made from key head g's own query head alone, as many times as there are members",
            {MEMBER: "pid_h = pid_kh + 0 * member"}, "gradient of q: right in every case"),
    Mistake("delta is added up in fp16",
            {"tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)": "tl.sum(o * do, axis=1)"},
            "in fp16, which ends at 65504", at="tl.sum(o * do"),
    Mistake("half done: the forward pass alone", {}, "backward() returns nothing where 5 gradients",
            undone=("dkdv_kernel", "launch", "flash_backward", "FlashAttention.backward"),
            so_far="key head ✓ · forward ✓ · flash_attention ✓ · "
             "not started: dv, dk, launch, flash_backward, backward"),
    Mistake(
        "half done: the forward pass, which keeps nothing",
        {
            "        # They grow with S, not with S²: three inputs, the output, and 4 bytes a query.\n"
            f"        {SAVE}\n        ctx.scale, ctx.causal = scale, causal\n": (
                "        # TODO 8: keep what flash_backward asks for: tensors by ctx.save_for_backward, "
                "numbers as attributes.\n"
            )
        },
        "backward() returns nothing where 5 gradients",
        undone=("dkdv_kernel", "launch", "flash_backward", "FlashAttention.backward"),
        so_far="key head ✓ · forward ✓ (no line under TODO 8) · flash_attention ✓ · "
        "not started: dv, dk, launch, flash_backward, backward",
    ),
    Mistake("half done: dk without the scale, and no launch", {"dk * scale": "dk"},
            "is None where a tensor is asked for",
            undone=("launch", "FlashAttention.forward", "FlashAttention.backward"),
            so_far="key head ✓ · dv ✓ · dk ✗ · flash_backward ✓ · flash_attention ✓ · "
             "not started: launch, forward, backward"),
    Mistake("dk is brought to base e though it is in none",
            {DK_OUT: DK_OUT.replace("scale", "scale * 0.6931471805599453")}, "times what it should be"),
    Mistake("v is read by the stride of k's heads", {"pid_kh * stride_vh": "pid_kh * stride_kh"},
            "In the gradient of k", fails="edges"),
    Mistake("exp(score) / exp(lse) for exp(score - lse)",
            own("dscores", "tl.exp2(qk - lse2)", "tl.exp2(qk) / tl.exp2(lse2)"),
            "What is divided by, or what a logarithm"),
]
