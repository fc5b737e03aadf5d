"""Extra: what attention by specialised warps gets wrong, but for what waits for ever; and what is said."""

from tools.planted import Mistake

DIAGONAL = "seen = seen & (offs_n[None, :] <= offs_m[:, None])"
RESCALED = "        acc = acc * gl.convert_layout(alpha, gl.SliceLayout(1, OUT))[:, None]\n"

# fmt: off
mistakes = [
    Mistake("four stages of keys and values", {"STAGES = 2": "STAGES = 4"}, "shared memory",
            fails="compiles"),
    Mistake("acc is not rescaled", {RESCALED: ""}, "acc is not rescaled", gpu=True),
    Mistake("the sum is not rescaled", {"l_i = l_i * alpha + gl.sum(p, 1)": "l_i = l_i + gl.sum(p, 1)"},
            "l_i is not rescaled", gpu=True),
    Mistake("what lies past the last key is not masked",
            {"seen = (offs_n < S)[None, :]": "seen = (offs_n < S + BLOCK_N)[None, :]"},
            "past the last key TMA gives 0", gpu=True),
    Mistake("the block on the diagonal is not masked",
            {DIAGONAL: "seen = seen & (offs_n[None, :] <= offs_m[:, None] + BLOCK_N)"},
            "on the diagonal is not masked", gpu=True),
    Mistake("keys are loaded from the first to the last, and the first turn masks the last",
            {"start_n = (blocks - 1 - turn) * BLOCK_N": "start_n = turn * BLOCK_N"},
            "The mask of the last block of keys is put on the first", gpu=True),
    Mistake("both warp groups get the first queries",
            {"q_desc, [head, row + half * BLOCK_M, 0]": "q_desc, [head, row, 0]"},
            "Both warp groups take the first 64 queries", gpu=True),
    Mistake("both warp groups store to the same rows",
            {"o_desc, [head, start_m, 0]": "o_desc, [head, row, 0]"}, "is right", gpu=True),
    Mistake("exp2 of scores in base e", {"S, LOG2_E / math.sqrt(D)": "S, 1 / math.sqrt(D)"},
            "log2(e) is missing", gpu=True),
    Mistake("acc is not divided by the sum",
            {"o = acc / gl.convert_layout(l_i, gl.SliceLayout(1, OUT))[:, None]": "o = acc"}, "is right",
            gpu=True),
    Mistake("torch does the work",
            {"    return o\n": "    return torch.nn.functional.scaled_dot_product_attention("
             "q, k, v, is_causal=causal)\n"}, "torch", fails="honest", gpu=True),
]
