"""Day 25: what recomputing a mask gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALLOCATION = "y = torch.empty(x.shape, dtype=x.dtype, device=x.device)"
CHOICE = "tl.where(u >= p, x * scale, 0.0)"
COUNTERS = "counters = first // 4 + (pid % n_blocks) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)"
DRAW = "tl.rand4x(seed, counters)"
FORWARD = "        return drop(x, p, seed)\n"
GRADIENT = "return Dropout.apply(dy, ctx.p, ctx.seed), None, None"
JOINED = "(B, M, N), strides = joined(x)"
LAST = "    return Dropout.apply(x, p, seed)"
SCALE = "scale = 1 / (1 - p) if p < 1 else 0.0"
WOVEN = "u = tl.interleave(tl.interleave(u0, u2), tl.interleave(u1, u3))"

KEY_KERNEL = """@triton.jit
def key_kernel(x_ptr, key_ptr, n):
    x = tl.load(x_ptr, mask=n > 0, other=0.0).to(tl.float32)
    tl.store(key_ptr, tl.where(x == x, tl.minimum(tl.maximum(x, -9.0), 9.0) * 1000, 0.0).to(tl.int64))


"""

# fmt: off
mistakes = [
    Mistake("backward() is not written",
            {"        return Dropout.apply(dy, ctx.p, ctx.seed), None, None\n": "        pass\n"},
            "backward() returns nothing where 3 gradients are asked for"),
    Mistake("y is written without its batch",
            {"y_ptr + offs, tl.where": "y_ptr + row % M * N + offs_n, tl.where"}, "no store reached them",
            fails="edges"),
    Mistake("x is kept for the backward pass", {FORWARD: f"        ctx.save_for_backward(x)\n{FORWARD}"},
            "keeps"),
    Mistake("a mask is made on the way, and not kept",
            {FORWARD: "        ones = torch.ones(x.shape, dtype=x.dtype, device=x.device)\n"
             f"        drop(ones, p, seed)\n{FORWARD}"}, "intermediate tensor", fails="memory", gpu=True),
    Mistake("the backward pass takes the next seed", {GRADIENT: GRADIENT.replace("ctx.seed", "ctx.seed + 1")},
            "drops other elements"),
    Mistake("dy is handed on", {GRADIENT: "return dy, None, None"}, "handed on"),
    Mistake("the gradient is scaled twice",
            {GRADIENT: "return drop(drop(dy, ctx.p, ctx.seed), ctx.p, ctx.seed), None, None"},
            "scaled twice"),
    Mistake("torch takes the scale out of the gradient again",
            {GRADIENT: GRADIENT.replace(", None, None", " * (1 - ctx.p), None, None")}, "is not scaled"),
    Mistake("one gradient for three arguments", {GRADIENT: GRADIENT.replace(", None, None", "")},
            "gradients"),
    Mistake("the gradient stands in the wrong place",
            {GRADIENT: "return None, None, Dropout.apply(dy, ctx.p, ctx.seed)"}, "gradient"),
    Mistake("the kernel is called past autograd", {LAST: "    return drop(x, p, seed)"}, "not connected"),
    Mistake("the gradient is written over dy", {ALLOCATION: f"{ALLOCATION} if x.requires_grad else x"},
            "upstream gradient"),
    Mistake("x and dy are taken to be contiguous",
            {"x_ptr + row // M * stride_xb + row % M * stride_xm + offs_n * stride_xn": "x_ptr + offs"},
            "stride", fails="edges"),
    Mistake("y has the strides of x", {ALLOCATION: "y = torch.empty_like(x)"}, "contiguous", fails="edges"),
    Mistake("x and dy are copied first", {JOINED: f"x = x.contiguous()\n    {JOINED}"}, "torch copied",
            fails="honest"),
    Mistake("the counter is the place in the row",
            {COUNTERS: "pass", "    u0, u1, u2, u3 = tl.rand4x(seed, counters)\n": "",
             WOVEN: "u = tl.rand(seed, offs_n)"}, "not by its row, the program's number", fails="edges"),
    Mistake("the counter is the place in the row, and the program's number is added to the seed",
            {COUNTERS: "pass", "    u0, u1, u2, u3 = tl.rand4x(seed, counters)\n": "",
             WOVEN: "u = tl.rand(seed + pid, offs_n)"}, "the program's number or a stride", fails="edges"),
    Mistake("every row draws the same numbers",
            {COUNTERS: "counters = (pid % n_blocks) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)"},
            "drops other elements", fails="edges"),
    Mistake("the lanes before the row are stored",
            {"mask = (offs_n >= 0) & (offs_n < N)": "mask = offs_n < N"}, "an offset is below 0 there",
            fails="edges"),
    Mistake("the lanes that a row starts early are missing at its end", {"N + (3 if N % 4 else 0)": "N"},
            "never written", fails="edges"),
    Mistake("the seed is a constant", {DRAW: "tl.rand4x(2024, counters)"}, "does not reach", fails="edges"),
    Mistake("what is kept is not scaled", {CHOICE: "tl.where(u >= p, x, 0.0)"}, "scaled"),
    Mistake("p is the share that is kept", {CHOICE: CHOICE.replace(">=", "<")}, "dropped, not"),
    Mistake("what is dropped is multiplied by 0", {CHOICE: "x * (u >= p).to(tl.float32) * scale"}, "NaN",
            fails="limit"),
    Mistake("p = 1 divides by 0", {SCALE: "scale = 1 / (1 - p)"}, "float division by zero"),
    Mistake("the backward pass is torch's",
            {GRADIENT: "return Dropout.apply(dy, ctx.p, ctx.seed) * 1.0, None, None"}, "torch",
            fails="honest"),
    Mistake("the rate is rounded to 1/256", {">= p": ">= tl.floor(p * 256 + 0.5) / 256"}, "rounded",
            fails="edges"),
    Mistake("the rate and the seed are kept on the class",
            {"ctx.p, ctx.seed = p, seed": "Dropout.p, Dropout.seed = p, seed",
             "Dropout.apply(dy, ctx.p, ctx.seed)": "Dropout.apply(dy, Dropout.p, Dropout.seed)"},
            "another forward pass", fails="edges"),
    Mistake(
        "a dimension whose stride is 0 is joined with the one before",
        {
            "if sizes[-1] == 1 or strides[-1] == size * stride:": (
                "if sizes[-1] == 1 or stride == 0 or strides[-1] == size * stride:"
            )
        },
        "is right",
        fails="edges",
    ),
    Mistake(
        "the seed is made of what x holds, and kept for the backward pass",
        {
            "@triton.jit\ndef dropout_kernel(": KEY_KERNEL + "@triton.jit\ndef dropout_kernel(",
            "seed, BLOCK: tl": "seed, key_ptr, BLOCK: tl",
            DRAW: "tl.rand4x(seed + tl.load(key_ptr), counters)",
            "seed, BLOCK=BLOCK": "seed, key, BLOCK=BLOCK",
            "def drop(x: torch.Tensor, p: float, seed: int)": (
                "def drop(x: torch.Tensor, p: float, seed: int, key: torch.Tensor)"
            ),
            FORWARD: """        ctx.key = torch.zeros(1, dtype=torch.int64, device=x.device)
        key_kernel[(1,)](x, ctx.key, x.numel())
        return drop(x, p, seed, ctx.key)
""",
            GRADIENT: "return drop(dy, ctx.p, ctx.seed, ctx.key), None, None",
        },
        "not what x holds",
        fails="edges",
    ),
    Mistake("both passes draw by the sign of what they are handed",
            {CHOICE: "tl.where(tl.where(x > 0, u, 1 - u) >= p, x * scale, 0.0)"},
            "the same seed and the same element numbers, and by nothing else"),
]
