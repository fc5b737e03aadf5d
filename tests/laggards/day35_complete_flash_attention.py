"""Day 35: right answers that compute more than they need, or without the matrix units."""

from tools.planted import Laggard

BLOCKS = (
    "tall, narrow, num_warps = (128, 64, 8) if kernel is forward_kernel or not q.is_cuda else (64, 32, 4)"
)
FIRST = "first = tl.maximum(start_n + Sq - Sk, 0)"
FIRST_KERNEL = "@triton.jit\ndef key_head"
IMPORT = "from tiles import attend, dscores, keys_seen, load_rows, store_rows"
KEYS = "for start_n in range(0, tl.max(visible, axis=0), BLOCK_N)"
ALL_KEYS = "for start_n in range(0, Sk, BLOCK_N)"
FORWARD = "acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)\n    "
BACKWARD = "dq = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)\n    "
WIDE = """@triton.jit
def load_rows(
    x_ptr, start, n_rows, stride_xm, stride_xd, D: tl.constexpr, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr
):
    return load_half(x_ptr, start, n_rows, stride_xm, stride_xd, D, BLOCK, BLOCK_D).to(tl.float32)


"""

laggards = [
    # Half of the scores are computed for nothing, and tiles of 32 × 32 read as many bytes from L2 as they
    # compute products: of 4096 rows each is read 128 times.
    Laggard(
        "no causal block is skipped, and tiles are small",
        swap={
            BLOCKS: "tall, narrow, num_warps = 32, 32, 4",
            FORWARD + KEYS: FORWARD + ALL_KEYS,
            BACKWARD + KEYS: BACKWARD + ALL_KEYS,
            FIRST: "first = 0",
        },
    ),
    # No matrix unit computes IEEE fp32: 60 TFLOP/s at best where fp16 has 900.
    Laggard(
        "everything is made fp32 before its product",
        swap={
            BLOCKS: "tall, narrow, num_warps = 32, 16, 4",
            IMPORT: IMPORT.replace("load_rows", "load_rows as load_half"),
            FIRST_KERNEL: WIDE + FIRST_KERNEL,
        },
    ),
]
