"""Extra: what a promoted FP8 product gets wrong, but for what waits for ever; and what is said."""

from __future__ import annotations

from tools.planted import Mistake

A_SCALE = "a_scale = gl.load(a_scale_ptr + rows, mask=rows < m, other=0.0)"
B_SCALE = "b_scale = gl.load(b_scale_ptr + cols, mask=cols < n, other=0.0)"
ACC = "        acc = gl.zeros((ROWS, BLOCK_N), gl.float32, ACC)\n"
ADDS = "            acc += part\n"
COUNTS = "num_pid_m, num_pid_n = triton.cdiv(m, GROUPS * ROWS), triton.cdiv(n, BLOCK_N)"
SCALED = "c = acc * a_scale[:, None] * b_scale[None, :]"
STARTS = "part = warpgroup_mma(a, b, zeros, use_acc=False, is_async=True)"
ZEROS = "    zeros = gl.zeros((ROWS, BLOCK_N), gl.float32, ACC)\n"

# fmt: off
mistakes = [
    Mistake("five stages beside a whole tile of c", {"STAGES = 4": "STAGES = 5"}, "shared memory",
            fails="compiles"),
    Mistake("the layout of the sums is that of 16-bit numbers", {"[16, BLOCK_N, 32]": "[16, BLOCK_N, 16]"},
            "Triton cannot compile", fails="compiles"),
    Mistake("the layout of the sums is for eight warps, and each function has four",
            {"[3, 0], [4, 1]": "[3, 0], [8, 1]"}, "Triton cannot compile", fails="compiles"),
    Mistake("b's block is not turned", {"b_smem.index(stage).permute((1, 0))": "b_smem.index(stage)"},
            "Triton cannot compile", fails="compiles"),
    Mistake("the scaled sums are stored in fp32", {"store(c.to(c_desc.dtype))": "store(c)"},
            "Triton cannot compile", fails="compiles"),
    Mistake("sums are never promoted",
            {STARTS: "part = warpgroup_mma(a, b, acc, is_async=True)", ADDS: "            acc = part\n"},
            "14 bits only", gpu=True),
    Mistake("each step replaces the sum", {ADDS: "            acc = part\n"}, "the sum of those before",
            gpu=True),
    Mistake(
        "all groups multiply the first 64 rows of a tile",
        {
            "a = a_smem.index(stage * GROUPS + group)\n            b = ": (
                "a = a_smem.index(stage * GROUPS)\n            b = "
            )
        },
        "the same 64 rows of a",
        gpu=True,
    ),
    Mistake("acc goes on from tile to tile", {ZEROS: ZEROS + ACC[4:], ACC: ""}, ("is right", "Right up to"),
            gpu=True),
    Mistake("only whole steps along k are counted", {"triton.cdiv(k, BLOCK_K)": "k // BLOCK_K"},
            "last, partial one is left out", gpu=True),
    Mistake("the scales are swapped",
            {A_SCALE: "a_scale = gl.load(b_scale_ptr + rows, mask=rows < n, other=0.0)",
             B_SCALE: "b_scale = gl.load(a_scale_ptr + cols, mask=cols < m, other=0.0)"}, "swapped",
            gpu=True),
    Mistake("a_scale is left out", {SCALED: SCALED.replace(" * a_scale[:, None]", "")}, "a_scale is left out",
            gpu=True),
    Mistake("b_scale is left out", {SCALED: SCALED.replace(" * b_scale[None, :]", "")}, "b_scale is left out",
            gpu=True),
    Mistake("it is divided by the scales", {SCALED: SCALED.replace("*", "/")}, "divided by the scales",
            gpu=True),
    Mistake("partial tiles at the edges are left out",
            {COUNTS: "num_pid_m, num_pid_n = max(m // (GROUPS * ROWS), 1), max(n // BLOCK_N, 1)"},
            "never written", gpu=True),
    Mistake("torch does the work",
            {"    return c\n": ("    scales = a_scale[:, None], b_scale[None, :]\n"
             "    return torch._scaled_mm(a, b.t(), *scales, out_dtype=torch.bfloat16)\n")},
            "must be divisible by 16", gpu=True),
]
