"""Extra: what a tile that is chosen from facts gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ALLOCATION = "c = torch.empty(m, n, dtype=a.dtype, device=a.device)"
DOT = 'acc = tl.dot(a, b, acc, input_precision="ieee")'
FITS = "itemsize * num_stages <= shared"
LARGEST = "(128, 256, 64, 256, 3)"
LOAD_A = "a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)"
MINE = """def mine() -> int:
    return torch.cuda.get_device_properties(0).shared_memory_per_block_optin


def config("""
WARPS = "num_warps = threads // warp_size"

mistakes = [
    Mistake(
        "one stage is counted, and three are asked for",
        swap={FITS: "itemsize <= shared"},
        fails="compiles",
        says="KB of shared memory, and on",
    ),
    Mistake(
        "a later capability is taken for more shared memory",
        swap={FITS: "itemsize * num_stages <= (232448 if capability >= 90 else 101376)"},
        fails="compiles",
        says="on MI300X a program may have 64 KB",
    ),
    Mistake(
        "the facts of the GPU at hand are used, not those that were given",
        swap={FITS: "itemsize * num_stages <= (mine() if torch.cuda.is_available() else shared)"}
        | {"def config(": MINE},
        fails="compiles",
        says="KB of shared memory, and on",
    ),
    Mistake(
        "half of the threads for the largest tile",
        swap={LARGEST: LARGEST.replace("256, 3", "128, 3")},
        fails="compiles",
        says="bytes a thread",
    ),
    Mistake(
        "every warp is taken to have 64 lanes",
        swap={WARPS: "num_warps = threads // 64"},
        fails="compiles",
        says="bytes a thread",
    ),
    Mistake(
        "a T4 is given a tile for matrix units",
        swap={"PLAIN = (64, 64, 32, 256, 1)": "PLAIN = (128, 128, 32, 256, 1)"},
        fails="compiles",
        says="compiled for T4, spills",
    ),
    Mistake(
        "a tile is as large as fits, and no power of 2",
        swap={LARGEST: "(128, 192, 64, 256, 3)"},
        fails="correct",
        says="power of 2",
    ),
    Mistake(
        "the capability is compared by ==",
        swap={"capability >= 80:": "capability in (80, 86, 89):"},
        fails="fast",
        says="",
        gpu=True,  # predicted at 2.6 times our time, and slow begins at three times
    ),
    Mistake(
        "as many programs as SMs, and none has a second tile",
        swap={"grid = (triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)": "grid = (sms,)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "a is not masked along k",
        swap={LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"},
        fails="correct",
        says="both sides",
    ),
    Mistake(
        "b stands still", swap={"        b_ptrs += step * stride_bk\n": ""}, fails="correct", says="is right"
    ),
    Mistake(
        "fp32 is left to tl.dot, which cuts it to TF32",
        swap={DOT: "acc = tl.dot(a, b, acc)"},
        fails="correct",
        says="TF32",
    ),
    Mistake(
        "a's rows are taken to be k apart",
        swap={"offs_m[:, None] * stride_am": "offs_m[:, None] * k"},
        fails="edges",
        says="stride",
    ),
    Mistake("the result is always fp32", swap={"dtype=a.dtype, ": ""}, fails="correct", says="dtype"),
    Mistake(
        "torch copies strided matrices first",
        swap={ALLOCATION: f"a, b = a.contiguous(), b.contiguous()\n    {ALLOCATION}"},
        fails="honest",
        says="strides",
    ),
    Mistake(
        "torch does the work", swap={"    return c\n": "    return a @ b\n"}, fails="honest", says="torch"
    ),
]
