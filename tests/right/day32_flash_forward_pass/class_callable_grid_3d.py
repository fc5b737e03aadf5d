"""Flash forward in a callable class: pointers bumped along the keys, a grid of 3 axes, int32 offsets."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def _flash_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale_log2, seq_q, seq_k,
    stride_qb, stride_qh, stride_qs, stride_kb, stride_kh, stride_ks, stride_vb, stride_vh, stride_vs,
    HEAD: tl.constexpr, BLOCK_H: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    block_q, head, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    row = block_q * BLOCK_Q + tl.arange(0, BLOCK_Q)
    col = tl.arange(0, BLOCK_K)
    dim = tl.arange(0, BLOCK_H)
    q_ptrs = q_ptr + batch * stride_qb + head * stride_qh + row[:, None] * stride_qs + dim[None, :]
    k_ptrs = k_ptr + batch * stride_kb + head * stride_kh + col[:, None] * stride_ks + dim[None, :]
    v_ptrs = v_ptr + batch * stride_vb + head * stride_vh + col[:, None] * stride_vs + dim[None, :]
    q = tl.load(q_ptrs, mask=(row < seq_q)[:, None] & (dim < HEAD)[None, :], other=0.0)
    m = tl.full((BLOCK_Q,), float("-inf"), dtype=tl.float32)
    denom = tl.zeros((BLOCK_Q,), dtype=tl.float32)
    out = tl.zeros((BLOCK_Q, BLOCK_H), dtype=tl.float32)
    seen = tl.zeros((BLOCK_Q,), tl.int32) + seq_k
    if CAUSAL:
        seen = tl.minimum(seen, row + 1 + seq_k - seq_q)
    for start in range(0, tl.max(seen, axis=0), BLOCK_K):
        kv_mask = (col < seq_k - start)[:, None] & (dim < HEAD)[None, :]
        k = tl.load(k_ptrs, mask=kv_mask, other=0.0)
        v = tl.load(v_ptrs, mask=kv_mask, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale_log2
        s = tl.where((start + col)[None, :] < seen[:, None], s, float("-inf"))
        m_next = tl.maximum(m, tl.max(s, axis=1))
        m_sub = tl.where(m_next == float("-inf"), 0.0, m_next)
        p = tl.exp2(s - m_sub[:, None])
        decay = tl.exp2(m - m_sub)
        denom = denom * decay + tl.sum(p, axis=1)
        out = out * decay[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        m = m_next
        k_ptrs += BLOCK_K * stride_ks
        v_ptrs += BLOCK_K * stride_vs
    out = out / tl.where(denom > 0, denom, 1.0)[:, None]
    lse = (m + tl.log2(denom)) * 0.6931471805599453
    offs = (batch * tl.num_programs(1) + head) * seq_q + row
    tl.store(lse_ptr + offs, lse, mask=row < seq_q)
    tl.store(out_ptr + offs[:, None] * HEAD + dim[None, :], out, mask=(row < seq_q)[:, None] & (dim < HEAD))


class FlashForward:
    blocks = {torch.float16: (128, 64), torch.bfloat16: (128, 64), torch.float32: (64, 16)}

    def __call__(self, q, k, v, scale, causal):
        batch, heads, seq_q, head_dim = q.shape
        out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
        lse = torch.empty(q.shape[:-1], dtype=torch.float32, device=q.device)
        BLOCK_Q, BLOCK_K = self.blocks[q.dtype]
        _flash_kernel[(triton.cdiv(seq_q, BLOCK_Q), heads, batch)](
            q, k, v, out, lse, scale * math.log2(math.e), seq_q, k.size(2),
            *q.stride()[:3], *k.stride()[:3], *v.stride()[:3],
            HEAD=head_dim, BLOCK_H=max(16, triton.next_power_of_2(head_dim)), CAUSAL=causal,
            BLOCK_Q=BLOCK_Q, BLOCK_K=BLOCK_K, num_warps=4 if head_dim <= 64 else 8, num_stages=3,
        )  # fmt: skip
        return out, lse


flash_forward = FlashForward()
