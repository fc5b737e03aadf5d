"""As FlexAttention has it: which keys count is a device function that the kernel is handed as a constant."""

import torch
import triton
import triton.language as language

RCP_LN2 = language.constexpr(1.4426950408889634)
LN2 = language.constexpr(0.6931471805599453)


@triton.jit
def bottom_right(m, n, shift):
    return m + shift >= n


@triton.jit
def everything(m, n, shift):
    return (m >= 0) & (n >= 0)


@triton.jit
def lse_kernel(
    Q, K, LSE, SCALE, H, Q_LEN, KV_LEN, qz, qh, qm, qk, kz, kh, kn, kk, mask_mod: language.constexpr,
    IS_CAUSAL: language.constexpr, D: language.constexpr, BLOCK_D: language.constexpr,
    BLOCK_M: language.constexpr, BLOCK_N: language.constexpr,
):  # fmt: skip
    head = language.program_id(0).to(language.int64)
    rows = language.program_id(1) * BLOCK_M + language.arange(0, BLOCK_M)
    d = language.arange(0, BLOCK_D)
    Q += head // H * qz + head % H * qh
    K += head // H * kz + head % H * kh
    inside = (rows < Q_LEN)[:, None] & (d < D)[None, :]
    q = language.load(Q + rows[:, None].to(language.int64) * qm + d[None, :] * qk, mask=inside, other=0.0)
    m_i = language.full([BLOCK_M], float("-inf"), language.float32)
    l_i = language.zeros([BLOCK_M], language.float32)
    shift = KV_LEN - Q_LEN
    end = KV_LEN
    if IS_CAUSAL:
        end = language.minimum(KV_LEN, (language.program_id(1) + 1) * BLOCK_M + shift)
    for start in range(0, end, BLOCK_N):
        keys = start + language.arange(0, BLOCK_N)
        there = (keys < KV_LEN)[None, :] & (d < D)[:, None]
        k = language.load(K + keys[None, :].to(language.int64) * kn + d[:, None] * kk, mask=there, other=0.0)
        s = language.dot(q, k, input_precision="ieee") * SCALE
        keep = mask_mod(rows[:, None], keys[None, :], shift) & (keys < KV_LEN)[None, :]
        s = language.where(keep, s * RCP_LN2, float("-inf"))
        m_ij = language.maximum(m_i, language.max(s, 1))
        base = language.where(m_ij == float("-inf"), 0, m_ij)
        l_i = l_i * language.math.exp2(m_i - base) + language.sum(language.math.exp2(s - base[:, None]), 1)
        m_i = m_ij
    lse = language.where(l_i == 0.0, float("-inf"), (m_i + language.math.log2(l_i)) * LN2)
    language.store(LSE + head * Q_LEN + rows, lse, mask=rows < Q_LEN)


def attention_lse(q, k, scale, causal):
    Z, H, M, D = q.shape
    lse = torch.empty((Z, H, M), dtype=torch.float32, device=q.device)
    if lse.numel():
        lse_kernel[(Z * H, triton.cdiv(M, 64))](
            q, k, lse, scale, H, M, k.size(2), *q.stride(), *k.stride(),
            mask_mod=bottom_right if causal else everything, IS_CAUSAL=causal,
            D=D, BLOCK_D=max(16, triton.next_power_of_2(D)), BLOCK_M=64, BLOCK_N=64,
        )  # fmt: skip
    return lse
