"""SwiGLU of two products on the tutorial's frame: wrapped rows, a silu helper, int32 offsets.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def _swiglu_fwd(
    x_ptr,
    g_ptr,
    u_ptr,
    y_ptr,
    M,
    N,
    K,
    stride_xm,
    stride_xk,
    stride_gn,
    stride_gk,
    stride_un,
    stride_uk,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid = tl.program_id(0)
    num_pid_m, num_pid_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    num_pid_in_group = GROUP_M * num_pid_n
    first_pid_m = (pid // num_pid_in_group) * GROUP_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_M)
    pid_m = first_pid_m + (pid % num_pid_in_group) % group_size_m
    pid_n = (pid % num_pid_in_group) // group_size_m
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    x_ptrs = x_ptr + (offs_m % M)[:, None] * stride_xm + offs_k[None, :] * stride_xk
    g_ptrs = g_ptr + (offs_n % N)[None, :] * stride_gn + offs_k[:, None] * stride_gk
    u_ptrs = u_ptr + (offs_n % N)[None, :] * stride_un + offs_k[:, None] * stride_uk
    gate = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    up = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        k_mask = offs_k < K - k * BLOCK_K
        x = tl.load(x_ptrs, mask=k_mask[None, :], other=0.0)
        wg = tl.load(g_ptrs, mask=k_mask[:, None], other=0.0)
        wu = tl.load(u_ptrs, mask=k_mask[:, None], other=0.0)
        gate = tl.dot(x, wg, gate, input_precision="ieee")
        up = tl.dot(x, wu, up, input_precision="ieee")
        x_ptrs += BLOCK_K * stride_xk
        g_ptrs += BLOCK_K * stride_gk
        u_ptrs += BLOCK_K * stride_uk
    y = (silu(gate) * up).to(y_ptr.dtype.element_ty)
    y_ptrs = y_ptr + offs_m[:, None] * N + offs_n[None, :]
    tl.store(y_ptrs, y, mask=(offs_m < M)[:, None] & (offs_n < N)[None, :])


class _SwiGLULinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up):
        assert w_gate.shape == w_up.shape and x.shape[1] == w_gate.shape[1]
        (M, K), N = x.shape, w_gate.shape[0]
        y = torch.empty((M, N), dtype=x.dtype, device=x.device)
        bm, bn, bk, stages = (64, 64, 32, 2) if x.dtype == torch.float32 else (128, 128, 64, 3)
        grid = (triton.cdiv(M, bm) * triton.cdiv(N, bn),)
        _swiglu_fwd[grid](
            x,
            w_gate,
            w_up,
            y,
            M,
            N,
            K,
            *x.stride(),
            *w_gate.stride(),
            *w_up.stride(),
            BLOCK_M=bm,
            BLOCK_N=bn,
            BLOCK_K=bk,
            GROUP_M=8,
            num_warps=8,
            num_stages=stages,
        )
        return y


def swiglu_gemm(x, w_gate, w_up):
    return _SwiGLULinear.apply(x, w_gate, w_up)
