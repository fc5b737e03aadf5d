"""Extra: right answers that move more bytes than they must, or whose sums wait for one program."""

from tools.planted import Laggard

laggards = [
    # Three reads and two writes: 10 bytes an element of bf16 where 4 would do.
    Laggard(
        "forward as three kernels, for rstd, x_hat and y",
        swap={
            """\
def forward_kernel(
…
    tl.store(rstd_ptr + offs_m, rstd, mask=rows)
""": '''\
def rstd_kernel(x_ptr, rstd_ptr, n_cols, stride_xm, eps, BLOCK_N: tl.constexpr):
    """Reads mn, writes m."""
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    x = tl.load(x_ptr + row * stride_xm + offs_n, mask=offs_n < n_cols, other=0.0).to(tl.float32)
    tl.store(rstd_ptr + row, tl.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps))


@triton.jit
def normalize_kernel(x_ptr, rstd_ptr, x_hat_ptr, n_cols, stride_xm, BLOCK_N: tl.constexpr):
    """Reads mn + m, writes mn in fp32."""
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    x = tl.load(x_ptr + row * stride_xm + offs_n, mask=mask).to(tl.float32)
    tl.store(x_hat_ptr + row * n_cols + offs_n, x * tl.load(rstd_ptr + row), mask=mask)


@triton.jit
def scale_kernel(x_hat_ptr, weight_ptr, y_ptr, n_cols, offset, BLOCK_N: tl.constexpr):
    """Reads mn in fp32 and n, writes mn."""
    row = tl.program_id(0).to(tl.int64)
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    gain = offset + tl.load(weight_ptr + offs_n, mask=mask).to(tl.float32)
    tl.store(
        y_ptr + row * n_cols + offs_n, tl.load(x_hat_ptr + row * n_cols + offs_n, mask=mask) * gain, mask=mask
    )
''',
            """\
        # About 8192 elements a program: at n = 4096 two rows, which share one read of the weight.
…
        )
""": """\
        x_hat = torch.empty(n_rows, n_cols, dtype=torch.float32, device=x.device)
        shape = {"BLOCK_N": triton.next_power_of_2(n_cols), "num_warps": 8}
        rstd_kernel[(n_rows,)](x, rstd, n_cols, x.stride(0), eps, **shape)
        normalize_kernel[(n_rows,)](x, rstd, x_hat, n_cols, x.stride(0), **shape)
        scale_kernel[(n_rows,)](x_hat, weight, y, n_cols, offset, **shape)
""",
        },
        stores=True,
    ),
    # One SM of 132 walks along all 16384 rows.
    Laggard(
        "one program walks along all rows of the backward pass",
        swap={"programs = sms * max(16 // num_warps, 1)": "programs = 1", "programs = 2": "programs = 1"},
    ),
]
