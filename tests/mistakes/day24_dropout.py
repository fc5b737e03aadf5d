"""Day 24: what dropout gets wrong, and what the grader must say about it."""

from __future__ import annotations

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

mistakes = [
    Mistake(
        "what is kept is not scaled", swap={CHOICE: "tl.where(keep, x, 0.0)"}, fails="correct", says="scaled"
    ),
    Mistake(
        "scaled by 1 / p",
        swap={SCALE: "scale = 1 / p if p > 0 else 1.0"},
        fails="correct",
        says="divided by p",
    ),
    Mistake(
        "scaled by 1 - p, as at inference in old libraries",
        swap={SCALE: "scale = 1 - p"},
        fails="correct",
        says="multiplied by 1 - p",
    ),
    Mistake("p is the share that is kept", swap={KEEP: "keep = u < p"}, fails="correct", says="dropped, not"),
    Mistake(
        "the mask marks what is dropped",
        swap={"tl.store(keep_ptr + offs, keep": "tl.store(keep_ptr + offs, u < p"},
        fails="correct",
        says="where mask is true",
    ),
    Mistake(
        "every program draws the same numbers",
        swap={COUNTERS: "counters = tl.arange(0, BLOCK // 4)"},
        fails="correct",
        says="1024 apart",
    ),
    Mistake(
        "one of the four numbers serves four elements",
        swap={WOVEN: "u = tl.interleave(tl.interleave(u0, u0), tl.interleave(u0, u0))"},
        fails="correct",
        says="Elements 1 apart",
    ),
    Mistake(
        "one of the four numbers is used twice",
        swap={WOVEN: "u = tl.interleave(tl.interleave(u0, u2), tl.interleave(u1, u2))"},
        fails="correct",
        says="apart are kept or dropped together",
    ),
    Mistake(
        "a program's four-fold counters run into the next program's",
        swap={COUNTERS: "counters = pid * (BLOCK // 8) + tl.arange(0, BLOCK // 4)"},
        fails="correct",
        says="apart are kept or dropped together",
    ),
    Mistake(
        "the program's number is added to the seed",
        swap={DRAW: "tl.rand4x(seed + pid, tl.arange(0, BLOCK // 4))"},
        fails="edges",
        says="seed + 1",
    ),
    Mistake(
        "the seed is an offset",
        swap={DRAW: "tl.rand4x(0, counters + seed)"},
        fails="correct or edges",
        says="seed + 1",
    ),
    Mistake(
        "the seed is a constant",
        swap={DRAW: "tl.rand4x(2024, counters)"},
        fails="edges",
        says="does not reach",
    ),
    Mistake(
        "the seed is cut to 32 bits",
        swap={"n, p, scale, seed, BLOCK=BLOCK": "n, p, scale, seed & 0xFFFFFFFF, BLOCK=BLOCK"},
        fails="edges",
        says="upper bits",
    ),
    Mistake(
        "every call moves the seed on",
        swap={
            "import torch\nimport triton\n": "import itertools\n\nimport torch\nimport triton\n",
            "@triton.jit\n": "calls = itertools.count()\n\n\n@triton.jit\n",
            "    n = x.numel()\n": "    n = x.numel()\n    seed += next(calls)\n",
        },
        fails="edges",
        says="same seed",
    ),
    Mistake(
        "the counters run backwards from the end of x",
        swap={COUNTERS: f"{COUNTERS.replace('= ', '= n - ')}"},
        fails="edges",
        says="longer x",
    ),
    Mistake(
        "each dtype gets streams of its own",
        swap={DRAW: "tl.rand4x(seed + 1000003 * x_ptr.dtype.element_ty.primitive_bitwidth, counters)"},
        fails="edges",
        says="fp16 gets another mask",
    ),
    Mistake(
        "a number of exactly 0 is dropped at p = 0",
        swap={KEEP: "keep = u > p"},
        fails="limit",
        says="where 100.0% should be",
    ),
    Mistake(
        "what is dropped is multiplied by 0",
        swap={CHOICE: "x * keep.to(tl.float32) * scale"},
        fails="limit",
        says="NaN",
    ),
    Mistake(
        "p = 1 divides by 0",
        swap={SCALE: "scale = 1 / (1 - p)"},
        fails="correct",
        says="float division by zero",
    ),
    Mistake(
        "p = 1 scales by Inf, and 0 · Inf is NaN",
        swap={
            SCALE: 'scale = 1 / (1 - p) if p < 1 else float("inf")',
            CHOICE: "tl.where(keep, x, 0.0) * scale",
        },
        fails="correct",
        says="NaN",
    ),
    Mistake(
        "the last, partial block gets no program",
        swap={"triton.cdiv(n, BLOCK)": "n // BLOCK"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the store of the mask has no mask",
        swap={"tl.store(keep_ptr + offs, keep, mask=mask)": "tl.store(keep_ptr + offs, keep)"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake("the mask is made of bytes", swap={MASK: "dtype=torch.uint8"}, fails="correct", says="dtype"),
    Mistake(
        "the mask is flat",
        swap={"keep = torch.empty(x.shape": "keep = torch.empty(n"},
        fails="correct",
        says="shape",
    ),
    Mistake("only y is returned", swap={RETURN: "    return y"}, fails="correct", says="2 outputs"),
    Mistake("x is dropped in place", swap={ALLOCATION: "y = x"}, fails="correct", says="input"),
    Mistake(
        "torch draws the mask",
        swap={
            RETURN: "    keep = torch.rand_like(x, dtype=torch.float32) >= p\n"
            "    return torch.where(keep, x * scale, 0), keep"
        },
        fails="edges",
        says="same seed",
    ),
    Mistake(
        "torch applies the mask",
        swap={RETURN: "    return torch.where(keep, x * scale, 0).to(x.dtype), keep"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "the random numbers go through memory",
        swap={
            "    BLOCK = 1024\n": f"    BLOCK = 1024\n{NOISE}",
            "@triton.jit\n": f"{DRAW_KERNEL}@triton.jit\n",
            "keep_ptr, n, p": "keep_ptr, u_ptr, n, p",
            "keep, n, p": "keep, u, n, p",
            WOVEN: "u = tl.load(u_ptr + offs, mask=mask, other=1.0)",
        },
        fails="memory",
        says="intermediate tensor",
        gpu=True,
    ),
    Mistake(
        "the rate is rounded to 1/256",
        swap={KEEP: "keep = u >= tl.floor(p * 256 + 0.5) / 256"},
        fails="edges",
        says="rounded",
    ),
    Mistake(
        "the number of a program with a large block is added to the seed",
        swap={
            DRAW: "tl.rand4x(seed + pid, tl.arange(0, BLOCK // 4))",
            "    BLOCK = 1024\n": "    BLOCK = 4096\n",
        },
        fails="edges",
        says="shifted",
    ),
    Mistake(
        "the grid counts blocks of twice the size",
        swap={"triton.cdiv(n, BLOCK)": "triton.cdiv(n, 2 * BLOCK)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the threshold has 31 bits, and what is held against it 32",
        swap={
            DRAW: "tl.randint4x(seed, counters)",
            KEEP: "keep = u.to(tl.uint32, bitcast=True) >= (p * 2147483648.0).to(tl.uint32)",
        },
        fails="correct",
        says="of the elements are kept where 50.0% should be",
    ),
    Mistake(
        "the mask is stored one place early",
        swap={"tl.store(keep_ptr + offs, keep": "tl.store(keep_ptr + offs - 1, keep"},
        fails="correct",
        says="before the start of",
    ),
    Mistake(
        "the result is stored one place early",
        swap={"tl.store(y_ptr + offs, tl.where": "tl.store(y_ptr + offs - 1, tl.where"},
        fails="correct",
        says="before the start of",
    ),
    Mistake(
        "fp16 is scaled up before it is scaled",
        swap={
            LOAD: "x = tl.load(x_ptr + offs, mask=mask) * 16",
            "x * scale": "x.to(tl.float32) / 16 * scale",
        },
        fails="edges",
        says="in fp16, which ends at 65504",
        at="* 16",
    ),
    Mistake(
        "one block holds the whole input, whatever its length",
        swap={"    BLOCK = 1024\n": "    BLOCK = max(triton.next_power_of_2(n), 16)\n"},
        fails="fast",
        says="exceeds triton maximum tensor numel",
    ),
    Mistake(
        "which elements are kept hangs on their sign",
        swap={f"{KEEP}  #": f"keep = tl.where({LOAD[4:]} > 0, u, 1 - u) >= p  #"},
        fails="edges",
        says="not what x holds",
    ),
]
