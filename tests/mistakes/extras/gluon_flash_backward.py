"""Extra: what gradients by specialised warps get wrong, but for what waits for ever; and what is said."""

from __future__ import annotations

from tools.planted import Mistake

DS = "ds_t = (p_t * (dp_t - delta[None, :])).to(q_smem.dtype)"
OUT = "dq = warpgroup_mma(ds, k_smem.index(half).reshape((ROWS, D)), dq, is_async=True)"
SCORES = "SCORES: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1]"

# fmt: off
mistakes = [
    Mistake("eleven stages of q and do", {"STAGES, SLOTS = 3, 3": "STAGES, SLOTS = 11, 3"}, "shared memory",
            fails="compiles"),
    Mistake("the layout of scores is for the warps of both groups",
            {SCORES: SCORES.replace("[4, 1]", "[8, 1]")}, "Triton cannot compile", fails="compiles"),
    Mistake("dsᵀ is handed on in fp32", {DS: "ds_t = p_t * (dp_t - delta[None, :])"}, "Triton cannot compile",
            fails="compiles"),
    Mistake("delta is left out", {DS: DS.replace("(dp_t - delta[None, :])", "dp_t")}, "delta is left out",
            gpu=True),
    Mistake("ds is made without p", {DS: DS.replace("p_t * (dp_t", "(dp_t")}, "p is left out", gpu=True),
    Mistake("dk has no scale", {"v_smem.index(half), dk * scale,": "v_smem.index(half), dk,"},
            "dk is not multiplied", gpu=True),
    Mistake("dq has no scale", {"+ inside) * scale\n": "+ inside)\n"}, "dq is not multiplied", gpu=True),
    Mistake("lse stays in base e", {"lse * LOG2_E)": "lse)"}, "taken for one in base 2", gpu=True),
    Mistake("both groups own the first 64 keys",
            {"k_desc, [head, start_n + half * ROWS, 0], kv_full": "k_desc, [head, start_n, 0], kv_full",
             "v_desc, [head, start_n + half * ROWS, 0], kv_full": "v_desc, [head, start_n, 0], kv_full"},
            "own the first half", gpu=True),
    Mistake("dq gets what the second half of the keys adds, and no more",
            {OUT: OUT.replace("dq, is_async", "dq, use_acc=False, is_async")}, "To dq only the second half",
            gpu=True),
    Mistake("keys past the end are not masked",
            {"gl.where((offs_n < S)[:, None], p_t, 0.0)": "gl.where((offs_n < S + 128)[:, None], p_t, 0.0)"},
            ("NaN", "Inf", "is nan where"), gpu=True),
    Mistake("torch does the work",
            {"    return dq, dk, dv\n": ("    s = torch.softmax(q.float() @ k.float().mT * scale, -1)\n"
             "    return dq, dk, (s.mT @ do.float()).to(q.dtype)\n")}, "is right", gpu=True),
]
