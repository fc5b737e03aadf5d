"""Day 10: what a sum gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "partial = torch.empty(n_blocks, dtype=torch.float32, device=x.device)"
BLOCKS = "max(triton.cdiv(n, BLOCK), 1)"
OFFSETS = "pid.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)"
RETURN = "return total(partial) if n_blocks > 1 else partial.view(())"
TWO_STAGES = """result = torch.empty((), dtype=torch.float32, device=x.device)
    sum_blocks_kernel[(1,)](partial, result, n_blocks, BLOCK=BLOCK)
    return result"""
STORE = "tl.store(partial_ptr + pid, block_sum)"

# All programs add to one number: right, as long as it starts at 0 and is new at every call.
ATOMIC = {STORE: "tl.atomic_add(partial_ptr, block_sum)"}

# fmt: off
mistakes = [
    Mistake("the load has no mask", {", mask=offs < n, other=0.0)": ")"}, "Unmasked load"),
    Mistake("masked lanes hold -inf, the neutral element of a maximum", {"other=0.0": "other=-float('inf')"},
            "is -inf where"),
    Mistake("fp16 is added up in fp16", {"x.to(tl.float32)": "x"}, "precision"),
    Mistake("the last, partial block gets no program", {BLOCKS: "max(n // BLOCK, 1)"}, "left out"),
    Mistake("every program sums block 0", {OFFSETS: "tl.arange(0, BLOCK)"}, "the same 16384 elements"),
    Mistake("every program writes to place 0", {STORE: "tl.store(partial_ptr, block_sum)"}, "torch.empty"),
    Mistake("only the first partial sum is returned", {RETURN: "return partial[0]"},
            "Only the first 16384 elements"),
    Mistake("the second stage adds up at most 64 partial sums",
            {RETURN: "return total(partial[:64]) if n_blocks > 1 else partial.view(())"}, "Only the first",
            fails="edges"),
    Mistake("there are exactly two stages, and the second is one block",
            {"BLOCK = 16384": "BLOCK = 1024", RETURN: TWO_STAGES},
            "elements count: what follows them is in no sum", fails="edges"),
    Mistake("there are exactly two stages, and the second is one block of any size",
            {"BLOCK = 16384": "BLOCK = 1024",
             RETURN: TWO_STAGES.replace("=BLOCK", "=triton.next_power_of_2(n_blocks)")},
            "exceeds triton maximum tensor numel", fails="edges"),
    Mistake("an atomic adds to memory that holds anything",
            {ALLOCATION: "partial = torch.empty(1, device=x.device)", RETURN: "return partial.view(())",
             **ATOMIC}, "reads memory before anything is stored"),
    Mistake("an atomic adds to what the call before left",
            {"@triton.jit": "KEPT: dict = {}\n\n\n@triton.jit",
             ALLOCATION: "partial = KEPT.setdefault(0, torch.zeros(1, device=x.device))",
             RETURN: "return partial.view(())", **ATOMIC}, "left over"),
    Mistake("n = 0 has no block, so nothing is written", {BLOCKS: "triton.cdiv(n, BLOCK)"},
            "invalid for input of size 0"),
    Mistake("the result has one dimension", {"partial.view(())": "partial"}, "shape"),
    Mistake("the result has x's dtype", {"dtype=torch.float32": "dtype=x.dtype"}, "dtype"),
    Mistake("a Python number is returned", {"partial.view(())": "partial.view(()).item()"},
            "where a tensor is asked for"),
    Mistake("torch adds up the partial sums", {RETURN: "return partial.sum()"}, "torch", fails="honest"),
    Mistake("fp16 is summed as it comes", {"tl.sum(x.to(tl.float32), axis=0)": "tl.sum(x, axis=0)"},
            "close but not close enough"),
    Mistake("half done: the kernel alone", {}, "returns nothing yet", undone=("total",),
            so_far="reads of x ✓ · sums of blocks ✓ · bounds ✓ · not started: launcher and stages"),
    Mistake("half done: masked lanes hold -inf, and no launch", {"other=0.0": "other=-float('inf')"},
            "returns nothing yet", undone=("total",),
            so_far="reads of x ✓ · sums of blocks ✗ · bounds ✓ · not started: launcher and stages"),
    Mistake(
        "the last program adds up what others of its launch store",
        {
            STORE: f"""{STORE}
    if pid == tl.num_programs(0) - 1:
        offs_p = tl.arange(0, MOST)
        partial = tl.load(partial_ptr + offs_p, mask=offs_p <= pid, other=0.0)
        tl.store(out_ptr, tl.sum(partial, axis=0))""",
            "partial_ptr, n, BLOCK: tl": "partial_ptr, out_ptr, n, MOST: tl.constexpr, BLOCK: tl",
            "(x, partial, n, BLOCK": "(x, partial, out, n, triton.next_power_of_2(n_blocks), BLOCK",
            ALLOCATION: f"{ALLOCATION}\n    out = torch.empty((), dtype=torch.float32, device=x.device)",
            RETURN: "return out",
        },
        "what one stores for others to read, a launch of its own",
        at="partial_ptr",
        cpu=True,  # a GPU shows a race by wrong values, or not at all
    ),
]
