"""Extra: what attention by specialised warps gets wrong, but for what waits for ever; and what is said."""

from __future__ import annotations

from tools.planted import Mistake

DIAGONAL = "seen = seen & (offs_n[None, :] <= offs_m[:, None])"
RESCALED = "        acc = acc * gl.convert_layout(alpha, gl.SliceLayout(1, OUT))[:, None]\n"
SCORES = "SCORES: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1]"

mistakes = [
    Mistake(
        "four stages of keys and values",
        swap={"STAGES = 2": "STAGES = 4"},
        fails="compiles",
        says="shared memory",
    ),
    Mistake(
        "the layout of scores is for the warps of both groups",
        swap={SCORES: SCORES.replace("[4, 1]", "[8, 1]")},
        fails="compiles",
        says="Triton cannot compile",
    ),
    Mistake(
        "the last weights meet v in fp32",
        swap={
            "acc = warpgroup_mma(weights, v_smem.index(last)": "acc = warpgroup_mma(weights.to(gl.float32), "
            "v_smem.index(last)"
        },
        fails="compiles",
        says="Triton cannot compile",
    ),
    Mistake(
        "acc is not rescaled",
        swap={RESCALED: ""},
        fails="correct",
        says="acc is not rescaled",
        gpu=True,
    ),
    Mistake(
        "the sum is not rescaled",
        swap={"l_i = l_i * alpha + gl.sum(p, 1)": "l_i = l_i + gl.sum(p, 1)"},
        fails="correct",
        says="l_i is not rescaled",
        gpu=True,
    ),
    Mistake(
        "what lies past the last key is not masked",
        swap={"seen = (offs_n < S)[None, :]": "seen = (offs_n < S + BLOCK_N)[None, :]"},
        fails="correct",
        says="past the last key TMA gives 0",
        gpu=True,
    ),
    Mistake(
        "the block on the diagonal is not masked",
        swap={DIAGONAL: "seen = seen & (offs_n[None, :] <= offs_m[:, None] + BLOCK_N)"},
        fails="correct",
        says="on the diagonal is not masked",
        gpu=True,
    ),
    Mistake(
        "keys are loaded from the first to the last, and the first turn masks the last",
        swap={"start_n = (blocks - 1 - turn) * BLOCK_N": "start_n = turn * BLOCK_N"},
        fails="correct",
        says="The mask of the last block of keys is put on the first",
        gpu=True,
    ),
    Mistake(
        "both warp groups get the first queries",
        swap={"q_desc, [head, row + half * BLOCK_M, 0]": "q_desc, [head, row, 0]"},
        fails="correct",
        says="Both warp groups take the first 64 queries",
        gpu=True,
    ),
    Mistake(
        "both warp groups store to the same rows",
        swap={"o_desc, [head, start_m, 0]": "o_desc, [head, row, 0]"},
        fails="correct",
        says="never written",
        gpu=True,
    ),
    Mistake(
        "exp2 of scores in base e",
        swap={"S, LOG2_E / math.sqrt(D)": "S, 1 / math.sqrt(D)"},
        fails="correct",
        says="log2(e) is missing",
        gpu=True,
    ),
    Mistake(
        "acc is not divided by the sum",
        swap={"o = acc / gl.convert_layout(l_i, gl.SliceLayout(1, OUT))[:, None]": "o = acc"},
        fails="correct",
        says="is right",
        gpu=True,
    ),
    Mistake(
        "every head reads the keys of head 0",
        swap={"k_desc, [head, start_n, 0]": "k_desc, [0, start_n, 0]"},
        fails="correct",
        says="is right",
        gpu=True,
    ),
    Mistake(
        "torch does the work",
        swap={
            "    return o\n": "    return torch.nn.functional.scaled_dot_product_attention("
            "q, k, v, is_causal=causal)\n"
        },
        fails="honest",
        says="torch",
        gpu=True,
    ),
]
