"""Online attention by a fixed number of programs over query tiles, constexpr head width, a Module."""

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def persistent_attention(
    Q,
    K,
    V,
    O_,
    H,
    Sq,
    Sk,
    num_tiles,
    sqb,
    sqh,
    sqm,
    sqd,
    skb,
    skh,
    skn,
    skd,
    svb,
    svh,
    svn,
    svd,
    sm_scale,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    tiles_m = tl.cdiv(Sq, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_D)
    for tile in range(tl.program_id(0), num_tiles, tl.num_programs(0)):
        head = tile // tiles_m
        offs_m = (tile % tiles_m) * BLOCK_M + tl.arange(0, BLOCK_M)
        mask = (offs_m[:, None] < Sq) & (offs_d[None, :] < D)
        Qh = Q + (head // H) * sqb + (head % H) * sqh
        Kh = K + (head // H) * skb + (head % H) * skh
        Vh = V + (head // H) * svb + (head % H) * svh
        q = tl.load(Qh + offs_m[:, None] * sqm + offs_d[None, :] * sqd, mask=mask, other=0.0)
        m_i = tl.full([BLOCK_M], value=-float("inf"), dtype=tl.float32)
        l_i = tl.full([BLOCK_M], value=0.0, dtype=tl.float32)
        acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)
        for start in tl.range(0, Sk, BLOCK_N, num_stages=2):
            cols = start + offs_n
            kv_mask = (cols[:, None] < Sk) & (offs_d[None, :] < D)
            k = tl.load(Kh + cols[:, None] * skn + offs_d[None, :] * skd, mask=kv_mask, other=0.0)
            v = tl.load(Vh + cols[:, None] * svn + offs_d[None, :] * svd, mask=kv_mask, other=0.0)
            s = tl.dot(q, k.T, input_precision="ieee") * (sm_scale * LOG2E)
            s = tl.where(cols[None, :] < Sk, s, -float("inf"))
            m_new = tl.maximum(m_i, tl.max(s, axis=1))
            p = tl.exp2(s - m_new[:, None])
            alpha = tl.exp2(m_i - m_new)
            l_i = l_i * alpha + tl.sum(p, axis=1)
            acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None], input_precision="ieee")
            m_i = m_new
        out = (acc / l_i[:, None]).to(O_.dtype.element_ty)
        tl.store(O_ + (head * Sq + offs_m[:, None]) * D + offs_d[None, :], out, mask=mask)


class Attention(torch.nn.Module):
    def forward(self, q, k, v, scale):
        B, H, Sq, D = q.shape
        o = torch.empty(B, H, Sq, D, dtype=q.dtype, device=q.device)
        BLOCK_M, BLOCK_N, warps = (32, 32, 4) if q.dtype is torch.float32 else (128, 64, 8)
        num_tiles = B * H * triton.cdiv(Sq, BLOCK_M)
        sms = torch.cuda.get_device_properties(q.device).multi_processor_count if q.is_cuda else 64
        if num_tiles > 0:
            persistent_attention[(min(num_tiles, 2 * sms),)](
                q,
                k,
                v,
                o,
                H,
                Sq,
                k.shape[2],
                num_tiles,
                *q.stride(),
                *k.stride(),
                *v.stride(),
                scale,
                D=D,
                BLOCK_M=BLOCK_M,
                BLOCK_N=BLOCK_N,
                BLOCK_D=triton.next_power_of_2(D),
                num_warps=warps,
            )
        return o


def attention(q, k, v, scale):
    return Attention()(q, k, v, scale)


def attention_bytes(S, D, itemsize):
    return 4 * S * (S + D) * itemsize
