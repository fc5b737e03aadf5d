"""Three loops over blocks of columns, and flags for what is None, with another pointer in its place."""

import triton
import triton.language as tl


@triton.jit
def _ln_fwd(X, Y, W, B, stride, N, eps, HAS_W: tl.constexpr, HAS_B: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    X += row.to(tl.int64) * stride
    Y += row.to(tl.int64) * N
    acc = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        acc += tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(acc, axis=0) / N
    acc = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        diff = tl.load(X + cols, mask=cols < N, other=mean).to(tl.float32) - mean
        diff = tl.where(cols < N, diff, 0.0)
        acc += diff * diff
    rstd = 1 / tl.sqrt(tl.sum(acc, axis=0) / N + eps)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        mask = cols < N
        out = (tl.load(X + cols, mask=mask, other=0.0).to(tl.float32) - mean) * rstd
        if HAS_W:
            out = out * tl.load(W + cols, mask=mask).to(tl.float32)
        if HAS_B:
            out = out + tl.load(B + cols, mask=mask).to(tl.float32)
        tl.store(Y + cols, out.to(Y.dtype.element_ty), mask=mask)


def layer_norm(x, weight, bias, eps):
    M, N = x.shape
    y = x.new_empty((M, N))
    if M == 0:
        return y
    _ln_fwd[(M,)](
        x,
        y,
        x if weight is None else weight,
        x if bias is None else bias,
        x.stride(0),
        N,
        eps,
        HAS_W=weight is not None,
        HAS_B=bias is not None,
        BLOCK_SIZE=min(4096, max(16, triton.next_power_of_2(N))),
        num_warps=8,
    )
    return y
