"""Extra: right answers that move more bytes than they must, or whose sums wait for one program."""

from tools.planted import Laggard

laggards = [
    # Three reads and two writes: 10 bytes an element of bf16 where 4 would do.
    Laggard(
        "forward as three kernels, for rstd, x_hat and y",
        swap={
            '''\
def forward_kernel(
    x_ptr,
    weight_ptr,
    y_ptr,
    rstd_ptr,
    n_rows,
    n_cols,
    stride_xm,
    eps,
    offset,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """y = x * rstd * (offset + weight) for BLOCK_M rows, and rstd = 1 / sqrt(mean of x^2 + eps) to keep."""
    # 64 bits: a row may start 2**31 elements or more after the first one.
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    rows, cols = offs_m < n_rows, offs_n < n_cols
    mask = rows[:, None] & cols[None, :]
    # n elements a row from HBM; the weight comes from L2, asked for before anybody waits for a sum.
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :], mask=mask, other=0.0)
    weight = tl.load(weight_ptr + offs_n, mask=cols, other=0.0)
    # fp32 before the square: in fp16 256 * 256 is infinite already.
    x = x.to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=1) / n_cols + eps)
    # offset + weight in fp32 too: beside 1 a small bf16 weight would lose its last digits.
    y = x * rstd[:, None] * (offset + weight.to(tl.float32))[None, :]
    # n elements a row to HBM, rounded here and nowhere earlier; 4 bytes a row save backward this reduction.
    tl.store(y_ptr + offs_m[:, None] * n_cols + offs_n[None, :], y, mask=mask)
    tl.store(rstd_ptr + offs_m, rstd, mask=rows)
''': '''\
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
        BLOCK_N = triton.next_power_of_2(n_cols)
        BLOCK_M = max(8192 // BLOCK_N, 1)
        forward_kernel[(triton.cdiv(n_rows, BLOCK_M),)](
            x,
            weight,
            y,
            rstd,
            n_rows,
            n_cols,
            x.stride(0),
            eps,
            offset,
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
            num_warps=8 if BLOCK_N <= 8192 else 16,
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
