"""Extra: right answers that store what they could keep, or whose sum waits for one program."""

from tools.planted import Laggard

BEFORE = "@triton.jit\ndef mean_kernel("
LAUNCH = "        loss_kernel[(tiles,)](\n            logits,\n            target,"
COMPOSED = '''@triton.jit
def two_losses_kernel(
    x_ptr, yes_ptr, no_ptr, n_rows, n_cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    """Reads 4 bytes an element, writes 8."""
    offs_n, at, mask = place(n_rows, n_cols, BLOCK_M, BLOCK_N)
    if_yes, if_no = two_losses(tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32))
    tl.store(yes_ptr + at, if_yes, mask=mask)
    tl.store(no_ptr + at, if_no, mask=mask)


'''
STORED = """        yes, no = (torch.empty_like(logits, dtype=torch.float32) for _ in range(2))
        two_losses_kernel[(tiles,)](logits, yes, no, n_rows, n_cols, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
"""
FROM_MEMORY = "        loss_kernel[(tiles,)](\n            yes,\n            no,\n            target,"

laggards = [
    # 4 + 8 + 12 bytes an element forwards and 12 backwards: 36 where 20 would do.
    Laggard(
        "both logarithms go through memory",
        swap={
            BEFORE: COMPOSED + BEFORE,
            LAUNCH: STORED + FROM_MEMORY,
            "def loss_kernel(\n    x_ptr,": "def loss_kernel(\n    yes_ptr,\n    no_ptr,",
            "    # 8 bytes an element of fp32 from HBM, the only read of the forward pass; 12 with weights.\n"
            "    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)\n": "",
            "    if_yes, if_no = two_losses(x)\n    if pos": (
                "    if_yes = tl.load(yes_ptr + at, mask=mask, other=0.0)\n"
                "    if_no = tl.load(no_ptr + at, mask=mask, other=0.0)\n    if pos"
            ),
        },
    ),
    # 8192 * 8192 / 32 parts, one after the other: an SM of 132 is busy.
    Laggard(
        "tiles of 32 elements, whose parts one program adds up",
        swap={
            "max(n_cols, 1)), 1024)": "max(n_cols, 1)), 32)",
            "BLOCK_M = 2048 // BLOCK_N": "BLOCK_M = 32 // BLOCK_N",
            "n_rows * n_cols, BLOCK=16384, num_warps=32": "n_rows * n_cols, BLOCK=32, num_warps=1",
        },
    ),
]
