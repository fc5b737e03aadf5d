"""Tiled (q kT) v on a 3-d grid: pointers bumped in the loop, column strides and D as constexpr, autotuned.

May have limits.
"""

import torch
import triton
import triton.language as tl

configs = [
    triton.Config({"BLOCK_M": BM, "BLOCK_N": BN}, num_warps=w, num_stages=2)
    for BM, BN, w in [(128, 64, 8), (64, 64, 4), (64, 32, 4)]
]


@triton.autotune(configs=configs, key=["Sq", "Sk", "D"])
@triton.jit
def attn_kernel(
    Q, K, V, Out, Sq, Sk, scale,
    qb, qh, qm, kb, kh, kn, vb, vh, vn, ob, oh, om,
    qd: tl.constexpr, kd: tl.constexpr, vd: tl.constexpr, D: tl.constexpr, BLOCK_D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    pid_m, pid_h, pid_b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    d = tl.arange(0, BLOCK_D)
    d_mask = d < D
    q_ptrs = Q + pid_b * qb + pid_h * qh + rows[:, None] * qm + d[None, :] * qd
    k_ptrs = K + pid_b * kb + pid_h * kh + cols[None, :] * kn + d[:, None] * kd
    v_ptrs = V + pid_b * vb + pid_h * vh + cols[:, None] * vn + d[None, :] * vd
    q = tl.load(q_ptrs, mask=(rows < Sq)[:, None] & d_mask[None, :], other=0.0)
    acc = tl.zeros((BLOCK_M, BLOCK_D), dtype=tl.float32)
    for n in range(0, tl.cdiv(Sk, BLOCK_N)):
        n_mask = cols < Sk - n * BLOCK_N
        k = tl.load(k_ptrs, mask=d_mask[:, None] & n_mask[None, :], other=0.0)
        v = tl.load(v_ptrs, mask=n_mask[:, None] & d_mask[None, :], other=0.0)
        s = tl.dot(q, k, input_precision="ieee")
        s = tl.where(n_mask[None, :], s * scale, 0.0)
        acc += tl.dot(s.to(v.dtype), v, input_precision="ieee")
        k_ptrs += BLOCK_N * kn
        v_ptrs += BLOCK_N * vn
    o_ptrs = Out + pid_b * ob + pid_h * oh + rows[:, None] * om + d[None, :]
    tl.store(o_ptrs, acc.to(Out.dtype.element_ty), mask=(rows < Sq)[:, None] & d_mask[None, :])


class TiledAttention(torch.nn.Module):
    def forward(self, q, k, v, scale):
        B, H, Sq, D = q.shape
        Sk = k.size(2)
        o = torch.empty_like(q, memory_format=torch.contiguous_format)
        attn_kernel[lambda meta: (triton.cdiv(Sq, meta["BLOCK_M"]), H, B)](
            q, k, v, o, Sq, Sk, scale, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3],
            qd=q.stride(3), kd=k.stride(3), vd=v.stride(3), D=D, BLOCK_D=max(16, triton.next_power_of_2(D)),
        )  # fmt: skip
        return o


def tiled_attention_scores(q, k, v, scale):
    return TiledAttention()(q, k, v, scale)
