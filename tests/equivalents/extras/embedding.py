"""Mutants of the embedding that live, and why."""

from tools.planted import Equivalent

IDS = "ids = tl.load(ids_ptr + tokens, mask=inside, other=0)"
ROW = "row = tl.load(weight_ptr + ids[:, None] * stride_wv + offs_d[None, :], mask=mask, other=0.0)"
DY = "dy = tl.load(dy_ptr + at[:, None] + offs_d[None, :] * stride_d, mask=mask, other=0.0)"
ROUND = "tl.store(dweight_ptr + offs, tl.load(sums_ptr + offs, mask=offs < n, other=0.0), mask=offs < n)"


def unmasked(function: str, line: str) -> Equivalent:
    becomes = line.replace("other=0.0", "other=0").replace("other=0", "other=-float('inf')")
    return Equivalent(f"solution:{function}", line, becomes, "masked lanes are neither looked up nor stored")


equivalents = [
    unmasked("forward_kernel", IDS),
    unmasked("forward_kernel", ROW),
    unmasked("backward_kernel", IDS),
    unmasked("backward_kernel", DY),
    unmasked("round_kernel", ROUND),
    Equivalent(
        "solution:backward_kernel",
        "offs_d = (tl.program_id(0) % tiles_d).to(tl.int64) * BLOCK_D + tl.arange(0, BLOCK_D)",
        "offs_d = tl.program_id(0) % tiles_d * BLOCK_D + tl.arange(0, BLOCK_D)",
        "of upstream gradients beyond 2³¹ elements only contiguous ones are tried",
    ),
    Equivalent(
        "solution:backward_kernel",
        'tl.atomic_add(sums, dy.to(tl.float32), mask=mask, sem="relaxed")',
        'tl.atomic_add(sums, dy, mask=mask, sem="relaxed")',
        "tl.atomic_add converts to the dtype that the pointer has",
    ),
    Equivalent(
        "first_token:add_up",
        "g = tl.load(G + t // n2 // n1 * a + t // n2 % n1 * b + t % n2 * c + j * d, "
        "mask=use & (j < D), other=0.0)",
        "g = tl.load(G + t // n2 // n1 * a + t // n2 % n1 * b + t % n2 * c + j * d, "
        "mask=use & (j < D), other=-float('inf'))",
        "the lanes that are masked are not added, either",
    ),
]
