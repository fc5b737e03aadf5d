"""lse by block pointers and tl.advance, autotuned, batch and heads on axes 2 and 1, natural exponentials.

May have limits.
"""

import torch
import triton
import triton.language as tl

configs = [triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_stages=s, num_warps=w)
           for m, n, s, w in [(64, 64, 3, 4), (128, 64, 2, 8)]]  # fmt: skip


@triton.autotune(configs, key=["T_q", "T_k", "BLOCK_D"])
@triton.jit
def attn_lse_kernel(
    q, k, lse, scale, T_q, T_k, D,
    s_qb, s_qh, s_qt, s_qd, s_kb, s_kh, s_kt, s_kd,
    CAUSAL: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    i_t, i_h, i_b = tl.program_id(0), tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    p_q = tl.make_block_ptr(
        q + i_b * s_qb + i_h * s_qh, (T_q, D), (s_qt, s_qd), (i_t * BLOCK_M, 0), (BLOCK_M, BLOCK_D), (1, 0)
    )
    p_k = tl.make_block_ptr(
        k + i_b * s_kb + i_h * s_kh, (D, T_k), (s_kd, s_kt), (0, 0), (BLOCK_D, BLOCK_N), (0, 1)
    )
    b_q = tl.load(p_q, boundary_check=(0, 1), padding_option="zero")
    o_q = i_t * BLOCK_M + tl.arange(0, BLOCK_M)
    b_m = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    b_acc = tl.zeros([BLOCK_M], dtype=tl.float32)
    stop = tl.minimum((i_t + 1) * BLOCK_M + T_k - T_q, T_k) if CAUSAL else T_k
    for i_s in range(0, stop, BLOCK_N):
        o_k = i_s + tl.arange(0, BLOCK_N)
        b_k = tl.load(p_k, boundary_check=(0, 1), padding_option="zero")
        b_s = tl.dot(b_q, b_k, input_precision="ieee") * scale
        m_s = (o_k < T_k)[None, :]
        if CAUSAL:
            m_s = m_s & (o_q[:, None] + T_k - T_q >= o_k[None, :])
        b_s = tl.where(m_s, b_s, float("-inf"))
        b_mp, b_m = b_m, tl.maximum(b_m, tl.max(b_s, 1))
        b_r = tl.where(b_m == float("-inf"), 1.0, tl.exp(b_mp - b_m))
        b_p = tl.where(b_s == float("-inf"), 0.0, tl.exp(b_s - b_m[:, None]))
        b_acc = b_acc * b_r + tl.sum(b_p, 1)
        p_k = tl.advance(p_k, (0, BLOCK_N))
    p_lse = tl.make_block_ptr(
        lse + (i_b * tl.num_programs(1) + i_h) * T_q, (T_q,), (1,), (i_t * BLOCK_M,), (BLOCK_M,), (0,)
    )
    tl.store(p_lse, b_m + tl.log(b_acc), boundary_check=(0,))


def attention_lse(q, k, scale, causal):
    assert q.ndim == 4 and k.ndim == 4 and q.shape[-1] == k.shape[-1]
    B, H, T_q, D = q.shape
    lse = torch.empty(B, H, T_q, dtype=torch.float, device=q.device)
    grid = lambda meta: (triton.cdiv(T_q, meta["BLOCK_M"]), H, B)  # noqa: E731
    attn_lse_kernel[grid](
        q, k, lse, scale, T_q, k.shape[2], D, *q.stride(), *k.stride(),
        CAUSAL=causal, BLOCK_D=max(triton.next_power_of_2(D), 16),
    )  # fmt: skip
    return lse
