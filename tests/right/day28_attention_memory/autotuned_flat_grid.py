"""Online attention on a flat grid, autotuned, pointer bumping, a helper for one block of keys.

May have limits.
"""

import torch
import triton
import triton.language as tl

CONFIGS_16 = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_warps=w, num_stages=s)
    for m, n, w, s in ((128, 64, 8, 2), (128, 64, 4, 3), (64, 64, 4, 3))
]
CONFIGS_32 = [triton.Config({"BLOCK_M": 32, "BLOCK_N": 32}, num_warps=4, num_stages=2)]


def keep_fitting(configs, named_args, **kwargs):
    return CONFIGS_32 if named_args["q_ptr"].dtype == torch.float32 else configs


@triton.jit
def block_step(acc, l_i, m_i, q, k, v, valid, scale_log2):
    s = tl.where(valid[None, :], tl.dot(q, k, input_precision="ieee") * scale_log2, -float("inf"))
    m_new = tl.maximum(m_i, tl.max(s, axis=1))
    alpha = tl.exp2(m_i - m_new)
    p = tl.exp2(s - m_new[:, None])
    acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
    return acc, l_i * alpha + tl.sum(p, axis=1), m_new


@triton.autotune(
    configs=CONFIGS_16, key=["Sq", "Sk", "D"], prune_configs_by={"early_config_prune": keep_fitting}
)
@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    H,
    Sq,
    Sk,
    D,
    qb,
    qh,
    qm,
    qd,
    kb,
    kh,
    kn,
    kd,
    vb,
    vh,
    vn,
    vd,
    scale_log2,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    blocks_m = tl.cdiv(Sq, BLOCK_M)
    pid = tl.program_id(0)
    bh = pid // blocks_m
    b, h = bh // H, bh % H
    rm = (pid % blocks_m) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.arange(0, BLOCK_N)
    rd = tl.arange(0, BLOCK_D)
    mask_q = (rm < Sq)[:, None] & (rd < D)[None, :]
    q = tl.load(q_ptr + b * qb + h * qh + rm[:, None] * qm + rd[None, :] * qd, mask=mask_q, other=0.0)
    k_ptrs = k_ptr + b * kb + h * kh + rn[None, :] * kn + rd[:, None] * kd
    v_ptrs = v_ptr + b * vb + h * vh + rn[:, None] * vn + rd[None, :] * vd
    m_i = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for left in range(Sk, 0, -BLOCK_N):
        k = tl.load(k_ptrs, mask=(rn < left)[None, :] & (rd < D)[:, None], other=0.0)
        v = tl.load(v_ptrs, mask=(rn < left)[:, None] & (rd < D)[None, :], other=0.0)
        acc, l_i, m_i = block_step(acc, l_i, m_i, q, k, v, rn < left, scale_log2)
        k_ptrs += BLOCK_N * kn
        v_ptrs += BLOCK_N * vn
    o = acc / l_i[:, None]
    tl.store(o_ptr + (bh * Sq + rm[:, None]) * D + rd[None, :], o.to(o_ptr.dtype.element_ty), mask=mask_q)


def attention(q, k, v, scale):
    B, H, Sq, D = q.shape
    Sk = k.size(2)
    o = q.new_empty((B, H, Sq, D))
    if o.numel():
        attention_kernel[lambda meta: (B * H * triton.cdiv(Sq, meta["BLOCK_M"]),)](
            q,
            k,
            v,
            o,
            H,
            Sq,
            Sk,
            D,
            *q.stride(),
            *k.stride(),
            *v.stride(),
            scale * 1.4426950408889634,
            BLOCK_D=triton.next_power_of_2(D),
        )
    return o


def attention_bytes(S, D, itemsize):
    scores_and_weights = 2 * 2 * S * S
    return itemsize * (4 * S * D + scores_and_weights)
