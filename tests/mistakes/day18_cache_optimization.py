"""Day 18: what a grouped tile order gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

DOT = 'acc = tl.dot(a, b, acc, input_precision="ieee")'
EVEN = "EVEN_K=k % BLOCK_K == 0"
GRID = "(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)"
PID_M = "pid_m = first_pid_m + pid_in_group % rows"
PID_N = "pid_n = pid_in_group // rows"
ROWS = "tl.minimum(num_pid_m - first_pid_m, GROUP_M)"

STORE = "tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=mask)"
BF16 = "c_ptr.dtype.element_ty == tl.bfloat16"

# fmt: off
mistakes = [
    Mistake("the mask along k is left out wherever 16 divides it", {EVEN: "EVEN_K=k % 16 == 0"},
            "past the end of a"),
    Mistake("results in bf16 go through fp16",
            {STORE: STORE.replace("acc,", f"acc.to(tl.float16) if {BF16} else acc,")},
            "Large values overflow", fails="correct or edges"),
    Mistake("sums in bf16 are rounded each time round",
            {DOT: f"{DOT}\n        acc = acc.to(tl.bfloat16 if {BF16} else tl.float32).to(tl.float32)"},
            "close but not close enough"),
    Mistake("the last group is walked as if it were full", {ROWS: "GROUP_M"}, "last group"),
    Mistake("every group starts at row 0", {PID_M: "pid_m = pid_in_group % rows"}, "twice"),
    Mistake("a group is walked row by row, which is row-major order again",
            {PID_M: "pid_m = first_pid_m + pid_in_group // num_pid_n",
             PID_N: "pid_n = pid_in_group % num_pid_n"}, "order"),
    Mistake("row and column of the tile are returned the wrong way round",
            {"return pid_m, pid_n": "return pid_n, pid_m"}, "swapped", at="return pid_n, pid_m"),
    Mistake("the third column of tiles is taken for the fourth",
            {PID_N: f"{PID_N} + (pid_in_group // rows == 2)"}, "is right", at="def grouped_tile("),
    Mistake("the kernel takes row and column the wrong way round",
            {"pid_m, pid_n = grouped_tile(": "pid_n, pid_m = grouped_tile("}, "were never written: none of"),
    Mistake("the grid counts tiles of 32", {GRID: "(triton.cdiv(m, 32) * triton.cdiv(n, 32),)"},
            "before the start of", cpu=True),
    Mistake("there is one program too many", {GRID: f"({GRID[1:-2]} + 1,)"}, "nothing of it lies inside",
            fails="limit"),
    Mistake("groups are one row of tiles high", {"GROUP_M=16,": "GROUP_M=1,"}, "Another order of tiles",
            fails="fast", cpu=True),
    Mistake("partial tiles at the edges get no program", {GRID: "(m // BLOCK_M * (n // BLOCK_N),)"},
            "never written"),
    Mistake("the tail of k is not masked", {EVEN: "EVEN_K=True"}, "Unmasked load"),
    Mistake("b's columns past n are neither wrapped nor masked", {"(offs_n % n)": "offs_n"},
            "past the end of b"),
    Mistake("the store has no mask", {"acc, mask=mask)": "acc)"}, "Unmasked store"),
    Mistake("b's strides are passed the wrong way round",
            {"*b.stride(),": "b.stride(1),\n        b.stride(0),"}, "stride"),
    Mistake("a is taken to be contiguous", {"*a.stride(),": "k,\n        1,"},
            ("Only contiguous inputs come out right", "Of the inputs that are not contiguous"),
            fails="edges"),
    Mistake("fp32 is multiplied in TF32", {', input_precision="ieee"': ""}, "precision"),
    Mistake("the result is always fp32", {"dtype=a.dtype, ": ""}, "dtype"),
    Mistake("nothing is returned", {"    return c": "    c"}, "returns nothing"),
    Mistake("torch does the work", {"    return c": "    return a @ b"}, "torch", fails="honest"),
    Mistake("the rows of the last group are rotated", {PID_M: "pid_m = first_pid_m + pid % rows"}, "rotated"),
    Mistake("rows a multiple of 16 bytes apart are taken as packed",
            {"*a.stride()": "*((k, 1) if a.stride(1) == 1 and 0 < a.stride(0) % 16 == 8 else a.stride())"},
            "loads from a gap between", fails="edges"),
    Mistake("half done: grouped_tile alone", {}, "launches no kernel yet", undone=("matmul_kernel", "matmul"),
            so_far="grouped_tile ✓ · not started: stores of c, bounds, products, launcher"),
    Mistake("half done: the loop forgets what it has, and nothing else is there",
            {"tl.dot(a, b, acc, ": "tl.dot(a, b, "}, "grouped_tile returns nothing yet",
            undone=("grouped_tile", "matmul"),
            so_far="stores of c ✓ · bounds ✓ · products ✗ · not started: grouped_tile, launcher"),
    Mistake("the columns of a tile are counted by its height, which is another one in 16 bits",
            {"offs_n = pid_n.to(tl.int64) * BLOCK_N": "offs_n = pid_n.to(tl.int64) * BLOCK_M"},
            "never written", fails="edges", cpu=True),
]
