"""Tiled (q kT) v by a fixed number of programs that walk over the tiles of all heads with tl.range; int32."""

import torch
import triton
import triton.language as tl


def num_programs(device):
    return 2 * torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 64


@triton.jit
def load_tile(base, rows, cols, stride_row, stride_col, n_rows, n_cols):
    mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    return tl.load(base + rows[:, None] * stride_row + cols[None, :] * stride_col, mask=mask, other=0.0)


@triton.jit
def tiled_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, num_tiles, H, Sq, Sk, D, scale,
    stride_qb, stride_qh, stride_qm, stride_qd, stride_kb, stride_kh, stride_kn, stride_kd,
    stride_vb, stride_vh, stride_vn, stride_vd,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    tiles_m = tl.cdiv(Sq, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_D)
    for tile in tl.range(tl.program_id(0), num_tiles, tl.num_programs(0)):
        head = tile // tiles_m
        b, h = head // H, head % H
        offs_m = tile % tiles_m * BLOCK_M + tl.arange(0, BLOCK_M)
        q = load_tile(q_ptr + b * stride_qb + h * stride_qh, offs_m, offs_d, stride_qm, stride_qd, Sq, D)
        acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
        for start in tl.range(0, Sk, BLOCK_N):
            offs_n = start + tl.arange(0, BLOCK_N)
            k = load_tile(k_ptr + b * stride_kb + h * stride_kh, offs_n, offs_d, stride_kn, stride_kd, Sk, D)
            v = load_tile(v_ptr + b * stride_vb + h * stride_vh, offs_n, offs_d, stride_vn, stride_vd, Sk, D)
            s = tl.dot(q, k.T, input_precision="ieee") * scale
            acc = tl.dot(s.to(v.dtype), v, acc, input_precision="ieee")
        o_ptrs = o_ptr + (head * Sq + offs_m)[:, None] * D + offs_d[None, :]
        tl.store(o_ptrs, acc.to(o_ptr.dtype.element_ty), mask=(offs_m < Sq)[:, None] & (offs_d < D)[None, :])


def tiled_attention_scores(q, k, v, scale):
    B, H, Sq, D = q.shape
    Sk = k.shape[2]
    o = torch.empty((B, H, Sq, D), dtype=q.dtype, device=q.device)
    BLOCK_M, BLOCK_N = (64, 16) if q.dtype == torch.float32 else (128, 64)
    num_tiles = B * H * triton.cdiv(Sq, BLOCK_M)
    if num_tiles == 0:
        return o
    tiled_kernel[(min(num_programs(q.device), num_tiles),)](
        q, k, v, o, num_tiles, H, Sq, Sk, D, scale, *q.stride(), *k.stride(), *v.stride(),
        BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_D=max(16, triton.next_power_of_2(D)), num_warps=8,
    )  # fmt: skip
    return o
