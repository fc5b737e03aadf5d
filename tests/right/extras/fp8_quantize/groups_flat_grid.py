"""FP8 codes by groups: a flat grid, a 2-D block of groups a program, clamp after the division, int32.

May have limits.
"""

import torch
import triton
import triton.language as tl

FP8_MAX: tl.constexpr = tl.constexpr(448.0)


@triton.jit
def _group_quant_fp8(
    x_ptr, q_ptr, s_ptr, x_row_stride, n_cols, row_groups, group_size, G: tl.constexpr, BLOCK: tl.constexpr
):
    pid = tl.program_id(0)
    chunks = tl.cdiv(row_groups, G)
    row = pid // chunks
    groups = (pid % chunks) * G + tl.arange(0, G)
    lane = tl.arange(0, BLOCK)
    cols = groups[:, None] * group_size + lane[None, :]
    mask = (groups < row_groups)[:, None] & (lane < group_size)[None, :]
    x = tl.load(x_ptr + row * x_row_stride + cols, mask=mask, other=0.0).to(tl.float32)
    absmax = tl.max(tl.abs(x), axis=1)
    scale = tl.where(absmax == 0.0, 1.0, absmax / FP8_MAX)
    q = tl.clamp(x / scale[:, None], -FP8_MAX, FP8_MAX).to(q_ptr.dtype.element_ty)
    tl.store(q_ptr + row * n_cols + cols, q, mask=mask)
    tl.store(s_ptr + row * row_groups + groups, scale, mask=groups < row_groups)


def fp8_quantize(x: torch.Tensor, block: int):
    assert x.shape[-1] % block == 0 and x.stride(-1) == 1
    M, N = x.shape
    groups = N // block
    q = torch.empty(M, N, device=x.device, dtype=torch.float8_e4m3fn)
    s = torch.empty(M, groups, device=x.device, dtype=torch.float32)
    BLOCK = triton.next_power_of_2(block)
    G = max(1, min(4096 // BLOCK, triton.next_power_of_2(groups)))
    num_warps = min(max(G * BLOCK // 1024, 1), 16)
    grid = (M * triton.cdiv(groups, G),)
    _group_quant_fp8[grid](x, q, s, x.stride(0), N, groups, block, G=G, BLOCK=BLOCK, num_warps=num_warps)
    return q, s
