"""Extra: what a product by specialised warps gets wrong, but for what waits for ever; and what is said."""

from tools.planted import Mistake

ACC = "        acc = gl.zeros((BLOCK_M, BLOCK_N), gl.float32, ACC)\n"
COPY_A = "a_desc, [pid_m * BLOCK_M, k]"
COPY_B = "b_desc, [k, pid_n * BLOCK_N]"
COUNTS = "num_pid_m, num_pid_n = triton.cdiv(m, BLOCK_M), triton.cdiv(n, BLOCK_N)"
LOOP = "    for pid in range(gl.program_id(0), num_pid_m * num_pid_n, gl.num_programs(0)):\n"
STORE = "tma.async_copy_shared_to_global(c_desc, [pid_m * BLOCK_M, pid_n * BLOCK_N], c_smem)"
TURN = "    turn = 0\n"

mistakes = [
    Mistake(
        "four stages, as without a buffer for c",
        {"STAGES = 3": "STAGES = 4"},
        "shared memory",
        fails="compiles",
    ),
    Mistake(
        "the layout of acc is for four warps, and eight multiply",
        {"[3, 0], [gl.num_warps(), 1]": "[3, 0], [4, 1]"},
        "Triton cannot compile",
        fails="compiles",
    ),
    Mistake(
        "acc is stored in fp32",
        {"c_smem.store(acc.to(c_desc.dtype))": "c_smem.store(acc)"},
        "Triton cannot compile",
        fails="compiles",
    ),
    Mistake(
        "a and b change places in the product",
        {"a_smem.index(stage), b_smem.index(stage), acc": "b_smem.index(stage), a_smem.index(stage), acc"},
        "Triton cannot compile",
        fails="compiles",
    ),
    Mistake(
        "acc goes on from tile to tile",
        {TURN + LOOP: TURN + ACC[4:] + LOOP, ACC: ""},
        ("is right", "Right up to"),
        gpu=True,
    ),
    Mistake(
        "a step overwrites the sum of those before",
        {"acc, is_async=True)": "acc, use_acc=False, is_async=True)"},
        "the sum of those before",
        gpu=True,
    ),
    Mistake(
        "only whole steps along k are counted",
        {"triton.cdiv(k, BLOCK_K)": "k // BLOCK_K"},
        "last, partial one is left out",
        gpu=True,
    ),
    Mistake(
        "every step loads the first rows of b",
        {COPY_B: COPY_B.replace("[k,", "[0,")},
        "does not move on",
        gpu=True,
    ),
    Mistake(
        "the loading warp copies the first rows of a for every tile",
        {COPY_A: COPY_A.replace("pid_m", "(pid_m * 0)")},
        ("is right", "Right up to"),
        gpu=True,
    ),
    Mistake(
        "a program stores all of its tiles in the place of its first",
        {
            TURN + LOOP: TURN
            + "    first_m, first_n = grouped_tile(gl.program_id(0), num_pid_m, num_pid_n, GROUP_M)\n"
            + LOOP,
            STORE: STORE.replace("pid_m", "first_m").replace("pid_n", "first_n"),
        },
        "never written",
        gpu=True,
    ),
    Mistake(
        "partial tiles at the edges are left out",
        {COUNTS: "num_pid_m, num_pid_n = max(m // BLOCK_M, 1), max(n // BLOCK_N, 1)"},
        "never written",
        gpu=True,
    ),
    Mistake(
        "torch does the work", {"    return c\n": "    return a @ b\n"}, "torch", fails="honest", gpu=True
    ),
]
