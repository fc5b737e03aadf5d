"""Extra: silu(x @ w_gate.T) * (x @ w_up.T) in one kernel: two products that share every tile of x."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M: tl.constexpr):
    """Day 18: the tile (pid_m, pid_n) of program pid, in groups of GROUP_M rows of tiles."""
    pids_in_group = GROUP_M * num_pid_n
    first_pid_m = pid // pids_in_group * GROUP_M
    rows = tl.minimum(num_pid_m - first_pid_m, GROUP_M)
    pid_in_group = pid % pids_in_group
    return first_pid_m + pid_in_group % rows, pid_in_group // rows


@triton.heuristics({"EVEN_K": lambda args: args["k"] % args["BLOCK_K"] == 0})
@triton.jit
def swiglu_gemm_kernel(
    x_ptr,
    gate_ptr,
    up_ptr,
    y_ptr,
    m,
    n,
    k,
    stride_xm,
    stride_xk,
    stride_gn,
    stride_gk,
    stride_un,
    stride_uk,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    """One tile of y a program; both weights are [n, k], and EVEN_K says that BLOCK_K divides k."""
    pid_m, pid_n = grouped_tile(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), 8)
    offs_m = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    x_ptrs = x_ptr + (offs_m % m)[:, None] * stride_xm + offs_k[None, :] * stride_xk
    gate_ptrs = gate_ptr + offs_k[:, None] * stride_gk + (offs_n % n)[None, :] * stride_gn
    up_ptrs = up_ptr + offs_k[:, None] * stride_uk + (offs_n % n)[None, :] * stride_un
    # 2 * BLOCK_M * BLOCK_N sums of 4 bytes: twice the registers of one product.
    gate = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    up = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k_left in range(k, 0, -BLOCK_K):
        # Three tiles for two products: (BLOCK_M + 2 * BLOCK_N) * BLOCK_K elements. Two kernels load four.
        if EVEN_K:
            x = tl.load(x_ptrs)
            w_gate = tl.load(gate_ptrs)
            w_up = tl.load(up_ptrs)
        else:
            x = tl.load(x_ptrs, mask=offs_k[None, :] < k_left, other=0.0)
            w_gate = tl.load(gate_ptrs, mask=offs_k[:, None] < k_left, other=0.0)
            w_up = tl.load(up_ptrs, mask=offs_k[:, None] < k_left, other=0.0)
        gate = tl.dot(x, w_gate, gate, input_precision="ieee")
        up = tl.dot(x, w_up, up, input_precision="ieee")
        x_ptrs += BLOCK_K * stride_xk
        gate_ptrs += BLOCK_K * stride_gk
        up_ptrs += BLOCK_K * stride_uk
    # On the fp32 sums: neither product goes to memory, and only y is rounded.
    y = gate / (1 + tl.exp(-gate)) * up
    mask = (offs_m < m)[:, None] & (offs_n < n)[None, :]
    tl.store(y_ptr + offs_m[:, None] * n + offs_n[None, :], y, mask=mask)


def swiglu_gemm(x: torch.Tensor, w_gate: torch.Tensor, w_up: torch.Tensor) -> torch.Tensor:
    """Return silu(x @ w_gate.T) * (x @ w_up.T) for x[m, k] and w[n, k] of any strides, fp16, bf16 or fp32."""
    (m, k), n = x.shape, w_gate.shape[0]
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    # 85 operations a byte from L2, 128 sums a thread; three stages of three tiles fill 144 KB.
    BLOCK_M, BLOCK_N, BLOCK_K, num_warps, num_stages = 128, 128, 64, 8, 3
    if x.element_size() == 4 or (x.is_cuda and torch.cuda.get_device_capability(x.device) < (8, 0)):
        # Neither IEEE fp32 nor Triton on a T4 uses matrix units: operands go through registers, too.
        BLOCK_M, BLOCK_N, BLOCK_K, num_warps, num_stages = 64, 32, 32, 4, 2
    swiglu_gemm_kernel[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
        x,
        w_gate,
        w_up,
        y,
        m,
        n,
        k,
        *x.stride(),
        *w_gate.stride(),
        *w_up.stride(),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        num_warps=num_warps,
        num_stages=num_stages,
    )
    return y
