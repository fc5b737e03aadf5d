"""Day 24: what dropout gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(x.shape, dtype=x.dtype, device=x.device)"
CHOICE = "tl.where(keep, x * scale, 0.0)"
COUNTERS = "counters = pid * (BLOCK // 4) + tl.arange(0, BLOCK // 4)"
DRAW = "tl.rand4x(seed, counters)"
KEEP = "keep = u >= p"
LOAD = "x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)"
MASK = "dtype=torch.bool"
RETURN = "    return y, keep"
SCALE = "scale = 1 / (1 - p) if p < 1 else 0.0"
WOVEN = "u = tl.interleave(tl.interleave(u0, u2), tl.interleave(u1, u3))"

DRAW_KERNEL = """@triton.jit
def draw_kernel(u_ptr, n, seed, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(u_ptr + offs, tl.rand(seed, offs), mask=offs < n)


"""
NOISE = """    u = torch.empty(n, dtype=torch.float32, device=x.device)
    draw_kernel[(triton.cdiv(n, BLOCK),)](u, n, seed, BLOCK=BLOCK)
"""

# fmt: off
mistakes = [
    Mistake("what is kept is not scaled", {CHOICE: "tl.where(keep, x, 0.0)"}, "scaled"),
    Mistake("scaled by 1 / p", {SCALE: "scale = 1 / p if p > 0 else 1.0"}, "divided by p"),
    Mistake("scaled by 1 - p, as at inference in old libraries", {SCALE: "scale = 1 - p"},
            "multiplied by 1 - p"),
    Mistake("p is the share that is kept", {KEEP: "keep = u < p"}, "dropped, not"),
    Mistake("the mask marks what is dropped",
            {"tl.store(keep_ptr + offs, keep": "tl.store(keep_ptr + offs, u < p"}, "where mask is true"),
    Mistake("every program draws the same numbers", {COUNTERS: "counters = tl.arange(0, BLOCK // 4)"},
            "1024 apart"),
    Mistake("one of the four numbers serves four elements",
            {WOVEN: "u = tl.interleave(tl.interleave(u0, u0), tl.interleave(u0, u0))"}, "Elements 1 apart"),
    Mistake("one of the four numbers is used twice",
            {WOVEN: "u = tl.interleave(tl.interleave(u0, u2), tl.interleave(u1, u2))"},
            "apart are kept or dropped together"),
    Mistake("the program's number is added to the seed",
            {DRAW: "tl.rand4x(seed + pid, tl.arange(0, BLOCK // 4))"}, "seed + 1", fails="edges"),
    Mistake("the seed is an offset", {DRAW: "tl.rand4x(0, counters + seed)"}, "seed + 1",
            fails="correct or edges"),
    Mistake("the seed is a constant", {DRAW: "tl.rand4x(2024, counters)"}, "does not reach", fails="edges"),
    Mistake("the seed is cut to 32 bits",
            {"n, p, scale, seed, BLOCK=BLOCK": "n, p, scale, seed & 0xFFFFFFFF, BLOCK=BLOCK"}, "upper bits",
            fails="edges"),
    Mistake("the counters run backwards from the end of x", {COUNTERS: f"{COUNTERS.replace('= ', '= n - ')}"},
            "longer x", fails="edges"),
    Mistake("each dtype gets streams of its own",
            {DRAW: "tl.rand4x(seed + 1000003 * x_ptr.dtype.element_ty.primitive_bitwidth, counters)"},
            "fp16 gets another mask", fails="edges"),
    Mistake("a number of exactly 0 is dropped at p = 0", {KEEP: "keep = u > p"}, "where 100.0% should be",
            fails="limit"),
    Mistake("what is dropped is multiplied by 0", {CHOICE: "x * keep.to(tl.float32) * scale"}, "NaN",
            fails="limit"),
    Mistake("p = 1 divides by 0", {SCALE: "scale = 1 / (1 - p)"}, "float division by zero"),
    Mistake("p = 1 scales by Inf, and 0 · Inf is NaN",
            {SCALE: 'scale = 1 / (1 - p) if p < 1 else float("inf")',
             CHOICE: "tl.where(keep, x, 0.0) * scale"}, "NaN"),
    Mistake("the last, partial block gets no program", {"triton.cdiv(n, BLOCK)": "n // BLOCK"},
            "never written"),
    Mistake("the store of the mask has no mask",
            {"tl.store(keep_ptr + offs, keep, mask=mask)": "tl.store(keep_ptr + offs, keep)"},
            "Unmasked store"),
    Mistake("the mask is made of bytes", {MASK: "dtype=torch.uint8"}, "dtype"),
    Mistake("the mask is flat", {"keep = torch.empty(x.shape": "keep = torch.empty(n"}, "shape"),
    Mistake("only y is returned", {RETURN: "    return y"}, "2 outputs"),
    Mistake("x is dropped in place", {ALLOCATION: "y = x"}, "input"),
    Mistake("torch draws the mask",
            {RETURN: "    keep = torch.rand_like(x, dtype=torch.float32) >= p\n"
             "    return torch.where(keep, x * scale, 0), keep"}, "same seed", fails="edges"),
    Mistake("torch applies the mask",
            {RETURN: "    return torch.where(keep, x * scale, 0).to(x.dtype), keep"}, "torch",
            fails="honest"),
    Mistake("the random numbers go through memory",
            {"    BLOCK = 1024\n": f"    BLOCK = 1024\n{NOISE}",
             "@triton.jit\n": f"{DRAW_KERNEL}@triton.jit\n", "keep_ptr, n, p": "keep_ptr, u_ptr, n, p",
             "keep, n, p": "keep, u, n, p", WOVEN: "u = tl.load(u_ptr + offs, mask=mask, other=1.0)"},
            "intermediate tensor", fails="memory", gpu=True),
    Mistake("the rate is rounded to 1/256", {KEEP: "keep = u >= tl.floor(p * 256 + 0.5) / 256"}, "rounded",
            fails="edges"),
    Mistake("the number of a program with a large block is added to the seed",
            {DRAW: "tl.rand4x(seed + pid, tl.arange(0, BLOCK // 4))",
             "    BLOCK = 1024\n": "    BLOCK = 4096\n"}, "shifted", fails="edges"),
    Mistake("the threshold has 31 bits, and what is held against it 32",
            {DRAW: "tl.randint4x(seed, counters)",
             KEEP: "keep = u.to(tl.uint32, bitcast=True) >= (p * 2147483648.0).to(tl.uint32)"},
            "of the elements are kept where 50.0% should be"),
    Mistake("the mask is stored one place early",
            {"tl.store(keep_ptr + offs, keep": "tl.store(keep_ptr + offs - 1, keep"}, "before the start of"),
    Mistake("fp16 is scaled up before it is scaled",
            {LOAD: "x = tl.load(x_ptr + offs, mask=mask) * 16", "x * scale": "x.to(tl.float32) / 16 * scale"},
            "in fp16, which ends at 65504", fails="edges", at="* 16"),
    Mistake("one block holds the whole input, whatever its length",
            {"    BLOCK = 1024\n": "    BLOCK = max(triton.next_power_of_2(n), 16)\n"},
            "exceeds triton maximum tensor numel", fails="fast"),
    Mistake("which elements are kept hangs on their sign",
            {f"{KEEP}  #": f"keep = tl.where({LOAD[4:]} > 0, u, 1 - u) >= p  #"}, "not what x holds",
            fails="edges"),
]
