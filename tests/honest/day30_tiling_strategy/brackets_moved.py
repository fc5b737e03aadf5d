"""q (kᵀ v), the same without a softmax: a D x D matrix a head by one kernel, its products by another."""

import torch
import triton
import triton.language as tl


@triton.jit
def keys_times_values(
    k_ptr, v_ptr, kv_ptr, H, S, D, kb, kh, kn, kd, vb, vh, vn, vd, DP: tl.constexpr, W: tl.constexpr
):
    """Columns [W * pid, W * pid + W) of one head's kᵀ v, fp32."""
    head = tl.program_id(0).to(tl.int64)
    first, second = head // H, head % H
    d = tl.arange(0, DP)
    w = tl.program_id(1) * W + tl.arange(0, W)
    total = tl.zeros((DP, W), tl.float32)
    for start in range(0, S, 32):
        n = (start + tl.arange(0, 32)).to(tl.int64)
        k_at = k_ptr + first * kb + second * kh + d[:, None] * kd + n[None, :] * kn
        v_at = v_ptr + first * vb + second * vh + n[:, None] * vn + w[None, :] * vd
        k = tl.load(k_at, mask=(d < D)[:, None] & (n < S)[None, :], other=0.0)
        v = tl.load(v_at, mask=(n < S)[:, None] & (w < D)[None, :], other=0.0)
        total = tl.dot(k, v, total, input_precision="ieee")
    tl.store(kv_ptr + (head * DP + d[:, None]) * DP + w[None, :], total)


@triton.jit
def queries_times(
    q_ptr, kv_ptr, o_ptr, scale, H, S, D, qb, qh, qm, qd, DP: tl.constexpr, W: tl.constexpr, M: tl.constexpr
):
    head = tl.program_id(0).to(tl.int64)
    m = tl.program_id(1).to(tl.int64) * M + tl.arange(0, M)
    d = tl.arange(0, DP)
    q_at = q_ptr + head // H * qb + head % H * qh + m[:, None] * qm + d[None, :] * qd
    q = tl.load(q_at, mask=(m < S)[:, None] & (d < D)[None, :], other=0.0).to(tl.float32)
    for first in range(0, DP, W):
        w = first + tl.arange(0, W)
        kv = tl.load(kv_ptr + (head * DP + d[:, None]) * DP + w[None, :])
        o = tl.dot(q, kv, input_precision="ieee") * scale
        inside = (m < S)[:, None] & (w < D)[None, :]
        tl.store(o_ptr + (head * S + m[:, None]) * D + w[None, :], o, mask=inside)


def tiled_attention_scores(q, k, v, scale):
    B, H, Sq, D = q.shape
    o = torch.empty((B, H, Sq, D), dtype=q.dtype, device=q.device)
    DP = max(16, triton.next_power_of_2(D))
    W = min(DP, 32)
    kv = torch.empty((B, H, DP, DP), dtype=torch.float32, device=q.device)
    if o.numel():
        keys_times_values[(B * H, DP // W)](k, v, kv, H, k.shape[2], D, *k.stride(), *v.stride(), DP=DP, W=W)
        queries_times[(B * H, triton.cdiv(Sq, 64))](
            q, kv, o, scale, H, Sq, D, *q.stride(), DP=DP, W=W, M=64, num_warps=8
        )
    return o
