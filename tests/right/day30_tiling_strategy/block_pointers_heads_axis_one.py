"""Tiled (q kT) v as in older fused attention tutorials: block pointers, tl.advance, heads on axis 1.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _attn_fwd(
    Q, K, V, Out, sm_scale, H, M_CTX, N_CTX, HEAD_DIM,
    stride_qz, stride_qh, stride_qm, stride_qk, stride_kz, stride_kh, stride_kn, stride_kk,
    stride_vz, stride_vh, stride_vn, stride_vk, stride_oz, stride_oh, stride_om, stride_ok,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_DMODEL: tl.constexpr,
):  # fmt: skip
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1)
    off_z = (off_hz // H).to(tl.int64)
    off_h = (off_hz % H).to(tl.int64)
    Q_block_ptr = tl.make_block_ptr(
        base=Q + off_z * stride_qz + off_h * stride_qh,
        shape=(M_CTX, HEAD_DIM), strides=(stride_qm, stride_qk),
        offsets=(start_m * BLOCK_M, 0), block_shape=(BLOCK_M, BLOCK_DMODEL), order=(1, 0),
    )  # fmt: skip
    K_block_ptr = tl.make_block_ptr(
        base=K + off_z * stride_kz + off_h * stride_kh,
        shape=(HEAD_DIM, N_CTX), strides=(stride_kk, stride_kn),
        offsets=(0, 0), block_shape=(BLOCK_DMODEL, BLOCK_N), order=(0, 1),
    )  # fmt: skip
    V_block_ptr = tl.make_block_ptr(
        base=V + off_z * stride_vz + off_h * stride_vh,
        shape=(N_CTX, HEAD_DIM), strides=(stride_vn, stride_vk),
        offsets=(0, 0), block_shape=(BLOCK_N, BLOCK_DMODEL), order=(1, 0),
    )  # fmt: skip
    O_block_ptr = tl.make_block_ptr(
        base=Out + off_z * stride_oz + off_h * stride_oh,
        shape=(M_CTX, HEAD_DIM), strides=(stride_om, stride_ok),
        offsets=(start_m * BLOCK_M, 0), block_shape=(BLOCK_M, BLOCK_DMODEL), order=(1, 0),
    )  # fmt: skip
    acc = tl.zeros([BLOCK_M, BLOCK_DMODEL], dtype=tl.float32)
    q = tl.load(Q_block_ptr, boundary_check=(0, 1), padding_option="zero")
    for start_n in range(0, N_CTX, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(K_block_ptr, boundary_check=(0, 1), padding_option="zero")
        qk = tl.dot(q, k, input_precision="ieee") * sm_scale
        v = tl.load(V_block_ptr, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(qk.to(v.dtype), v, input_precision="ieee")
        K_block_ptr = tl.advance(K_block_ptr, (0, BLOCK_N))
        V_block_ptr = tl.advance(V_block_ptr, (BLOCK_N, 0))
    tl.store(O_block_ptr, acc.to(Out.dtype.element_ty), boundary_check=(0, 1))


def tiled_attention_scores(q, k, v, scale):
    B, H, M, D = q.shape
    N = k.shape[2]
    assert k.shape == v.shape and k.shape[-1] == D and D <= 128
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    BLOCK_M, BLOCK_N = (64, 16) if q.dtype == torch.float32 and q.is_cuda else (128, 64)
    grid = (triton.cdiv(M, BLOCK_M), B * H, 1)
    _attn_fwd[grid](
        q, k, v, o, scale, H, M, N, D, *q.stride(), *k.stride(), *v.stride(), *o.stride(),
        BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_DMODEL=max(triton.next_power_of_2(D), 16),
        num_warps=4 if D <= 64 else 8, num_stages=2,
    )  # fmt: skip
    return o
