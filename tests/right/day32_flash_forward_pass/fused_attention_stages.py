"""Flash forward as the fused attention tutorial: block pointers, an inner function, exp2, autotune.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _attn_fwd_inner(
    acc, l_i, m_i, q, K_block_ptr, V_block_ptr, lo, hi, qk_scale, last, N_CTX,
    BLOCK_N: tl.constexpr, MASK: tl.constexpr,
):  # fmt: skip
    K_block_ptr = tl.advance(K_block_ptr, (0, lo))
    V_block_ptr = tl.advance(V_block_ptr, (lo, 0))
    for start_n in range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(K_block_ptr, boundary_check=(0, 1), padding_option="zero")
        qk = tl.dot(q, k, input_precision="ieee") * qk_scale
        if MASK:
            cols = start_n + tl.arange(0, BLOCK_N)
            qk = tl.where((cols[None, :] <= last[:, None]) & (cols[None, :] < N_CTX), qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        m_ij_safe = tl.where(m_ij == float("-inf"), 0.0, m_ij)
        p = tl.math.exp2(qk - m_ij_safe[:, None])
        alpha = tl.math.exp2(m_i - m_ij_safe)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(V_block_ptr, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")
        m_i = m_ij
        V_block_ptr = tl.advance(V_block_ptr, (BLOCK_N, 0))
        K_block_ptr = tl.advance(K_block_ptr, (0, BLOCK_N))
    return acc, l_i, m_i


@triton.autotune(
    [triton.Config({"BLOCK_M": 128, "BLOCK_N": 64}, num_stages=s, num_warps=8) for s in (2, 3)],
    key=["M_CTX", "N_CTX", "HEAD_DIM"],
)
@triton.jit
def _attn_fwd(
    Q, K, V, sm_scale, M, Out, stride_qz, stride_qh, stride_qm, stride_kz, stride_kh, stride_kn,
    stride_vz, stride_vh, stride_vn, stride_oz, stride_oh, stride_om, H, M_CTX, N_CTX,
    HEAD_DIM: tl.constexpr, BLOCK_D: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    start_m = tl.program_id(0) * BLOCK_M
    off_hz = tl.program_id(1)
    off_z = (off_hz // H).to(tl.int64)
    off_h = (off_hz % H).to(tl.int64)
    Q_block_ptr = tl.make_block_ptr(
        Q + off_z * stride_qz + off_h * stride_qh, (M_CTX, HEAD_DIM), (stride_qm, 1),
        (start_m, 0), (BLOCK_M, BLOCK_D), (1, 0),
    )  # fmt: skip
    K_block_ptr = tl.make_block_ptr(
        K + off_z * stride_kz + off_h * stride_kh, (HEAD_DIM, N_CTX), (1, stride_kn),
        (0, 0), (BLOCK_D, BLOCK_N), (0, 1),
    )  # fmt: skip
    V_block_ptr = tl.make_block_ptr(
        V + off_z * stride_vz + off_h * stride_vh, (N_CTX, HEAD_DIM), (stride_vn, 1),
        (0, 0), (BLOCK_N, BLOCK_D), (1, 0),
    )  # fmt: skip
    O_block_ptr = tl.make_block_ptr(
        Out + off_z * stride_oz + off_h * stride_oh, (M_CTX, HEAD_DIM), (stride_om, 1),
        (start_m, 0), (BLOCK_M, BLOCK_D), (1, 0),
    )  # fmt: skip
    offs_m = start_m + tl.arange(0, BLOCK_M)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)
    qk_scale = sm_scale * 1.4426950408889634
    q = tl.load(Q_block_ptr, boundary_check=(0, 1), padding_option="zero")
    if CAUSAL:
        last = offs_m + N_CTX - M_CTX
        mid = tl.minimum(tl.maximum(start_m + N_CTX - M_CTX + 1, 0), N_CTX) // BLOCK_N * BLOCK_N
        hi = tl.minimum(start_m + BLOCK_M + N_CTX - M_CTX, N_CTX)
    else:
        last = tl.zeros([BLOCK_M], tl.int32) + N_CTX
        mid = N_CTX // BLOCK_N * BLOCK_N
        hi = N_CTX
    acc, l_i, m_i = _attn_fwd_inner(
        acc, l_i, m_i, q, K_block_ptr, V_block_ptr, 0, mid, qk_scale, last, N_CTX, BLOCK_N, False
    )
    acc, l_i, m_i = _attn_fwd_inner(
        acc, l_i, m_i, q, K_block_ptr, V_block_ptr, mid, hi, qk_scale, last, N_CTX, BLOCK_N, True
    )
    m_i += tl.math.log2(l_i)
    acc = acc / tl.where(l_i == 0.0, 1.0, l_i)[:, None]
    tl.store(M + off_hz.to(tl.int64) * M_CTX + offs_m, m_i * 0.6931471805599453, mask=offs_m < M_CTX)
    tl.store(O_block_ptr, acc.to(Out.type.element_ty), boundary_check=(0, 1))


def flash_forward(q, k, v, scale, causal):
    Z, H, M_CTX, HEAD_DIM = q.shape
    N_CTX = k.shape[2]
    o = torch.empty_like(q, memory_format=torch.contiguous_format)
    M = torch.empty((Z, H, M_CTX), device=q.device, dtype=torch.float32)
    grid = lambda args: (triton.cdiv(M_CTX, args["BLOCK_M"]), Z * H, 1)  # noqa: E731
    _attn_fwd[grid](
        q, k, v, scale, M, o, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3],
        H, M_CTX, N_CTX, HEAD_DIM=HEAD_DIM, BLOCK_D=max(16, triton.next_power_of_2(HEAD_DIM)), CAUSAL=causal,
    )  # fmt: skip
    return o, M
