"""Extra: what a tile that is chosen from facts gets wrong, and what the grader must say about it."""

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
        {FITS: "itemsize <= shared"},
        "KB of shared memory, and on",
        fails="compiles",
    ),
    Mistake(
        "a later capability is taken for more shared memory",
        {FITS: "itemsize * num_stages <= (232448 if capability >= 90 else 101376)"},
        "on MI300X a program may have 64 KB",
        fails="compiles",
    ),
    Mistake(
        "the facts of the GPU at hand are used, not those that were given",
        {FITS: "itemsize * num_stages <= (mine() if torch.cuda.is_available() else shared)"}
        | {"def config(": MINE},
        "KB of shared memory, and on",
        fails="compiles",
    ),
    Mistake(
        "half of the threads for the largest tile",
        {LARGEST: LARGEST.replace("256, 3", "128, 3")},
        "bytes a thread",
        fails="compiles",
    ),
    Mistake(
        "every warp is taken to have 64 lanes",
        {WARPS: "num_warps = threads // 64"},
        "bytes a thread",
        fails="compiles",
    ),
    Mistake(
        "a T4 is given a tile for matrix units",
        {"PLAIN = (64, 64, 32, 256, 1)": "PLAIN = (128, 128, 32, 256, 1)"},
        "compiled for T4, spills",
        fails="compiles",
    ),
    Mistake(
        "a tile is as large as fits, and no power of 2", {LARGEST: "(128, 192, 64, 256, 3)"}, "power of 2"
    ),
    Mistake(
        "the capability is compared by ==",
        {"capability >= 80:": "capability in (80, 86, 89):"},
        "",
        fails="fast",
        gpu=True,  # predicted at 2.6 times our time, and slow begins at three times
    ),
    Mistake(
        "as many programs as SMs, and none has a second tile",
        {"grid = (triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)": "grid = (sms,)"},
        "never written",
    ),
    Mistake(
        "a is not masked along k",
        {LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"},
        "both sides",
    ),
    Mistake("b stands still", {"        b_ptrs += step * stride_bk\n": ""}, "is right"),
    Mistake("fp32 is left to tl.dot, which cuts it to TF32", {DOT: "acc = tl.dot(a, b, acc)"}, "TF32"),
    Mistake(
        "a's rows are taken to be k apart",
        {"offs_m[:, None] * stride_am": "offs_m[:, None] * k"},
        "stride",
        fails="edges",
    ),
    Mistake("the result is always fp32", {"dtype=a.dtype, ": ""}, "dtype"),
    Mistake(
        "torch copies strided matrices first",
        {ALLOCATION: f"a, b = a.contiguous(), b.contiguous()\n    {ALLOCATION}"},
        "strides",
        fails="honest",
    ),
    Mistake("torch does the work", {"    return c\n": "    return a @ b\n"}, "torch", fails="honest"),
]
