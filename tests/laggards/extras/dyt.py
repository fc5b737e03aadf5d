"""Extra: right answers that move more bytes than they must, or whose sums queue up at one place."""

from tools.planted import Laggard

KERNEL = """def forward_kernel(
    x_ptr,
    alpha_ptr,
    weight_ptr,
"""
TANH = '''def tanh_kernel(
    x_ptr, alpha_ptr, t_ptr, n_rows, n_cols, stride_xm, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    """Reads mn, writes mn in fp32."""
    tiles_n = tl.cdiv(n_cols, BLOCK_N)
    offs_m = (tl.program_id(0) // tiles_n).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(0) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m < n_rows)[:, None] & (offs_n < n_cols)[None, :]
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask).to(tl.float32)
    t = tanh(tl.load(alpha_ptr).to(tl.float32) * x)
    tl.store(t_ptr + offs_m[:, None] * n_cols + offs_n[None, :], t, mask=mask)


@triton.jit
'''
Y = "tanh(alpha * x.to(tl.float32)) + bias[None, :]"
GRID = "(triton.cdiv(n_rows, BLOCK_M) * triton.cdiv(n_cols, BLOCK_N),)"
LAUNCH = f"        forward_kernel[{GRID}](\n            x,\n"
BLOCKS = "\n            BLOCK_M=BLOCK_M"
STORED = f"""        t = torch.empty(n_rows, n_cols, dtype=torch.float32, device=x.device)
        grid = {GRID}
        blocks = dict(BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
        tanh_kernel[grid](x, alpha, t, n_rows, n_cols, x.stride(0), **blocks)
"""

laggards = [
    # tanh goes out in fp32 and comes back: 12 bytes an element of bf16 where 4 would do. What was a kernel
    # for all of it reads the stored tanh as its x, n_cols from row to row.
    Laggard(
        "tanh by a kernel of its own, which stores it",
        swap={
            KERNEL: TANH + KERNEL,
            Y: "x + bias[None, :]",
            LAUNCH: STORED + LAUNCH.replace("x,", "t,"),
            f"x.stride(0),{BLOCKS}": f"n_cols,{BLOCKS}",
        },
        stores=True,
    ),
    # 67 million additions to one number, one behind the other.
    Laggard(
        "an atomic addition to dalpha for every element",
        swap={
            "dalpha += dz * x": "tl.atomic_add(dalpha_part_ptr + 0 * offs_n, dz * x, mask=mask)",
            "    tl.store(dalpha_part_ptr + tl.program_id(0), tl.sum(dalpha, axis=0))\n": "",
            "dalpha_part = torch.empty(chunks * strips, 1,": "dalpha_part = torch.zeros(1, 1,",
        },
    ),
]
