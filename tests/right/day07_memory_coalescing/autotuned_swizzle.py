"""A transpose autotuned over square tiles, tiles grouped as in matmul tutorials, tl.permute.

May have limits.
"""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 32, "GROUP_SIZE": 8}, num_warps=4),
        triton.Config({"BLOCK": 64, "GROUP_SIZE": 8}, num_warps=8),
    ],
    key=["M", "N"],
)
@triton.jit
def transpose_kernel(x_ptr, y_ptr, M, N, stride_xm, stride_xn, BLOCK: tl.constexpr, GROUP_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    num_pid_m = tl.cdiv(M, BLOCK)
    num_pid_n = tl.cdiv(N, BLOCK)
    num_pid_in_group = GROUP_SIZE * num_pid_n
    first_pid_m = pid // num_pid_in_group * GROUP_SIZE
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE)
    pid_m = first_pid_m + (pid % num_pid_in_group) % group_size_m
    pid_n = (pid % num_pid_in_group) // group_size_m
    offs_m = pid_m * BLOCK + tl.arange(0, BLOCK)
    offs_n = pid_n * BLOCK + tl.arange(0, BLOCK)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :] * stride_xn, mask=mask, other=0)
    y_ptrs = y_ptr + offs_n[:, None] * M + offs_m[None, :]
    tl.store(y_ptrs, tl.permute(x, (1, 0)), mask=tl.permute(mask, (1, 0)))


def transpose(x: torch.Tensor) -> torch.Tensor:
    M, N = x.shape
    y = torch.empty((N, M), dtype=x.dtype, device=x.device)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK"]) * triton.cdiv(N, meta["BLOCK"]),)  # noqa: E731
    transpose_kernel[grid](x, y, M, N, x.stride(0), x.stride(1))
    return y
