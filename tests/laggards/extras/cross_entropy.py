"""Extra: right answers that send through memory what they could keep on the chip."""

from tools.planted import Laggard

laggards = [
    # Written and read again in fp32: 14 bytes a logit of bf16.
    Laggard(
        "the logarithm of softmax goes through memory",
        swap={
            """\
def backward_kernel(
…
    sum_ptr,
""": '''\
def log_softmax_kernel(
    logits_ptr, target_ptr, max_ptr, sum_ptr, logp_ptr, n_cols, stride_m, ignore_index, BLOCK_N: tl.constexpr
):
    """Reads mv, writes mv in fp32."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    if tl.load(target_ptr + row) != ignore_index:
        x = tl.load(logits_ptr + row * stride_m + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        logp = x - tl.load(max_ptr + row) - tl.log(tl.load(sum_ptr + row))
        tl.store(logp_ptr + row * n_cols + cols, logp, mask=cols < n_cols)


@triton.jit
def gradient_kernel(
    logp_ptr,
    target_ptr,
    dloss_ptr,
''',
            """\
    dlogits_ptr,
    n_cols,
    stride_m,
""": """\
    dlogits_ptr,
    n_cols,
""",
            '''\
    """BLOCK_N columns of one row: dlogits = (softmax - what is aimed at) * dloss / count."""
''': '    """Reads mv in fp32, writes mv."""\n',
            """\
    mask = cols < n_cols
…
        tl.store(dlogits_ptrs, tl.zeros((BLOCK_N,), tl.float32), mask=mask)
""": """\
    target = tl.load(target_ptr + row)
    y = tl.zeros((BLOCK_N,), tl.float32)
    if target != ignore_index:
        y = tl.exp(tl.load(logp_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0))
        y -= tl.where(cols == target, 1 - smoothing, 0.0) + smoothing / n_cols
        y *= tl.load(dloss_ptr) / tl.load(count_ptr)
    tl.store(dlogits_ptr + row * n_cols + cols, y, mask=cols < n_cols)
""",
            """\
        BLOCK_N = min(triton.next_power_of_2(n_cols), 4096)
…
            num_warps=4,
""": """\
        logp = torch.empty(n_rows, n_cols, dtype=torch.float32, device=logits.device)
        ignore_index, smoothing = ctx.numbers
        BLOCK_N = min(triton.next_power_of_2(n_cols), 4096)
        grid = (n_rows, triton.cdiv(n_cols, BLOCK_N))
        log_softmax_kernel[grid](
            logits, target, maxima, sums, logp, n_cols, logits.stride(0), ignore_index, BLOCK_N=BLOCK_N
        )
        gradient_kernel[grid](
            logp, target, dloss, count, dlogits, n_cols, ignore_index, smoothing, BLOCK_N=BLOCK_N
""",
        },
    )
]
