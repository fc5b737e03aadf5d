"""Rows and columns under masks, in a 2-D grid; weights read as they lie and transposed on the chip."""

import triton
import triton.language as tl


@triton.jit
def unit(X, G, U, Y, M, N, K, xm, xk, gn, gk, un, uk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    cols = tl.program_id(1).to(tl.int64) * BN + tl.arange(0, BN)
    rows = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    a = tl.zeros((BM, BN), tl.float32)
    b = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        ks = (start + tl.arange(0, BK)).to(tl.int64)
        weight = (cols < N)[:, None] & (ks < K)[None, :]
        x = tl.load(
            X + rows[:, None] * xm + ks[None, :] * xk, mask=(rows < M)[:, None] & (ks < K)[None, :], other=0
        )
        g = tl.load(G + cols[:, None] * gn + ks[None, :] * gk, mask=weight, other=0)
        u = tl.load(U + cols[:, None] * un + ks[None, :] * uk, mask=weight, other=0)
        a += tl.dot(x, g.T, input_precision="ieee")
        b += tl.dot(x, u.T, input_precision="ieee")
    y = a * tl.sigmoid(a) * b
    tl.store(
        Y + rows[:, None] * N + cols[None, :],
        y.to(Y.dtype.element_ty),
        mask=(rows < M)[:, None] & (cols < N)[None, :],
    )


def swiglu_gemm(x, w_gate, w_up):
    M, K = x.shape
    N = w_gate.shape[0]
    y = x.new_empty((M, N))
    half = x.element_size() == 2
    bm, bn, bk = (128, 64, 64) if half else (32, 32, 32)
    unit[(triton.cdiv(M, bm), triton.cdiv(N, bn))](
        x, w_gate, w_up, y, M, N, K, *x.stride(), *w_gate.stride(), *w_up.stride(),
        BM=bm, BN=bn, BK=bk, num_warps=4, num_stages=3 if half else 2,
    )  # fmt: skip
    return y
