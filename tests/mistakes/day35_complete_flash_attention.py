"""Day 35: what complete flash attention gets wrong, and what the grader must say about it."""

from __future__ import annotations

from grader.course import catalog
from tools.planted import Mistake

APPLY = "return FlashAttention.apply(q, k, v, scale, causal)"
ATTEND = "attend(q, k, v, seen, scale,"
BACKWARD = "backward(*ctx.saved_tensors, do, ctx.scale, ctx.causal)"
DK_OUT = "dk_ptr + pid_bkh * Sk * D, dk * scale,"
DKDV_LAUNCH = "    launch(dkdv_kernel, (q, k, v, do), (lse2, delta, dk, dv), scale, causal)\n"
DO_CONTIGUOUS = "*(stride for x in [*sources[:3], *map(empty_like, sources[3:])] for stride in x.stride()),"
DO_ROWS = "do_ptr, start_m, Sq, stride_dom, stride_dod, D,"
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


mistakes = [
    Mistake(
        "every query head reads key head 0",
        swap={KEY_HEAD: "return pid_h * 0"},
        fails="correct",
        says="is right",
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
            DK_OUT: DK_OUT.replace("scale", "scale / GROUP"),
            DV_OUT: DV_OUT.replace(" dv,", " dv / GROUP,"),
        },
        fails="correct",
        says="means over the query heads",
    ),
    Mistake(
        "dk and dv take every Hk-th query head",
        swap={MEMBER: "pid_h = pid_kh + member * tl.num_programs(1)"},
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
        swap={HEADS: HEADS.replace("Sk", "Sq")},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "lse and delta are those of the key head's number",
        swap={ROWS: "rows = pid_bkh * Sq"},
        fails="correct",
        says="In the gradient of k",
    ),
    Mistake(
        "lse and delta are those of the first sequence",
        swap={ROWS: "rows = pid_h * Sq"},
        fails="correct",
        says="In the gradient of k",
    ),
    Mistake(
        "dk is not scaled",
        swap={DK_OUT: DK_OUT.replace(" * scale", "")},
        fails="correct",
        says="dk lacks the scale",
    ),
    Mistake(
        "dq is not scaled",
        swap={DQ_OUT: DQ_OUT.replace(" * scale", "")},
        fails="correct",
        says="dq lacks the scale",
    ),
    Mistake(
        "delta is not subtracted",
        swap={"delta[:, None], seen": "0.0, seen", "delta[None, :], seen": "0.0, seen"},
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
        says="In the gradient of v",
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
        says="returns 3 values where 5 gradients are asked for",
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
        swap={ATTEND: ATTEND.replace("scale", "tl.abs(scale)")},
        fails="correct",
        says="sign of the scale is lost in the forward",
    ),
    Mistake(
        "the causal mask is aligned at the top left in both passes",
        swap={
            **own("keys_seen", "offs_m + 1 + Sk - Sq", "offs_m + 1"),
            FIRST: "first = start_n",
        },
        fails="correct",
        says="top left",
    ),
    Mistake(
        "blocks on the diagonal are left out of dk and dv",
        swap={FIRST: "first = tl.maximum(start_n + BLOCK_N - 1 + Sq - Sk, 0)"},
        fails="correct",
        says="In the gradient of k",
    ),
    Mistake(
        "hidden weights are multiplied by 0",
        swap=own("dscores", "tl.where(seen, tl.exp2(qk - lse2), 0.0)", "tl.exp2(qk - lse2) * seen"),
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
        swap={V_ROWS: V_ROWS.replace("_v", "_k")},
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
    Mistake(
        "the forward kernel, which is handed out, counts the heads of v by a rule of its own",
        swap={
            "v_ptr += pid_b * stride_vb + key_head(pid_h, GROUP) * stride_vh\n    start_m": (
                "v_ptr += pid_b * stride_vb + (pid_h + 1) // 2 * stride_vh\n    start_m"
            )
        },
        fails="correct",
        says="a head, row or block number that v does not have",
    ),
    Mistake(
        "a query head reads the key head of its number within the group",
        swap={KEY_HEAD: "return pid_h % GROUP"},
        fails="correct",
        says="nothing of it lies inside",
    ),
    Mistake(
        "the kernel for dk and dv has a program for each query head",
        swap={HEADS: "(triton.cdiv(Sk, tall), Hq, B)"},
        fails="correct",
        says="nothing of it lies inside",
    ),
    Mistake(
        "dk alone holds the scale twice",
        swap={DK_OUT: DK_OUT.replace("dk * scale", "dk * scale * scale")},
        fails="correct",
        says="dk holds the scale twice",
    ),
    Mistake(
        "dq alone holds the scale twice",
        swap={DQ_OUT: DQ_OUT.replace("dq * scale", "dq * scale * scale")},
        fails="correct",
        says="dq holds the scale twice",
    ),
    Mistake(
        "dk is made from key head g's own query head alone, as many times as there are members",
        swap={MEMBER: "pid_h = pid_kh + 0 * member"},
        fails="correct",
        says="gradient of q: right in every case",
    ),
    Mistake(
        "delta is added up in fp16",
        swap={"tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)": "tl.sum(o * do, axis=1)"},
        fails="correct",
        says="in fp16, which ends at 65504",
        at="tl.sum(o * do",
    ),
    Mistake(
        "half done: the forward pass alone",
        swap={},
        fails="correct",
        says="backward() returns nothing where 5 gradients",
        undone=("dkdv_kernel", "launch", "flash_backward", "FlashAttention.backward"),
        so_far="key head ✓ · forward ✓ · flash_attention ✓ · "
        "not started: dv, dk, launch, flash_backward, backward",
    ),
    Mistake(
        "half done: the forward pass, which keeps nothing",
        swap={
            "        # They grow with S, not with S²: three inputs, the output, and 4 bytes a query.\n"
            f"        {SAVE}\n        ctx.scale, ctx.causal = scale, causal\n": (
                "        # TODO 8: keep what flash_backward asks for: tensors by ctx.save_for_backward, "
                "numbers as attributes.\n"
            )
        },
        fails="correct",
        says="backward() returns nothing where 5 gradients",
        undone=("dkdv_kernel", "launch", "flash_backward", "FlashAttention.backward"),
        so_far="key head ✓ · forward ✓ (no line under TODO 8) · flash_attention ✓ · "
        "not started: dv, dk, launch, flash_backward, backward",
    ),
    Mistake(
        "half done: dk without the scale, and no launch",
        swap={"dk * scale": "dk"},
        fails="correct",
        says="is None where a tensor is asked for",
        undone=("launch", "FlashAttention.forward", "FlashAttention.backward"),
        so_far="key head ✓ · dv ✓ · dk ✗ · flash_backward ✓ · flash_attention ✓ · "
        "not started: launch, forward, backward",
    ),
    Mistake(
        "dk is brought to base e though it is in none",
        swap={DK_OUT: DK_OUT.replace("scale", "scale * 0.6931471805599453")},
        fails="correct",
        says="times what it should be",
    ),
    Mistake(
        "v is read by the stride of k's heads",
        swap={"pid_kh * stride_vh": "pid_kh * stride_kh"},
        fails="edges",
        says="In the gradient of k",
    ),
    Mistake(
        "exp(score) / exp(lse) for exp(score - lse)",
        swap=own("dscores", "tl.exp2(qk - lse2)", "tl.exp2(qk) / tl.exp2(lse2)"),
        fails="correct",
        says="What is divided by, or what a logarithm",
    ),
]
