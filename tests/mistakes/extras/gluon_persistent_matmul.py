"""Extra: what a product by specialised warps gets wrong, but for what waits for ever; and what is said."""

from tools.planted import Mistake

ACC = "        acc = gl.zeros((BLOCK_M, BLOCK_N), gl.float32, ACC)\n"
COPY_B = "b_desc, [k, pid_n * BLOCK_N]"
COUNTS = "num_pid_m, num_pid_n = triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N)"
LOOP = "    for pid in range(gl.program_id(0), num_pid_m * num_pid_n, gl.num_programs(0)):\n"
TURN = "    turn = 0\n"

# fmt: off
mistakes = [
    Mistake("four stages, as without a buffer for c", {"STAGES = 3": "STAGES = 4"}, "shared memory",
            fails="compiles"),
    Mistake("acc goes on from tile to tile", {TURN + LOOP: TURN + ACC[4:] + LOOP, ACC: ""},
            ("is right", "Right up to"), gpu=True),
    Mistake("a step overwrites the sum of those before",
            {"acc, is_async=True)": "acc, use_acc=False, is_async=True)"}, "the sum of those before",
            gpu=True),
    Mistake("only whole steps along k are counted", {"triton.cdiv(k, BLOCK_K)": "k // BLOCK_K"},
            "last, partial one is left out", gpu=True),
    Mistake("every step loads the first rows of b", {COPY_B: COPY_B.replace("[k,", "[0,")},
            "does not move on", gpu=True),
    Mistake("partial tiles at the edges are left out",
            {COUNTS: "num_pid_m, num_pid_n = max(m // BLOCK_M, 1), max(n // BLOCK_N, 1)"}, "never written",
            gpu=True),
    Mistake("torch does the work", {"    return c\n": "    return a @ b\n"}, "torch", fails="honest",
            gpu=True),
]
