"""Extra: what a tile that is chosen from facts gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

FITS = "itemsize * num_stages <= shared"
LARGEST = "(128, 256, 64, 256, 3)"
LOAD_A = "a = tl.load(a_ptrs, mask=rows[:, None] & inner[None, :], other=0.0)"

# fmt: off
mistakes = [
    Mistake("one stage is counted, and three are asked for", {FITS: "itemsize <= shared"},
            "KB of shared memory, and on", fails="compiles"),
    Mistake("a later capability is taken for more shared memory",
            {FITS: "itemsize * num_stages <= (232448 if capability >= 90 else 101376)"},
            "on MI300X a program may have 64 KB", fails="compiles"),
    Mistake("half of the threads for the largest tile", {LARGEST: LARGEST.replace("256, 3", "128, 3")},
            "bytes a thread", fails="compiles"),
    Mistake("a T4 is given a tile for matrix units",
            {"PLAIN = (64, 64, 32, 256, 1)": "PLAIN = (128, 128, 32, 256, 1)"}, "compiled for T4, spills",
            fails="compiles"),
    Mistake(
        "the capability is compared by ==",
        {"capability >= 80:": "capability in (80, 86, 89):"},
        "",
        fails="fast",
        gpu=True,  # predicted at 2.6 times our time, and slow begins at three times
    ),
    Mistake("as many programs as SMs, and none has a second tile",
            {"grid = (triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)": "grid = (sms,)"},
            "never written"),
    Mistake("a is not masked along k", {LOAD_A: "a = tl.load(a_ptrs, mask=rows[:, None], other=0.0)"},
            "both sides"),
    Mistake("b stands still", {"        b_ptrs += step * stride_bk\n": ""}, "is right"),
    Mistake("a's rows are taken to be k apart", {"offs_m[:, None] * stride_am": "offs_m[:, None] * k"},
            "stride", fails="edges"),
    Mistake("torch does the work", {"    return c\n": "    return a @ b\n"}, "torch", fails="honest"),
]
