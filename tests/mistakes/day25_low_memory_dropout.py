"""Day 25: what recomputing a mask gets wrong, and what the grader must say about it."""

from __future__ import annotations

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

mistakes = [
    Mistake(
        "backward() is not written",
        swap={"        return Dropout.apply(dy, ctx.p, ctx.seed), None, None\n": "        pass\n"},
        fails="correct",
        says="backward() returns nothing where 3 gradients are asked for",
    ),
    Mistake(
        "y is written without its batch",
        swap={"y_ptr + offs, tl.where": "y_ptr + row % M * N + offs_n, tl.where"},
        fails="edges",
        says="no store reached them",
    ),
    Mistake(
        "x is kept for the backward pass",
        swap={FORWARD: f"        ctx.save_for_backward(x)\n{FORWARD}"},
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "a mask is kept for the backward pass",
        swap={
            FORWARD: "        ones = torch.ones(x.shape, dtype=x.dtype, device=x.device)\n"
            f"        ctx.mask = drop(ones, p, seed)\n{FORWARD}"
        },
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "a mask is made on the way, and not kept",
        swap={
            FORWARD: "        ones = torch.ones(x.shape, dtype=x.dtype, device=x.device)\n"
            f"        drop(ones, p, seed)\n{FORWARD}"
        },
        fails="memory",
        says="intermediate tensor",
        gpu=True,
    ),
    Mistake(
        "the backward pass takes the next seed",
        swap={GRADIENT: GRADIENT.replace("ctx.seed", "ctx.seed + 1")},
        fails="correct",
        says="drops other elements",
    ),
    Mistake(
        "dy is handed on",
        swap={GRADIENT: "return dy, None, None"},
        fails="correct",
        says="handed on",
    ),
    Mistake(
        "the gradient is scaled twice",
        swap={GRADIENT: "return drop(drop(dy, ctx.p, ctx.seed), ctx.p, ctx.seed), None, None"},
        fails="correct",
        says="scaled twice",
    ),
    Mistake(
        "torch takes the scale out of the gradient again",
        swap={GRADIENT: GRADIENT.replace(", None, None", " * (1 - ctx.p), None, None")},
        fails="correct",
        says="is not scaled",
    ),
    Mistake(
        "one gradient for three arguments",
        swap={GRADIENT: GRADIENT.replace(", None, None", "")},
        fails="correct",
        says="gradients",
    ),
    Mistake(
        "the gradient stands in the wrong place",
        swap={GRADIENT: "return None, None, Dropout.apply(dy, ctx.p, ctx.seed)"},
        fails="correct",
        says="gradient",
    ),
    Mistake(
        "the kernel is called past autograd",
        swap={LAST: "    return drop(x, p, seed)"},
        fails="correct",
        says="not connected",
    ),
    Mistake(
        "the gradient is written over dy",
        swap={ALLOCATION: f"{ALLOCATION} if x.requires_grad else x"},
        fails="correct",
        says="upstream gradient",
    ),
    Mistake(
        "x and dy are taken to be contiguous",
        swap={"x_ptr + row // M * stride_xb + row % M * stride_xm + offs_n * stride_xn": "x_ptr + offs"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "only elements within a row have a stride",
        swap={"x_ptr + row // M * stride_xb + row % M * stride_xm": "x_ptr + row * N"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "the outermost stride is left out",
        swap={"row // M * stride_xb + row % M * stride_xm": "row * stride_xm"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "y has the strides of x",
        swap={ALLOCATION: "y = torch.empty_like(x)"},
        fails="edges",
        says="contiguous",
    ),
    Mistake(
        "x and dy are copied first",
        swap={JOINED: f"x = x.contiguous()\n    {JOINED}"},
        fails="honest",
        says="torch copied",
    ),
    Mistake(
        "the counter is the place in memory",
        swap={
            COUNTERS: "x_offs = row // M * stride_xb + row % M * stride_xm + offs_n * stride_xn",
            "    u0, u1, u2, u3 = tl.rand4x(seed, counters)\n": "",
            WOVEN: "u = tl.rand(seed, x_offs)",
        },
        fails="edges",
        says="drops other elements",
    ),
    Mistake(
        "the counter is the place in the row",
        swap={
            COUNTERS: "pass",
            "    u0, u1, u2, u3 = tl.rand4x(seed, counters)\n": "",
            WOVEN: "u = tl.rand(seed, offs_n)",
        },
        fails="edges",
        says="not by its row, the program's number",
    ),
    Mistake(
        "the counter is the place in the row, and the program's number is added to the seed",
        swap={
            COUNTERS: "pass",
            "    u0, u1, u2, u3 = tl.rand4x(seed, counters)\n": "",
            WOVEN: "u = tl.rand(seed + pid, offs_n)",
        },
        fails="edges",
        says="the program's number or a stride",
    ),
    Mistake(
        "every row draws the same numbers",
        swap={COUNTERS: "counters = (pid % n_blocks) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)"},
        fails="edges",
        says="drops other elements",
    ),
    Mistake(
        "every row starts with numbers of its own, by its own count",
        swap={COUNTERS: "counters = pid * (BLOCK // 4) + tl.arange(0, BLOCK // 4)"},
        fails="edges",
        says="drops other elements",
    ),
    Mistake(
        "a row that starts in the middle of a four is written from there",
        swap={"offs = first // 4 * 4 +": "offs = first +"},
        fails="edges",
        says="drops other elements",
    ),
    Mistake(
        "the lanes before the row are stored",
        swap={"mask = (offs_n >= 0) & (offs_n < N)": "mask = offs_n < N"},
        fails="edges",
        says="an offset is below 0 there",
    ),
    Mistake(
        "the lanes that a row starts early are missing at its end",
        swap={"N + (3 if N % 4 else 0)": "N"},
        fails="edges",
        says="never written",
    ),
    Mistake(
        "the seed is a constant",
        swap={DRAW: "tl.rand4x(2024, counters)"},
        fails="edges",
        says="does not reach",
    ),
    Mistake(
        "the program's number is added to the seed",
        swap={DRAW: "tl.rand4x(seed + pid, tl.arange(0, BLOCK // 4))"},
        fails="edges",
        says="drops other elements",
    ),
    Mistake(
        "what is kept is not scaled",
        swap={CHOICE: "tl.where(u >= p, x, 0.0)"},
        fails="correct",
        says="scaled",
    ),
    Mistake(
        "p is the share that is kept",
        swap={CHOICE: CHOICE.replace(">=", "<")},
        fails="correct",
        says="dropped, not",
    ),
    Mistake(
        "what is dropped is multiplied by 0",
        swap={CHOICE: "x * (u >= p).to(tl.float32) * scale"},
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
        "the backward pass is torch's",
        swap={GRADIENT: "return Dropout.apply(dy, ctx.p, ctx.seed) * 1.0, None, None"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "the rate is rounded to 1/256",
        swap={">= p": ">= tl.floor(p * 256 + 0.5) / 256"},
        fails="edges",
        says="rounded",
    ),
    Mistake(
        "the rate and the seed are kept on the class",
        swap={
            "ctx.p, ctx.seed = p, seed": "Dropout.p, Dropout.seed = p, seed",
            "Dropout.apply(dy, ctx.p, ctx.seed)": "Dropout.apply(dy, Dropout.p, Dropout.seed)",
        },
        fails="edges",
        says="another forward pass",
    ),
    Mistake(
        "a dimension whose stride is 0 is joined with the one before",
        swap={
            "if sizes[-1] == 1 or strides[-1] == size * stride:": (
                "if sizes[-1] == 1 or stride == 0 or strides[-1] == size * stride:"
            ),
        },
        fails="edges",
        says="is right",
    ),
    Mistake(
        "the seed is made of what x holds, and kept for the backward pass",
        swap={
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
        fails="edges",
        says="not what x holds",
    ),
    Mistake(
        "both passes draw by the sign of what they are handed",
        swap={CHOICE: "tl.where(tl.where(x > 0, u, 1 - u) >= p, x * scale, 0.0)"},
        fails="correct",
        says="the same seed and the same element numbers, and by nothing else",
    ),
]
