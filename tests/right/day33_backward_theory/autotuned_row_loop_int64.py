"""delta by strided row sums in chunks of D; dS on a flat autotuned grid with int64 heads and where masks.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def delta_kernel(o_ptr, do_ptr, out_ptr, n_rows, H, S, ob, oh, om, db, dh, dm,
                 D: tl.constexpr, ROWS: tl.constexpr, CHUNK: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    head = row // S
    o_row = o_ptr + head // H * ob + head % H * oh + row % S * om
    do_row = do_ptr + head // H * db + head % H * dh + row % S * dm
    total = tl.zeros((ROWS,), tl.float32)
    for start in tl.static_range(0, D, CHUNK):
        cols = start + tl.arange(0, CHUNK)
        mask = (row < n_rows)[:, None] & (cols < D)[None, :]
        o = tl.load(o_row[:, None] + cols[None, :], mask=mask)
        do = tl.load(do_row[:, None] + cols[None, :], mask=mask)
        total += tl.sum(tl.where(mask, o.to(tl.float32) * do.to(tl.float32), 0.0), axis=1)
    tl.store(out_ptr + row, total, mask=row < n_rows)


@triton.autotune(
    [triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_warps=w) for m, n, w in [(64, 32, 4), (32, 32, 4)]],
    key=["Sq", "Sk", "D"],
)
@triton.jit
def dscores_kernel(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, ds_ptr, scale, H, Sq, Sk,
    qb, qh, qm, kb, kh, kn, vb, vh, vn, db, dh, dm, D: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    tiles_n = tl.cdiv(Sk, BLOCK_N)
    tiles_m = tl.cdiv(Sq, BLOCK_M)
    pid = tl.program_id(0)
    head = (pid // (tiles_m * tiles_n)).to(tl.int64)
    b, h = head // H, head % H
    m = (pid // tiles_n % tiles_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    n = (pid % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    d = tl.arange(0, BLOCK_D)
    m_ok, n_ok, d_ok = m < Sq, n < Sk, d < D
    q = tl.load(q_ptr + b * qb + h * qh + m[:, None] * qm + d, mask=m_ok[:, None] & d_ok, other=0.0)
    do = tl.load(do_ptr + b * db + h * dh + m[:, None] * dm + d, mask=m_ok[:, None] & d_ok, other=0.0)
    kt = tl.load(k_ptr + b * kb + h * kh + n[None, :] * kn + d[:, None], mask=n_ok & d_ok[:, None], other=0.0)
    vt = tl.load(v_ptr + b * vb + h * vh + n[None, :] * vn + d[:, None], mask=n_ok & d_ok[:, None], other=0.0)
    lse = tl.load(lse_ptr + head * Sq + m, mask=m_ok, other=float("inf"))
    delta = tl.load(delta_ptr + head * Sq + m, mask=m_ok, other=0.0)
    s = tl.dot(q, kt, input_precision="ieee") * scale
    keep = n_ok[None, :] & m_ok[:, None]
    if CAUSAL:
        keep &= n[None, :] <= m[:, None] + (Sk - Sq)
    p = tl.where(keep, tl.exp(s - lse[:, None]), 0.0)
    dp = tl.dot(do, vt, input_precision="ieee")
    ds = tl.where(keep, p * (dp - delta[:, None]), 0.0)
    tl.store(ds_ptr + (head * Sq + m)[:, None] * Sk + n[None, :], ds, mask=m_ok[:, None] & n_ok[None, :])


def delta(o, do):
    B, H, S, D = o.shape
    out = torch.empty(B, H, S, dtype=torch.float32, device=o.device)
    n_rows = out.numel()
    delta_kernel[(triton.cdiv(n_rows, 32),)](
        o, do, out, n_rows, H, S, *o.stride()[:3], *do.stride()[:3], D=D, ROWS=32, CHUNK=64
    )
    return out


def dscores(q, k, v, do, lse, delta, scale, causal):
    B, H, Sq, D = q.shape
    Sk = k.shape[2]
    ds = torch.empty((B, H, Sq, Sk), dtype=torch.float32, device=q.device)
    grid = lambda meta: (triton.cdiv(Sq, meta["BLOCK_M"]) * triton.cdiv(Sk, meta["BLOCK_N"]) * B * H,)  # noqa: E731
    dscores_kernel[grid](
        q, k, v, do, lse, delta, ds, scale, H, Sq, Sk, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],
        *do.stride()[:3], D=D, CAUSAL=causal, BLOCK_D=max(16, triton.next_power_of_2(D)),
    )  # fmt: skip
    return ds
