"""Day 18: what a grouped tile order gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

DOT = 'acc = tl.dot(a, b, acc, input_precision="ieee")'
EVEN = "EVEN_K=k % BLOCK_K == 0"
GRID = "(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)"
PID_M = "pid_m = first_pid_m + pid_in_group % rows"
PID_N = "pid_n = pid_in_group // rows"
ROWS = "tl.minimum(num_pid_m - first_pid_m, GROUP_M)"

STORE = "tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=mask)"
BF16 = "c_ptr.dtype.element_ty == tl.bfloat16"

mistakes = [
    Mistake(
        "the mask along k is left out wherever 16 divides it",
        swap={EVEN: "EVEN_K=k % 16 == 0"},
        fails="correct",
        says="past the end of a",
    ),
    Mistake(
        "results in bf16 go through fp16",
        swap={STORE: STORE.replace("acc,", f"acc.to(tl.float16) if {BF16} else acc,")},
        fails="correct or edges",
        says="Large values overflow",
    ),
    Mistake(
        "sums in bf16 are rounded each time round",
        swap={DOT: f"{DOT}\n        acc = acc.to(tl.bfloat16 if {BF16} else tl.float32).to(tl.float32)"},
        fails="correct",
        says="close but not close enough",
    ),
    Mistake(
        "the last group is walked as if it were full",
        swap={ROWS: "GROUP_M"},
        fails="correct",
        says="last group",
    ),
    Mistake(
        "the column is counted as if the last group were full",
        swap={PID_N: "pid_n = pid_in_group // GROUP_M"},
        fails="correct",
        says="last group",
    ),
    Mistake(
        "the row is counted as if the last group were full",
        swap={PID_M: "pid_m = first_pid_m + pid_in_group % GROUP_M"},
        fails="correct",
        says="last group",
    ),
    Mistake(
        "the row is counted by the program's number, as if the last group were full",
        swap={PID_M: "pid_m = first_pid_m + pid % GROUP_M % rows"},
        fails="correct",
        says="last group",
    ),
    Mistake(
        "a group is as long as the matrix is high",
        swap={"GROUP_M * num_pid_n": "GROUP_M * num_pid_m"},
        fails="correct",
        says="twice",
    ),
    Mistake(
        "every group starts at row 0",
        swap={PID_M: "pid_m = pid_in_group % rows"},
        fails="correct",
        says="twice",
    ),
    Mistake(
        "a group is walked row by row, which is row-major order again",
        swap={
            PID_M: "pid_m = first_pid_m + pid_in_group // num_pid_n",
            PID_N: "pid_n = pid_in_group % num_pid_n",
        },
        fails="correct",
        says="order",
    ),
    Mistake(
        "row and column of the tile are returned the wrong way round",
        swap={"return pid_m, pid_n": "return pid_n, pid_m"},
        fails="correct",
        says="swapped",
        at="def grouped_tile(",
    ),
    Mistake(
        "the number of the group is taken for its first row",
        swap={"pid // pids_in_group * GROUP_M": "pid // pids_in_group"},
        fails="correct",
        says="twice",
    ),
    Mistake(
        "the third column of tiles is taken for the fourth",
        swap={PID_N: f"{PID_N} + (pid_in_group // rows == 2)"},
        fails="correct",
        says="is right",
        at="def grouped_tile(",
    ),
    Mistake(
        "the kernel takes row and column the wrong way round",
        swap={"pid_m, pid_n = grouped_tile(": "pid_n, pid_m = grouped_tile("},
        fails="correct",
        says="were never written: none of",
    ),
    Mistake(
        "the grid counts tiles of 32",
        swap={GRID: "(triton.cdiv(m, 32) * triton.cdiv(n, 32),)"},
        fails="correct",
        says="before the start of",
        cpu=True,
    ),
    Mistake(
        "there is one program too many",
        swap={GRID: f"({GRID[1:-2]} + 1,)"},
        fails="limit",
        says="nothing of it lies inside",
    ),
    Mistake(
        "groups are one row of tiles high",
        swap={"GROUP_M=16,": "GROUP_M=1,"},
        fails="fast",
        says="Another order of tiles",
        cpu=True,
    ),
    Mistake(
        "partial tiles at the edges get no program",
        swap={GRID: "(m // BLOCK_M * (n // BLOCK_N),)"},
        fails="correct",
        says="never written",
    ),
    Mistake("the tail of k is not masked", swap={EVEN: "EVEN_K=True"}, fails="correct", says="Unmasked load"),
    Mistake(
        "b's columns past n are neither wrapped nor masked",
        swap={"(offs_n % n)": "offs_n"},
        fails="correct",
        says="past the end of b",
    ),
    Mistake(
        "the store has no mask",
        swap={"acc, mask=mask)": "acc)"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "b's strides are passed the wrong way round",
        swap={"*b.stride(),": "b.stride(1),\n        b.stride(0),"},
        fails="correct",
        says="stride",
    ),
    Mistake(
        "a is taken to be contiguous",
        swap={"*a.stride(),": "k,\n        1,"},
        fails="edges",
        says=("Only contiguous inputs come out right", "Of the inputs that are not contiguous"),
    ),
    Mistake(
        "the sum over k is kept in a's dtype",
        swap={
            "dtype=tl.float32)": "dtype=a_ptr.dtype.element_ty)",
            DOT: 'acc += tl.dot(a, b, input_precision="ieee").to(a.dtype)',
        },
        fails="correct",
        says="precision",
    ),
    Mistake(
        "fp32 is multiplied in TF32",
        swap={', input_precision="ieee"': ""},
        fails="correct",
        says="precision",
    ),
    Mistake("the result is always fp32", swap={"dtype=a.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake("nothing is returned", swap={"    return c": "    c"}, fails="correct", says="returns nothing"),
    Mistake("torch does the work", swap={"    return c": "    return a @ b"}, fails="honest", says="torch"),
    Mistake(
        "torch copies strided operands first",
        swap={"m = a.shape[0]": "a, b = a.contiguous(), b.contiguous()\n    m = a.shape[0]"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "the rows of the last group are rotated",
        swap={PID_M: "pid_m = first_pid_m + pid % rows"},
        fails="correct",
        says="rotated",
    ),
    Mistake(
        "rows a multiple of 16 bytes apart are taken as packed",
        swap={"*a.stride()": "*((k, 1) if a.stride(1) == 1 and 0 < a.stride(0) % 16 == 8 else a.stride())"},
        fails="edges",
        says="loads from a gap between",
    ),
    Mistake(
        "half done: grouped_tile alone",
        swap={},
        fails="correct",
        says="launches no kernel yet",
        undone=("matmul_kernel", "matmul"),
        so_far="grouped_tile ✓ · not started: stores of c, bounds, products, launcher",
    ),
    Mistake(
        "half done: the loop forgets what it has, and nothing else is there",
        swap={"tl.dot(a, b, acc, ": "tl.dot(a, b, "},
        fails="correct",
        says="grouped_tile returns nothing yet",
        undone=("grouped_tile", "matmul"),
        so_far="stores of c ✓ · bounds ✓ · products ✗ · not started: grouped_tile, launcher",
    ),
    Mistake(
        "the columns of a tile are counted by its height, which is another one in 16 bits",
        swap={"offs_n = pid_n.to(tl.int64) * BLOCK_N": "offs_n = pid_n.to(tl.int64) * BLOCK_M"},
        fails="edges",
        says="never written",
        cpu=True,
    ),
]
