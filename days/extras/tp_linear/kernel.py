"""Extra: a linear layer whose weights are split over GPUs, by columns and by rows.

`./track python kernel.py` checks and times it on two GPUs. Without a GPU two processes check it, in Triton's
interpreter.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial

import torch
import triton
import triton.language as tl
from torch import distributed


@triton.jit
def linear_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    y_ptr,
    m,
    n,
    k,
    stride_xm,
    stride_xk,
    stride_wn,
    stride_wk,
    HAS_BIAS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    """A tile of y = x @ w.T, and + b if there is one. x[m, k], w[n, k] have any strides, y is contiguous."""
    pid, num_pid_m, num_pid_n = tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    first_pid_m = pid // (GROUP_M * num_pid_n) * GROUP_M
    rows = tl.minimum(num_pid_m - first_pid_m, GROUP_M)
    pid_m, pid_n = first_pid_m + pid % (GROUP_M * num_pid_n) % rows, pid % (GROUP_M * num_pid_n) // rows
    # 64 bits: an operand may have more than 2**31 elements.
    offs_m = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K).to(tl.int64)
    x_ptrs = x_ptr + (offs_m % m)[:, None] * stride_xm + offs_k[None, :] * stride_xk
    w_ptrs = w_ptr + offs_k[:, None] * stride_wk + (offs_n % n)[None, :] * stride_wn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    step = tl.cast(BLOCK_K, tl.int64)
    for k_left in range(k, 0, -BLOCK_K):
        x = tl.load(x_ptrs, mask=offs_k[None, :] < k_left, other=0.0)
        w = tl.load(w_ptrs, mask=offs_k[:, None] < k_left, other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
        x_ptrs += step * stride_xk
        w_ptrs += step * stride_wk
    # TODO 1: add b, one number a column, to the sums where HAS_BIAS says that there is one.
    mask = (offs_m < m)[:, None] & (offs_n < n)[None, :]
    # The store rounds to y's dtype: to 16 bits once, or, where y is fp32, not at all.
    tl.store(y_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=mask)


@triton.jit
def bias_kernel(sums_ptr, b_ptr, y_ptr, size, n, BLOCK: tl.constexpr):
    """BLOCK elements of y = sums + b, rounded once; sums[m, n] is fp32, y in the dtype of its tensor."""
    # TODO 2: the sums lie row behind row: which column is an element in, and which number of b is its own?


def launch(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None, y: torch.Tensor) -> None:
    """Store x @ w.T, and + b if there is one, in y[m, n], which is contiguous."""
    (m, k), n = x.shape, w.shape[0]
    half = x.element_size() == 2 and x.is_cuda and torch.cuda.get_device_capability(x.device) >= (8, 0)
    # IEEE fp32 uses no matrix units, nor does Triton on a T4: larger tiles would spill.
    large = half and m >= 128 and n >= 256
    BLOCK_M, BLOCK_N, BLOCK_K = (128, 128, 32) if large else (64, 64, 32)
    # 85 operations a byte from L2 instead of 64; three stages of it fill 144 KB of an SM.
    if large and torch.cuda.get_device_properties(x.device).shared_memory_per_block_optin >= 144 << 10:
        BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 64
    linear_kernel[(triton.cdiv(m, BLOCK_M) * triton.cdiv(n, BLOCK_N),)](
        x,
        w,
        b,
        y,
        m,
        n,
        k,
        *x.stride(),
        *w.stride(),
        HAS_BIAS=b is not None,
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        GROUP_M=8,
        num_warps=8 if large else 4,
        num_stages=3,
    )


def column_parallel(x: torch.Tensor, w_shard: torch.Tensor, b_shard: torch.Tensor) -> torch.Tensor:
    """Return this rank's columns of x @ w.T + b as [m, n / p], in x's dtype.

    x[m, k] is whole on each rank. w_shard[n / p, k] and b_shard[n / p] are this rank's rows of w and b.
    """
    y = torch.empty(x.shape[0], w_shard.shape[0], dtype=x.dtype, device=x.device)
    # TODO 3: launch() stores in y whatever this rank can compute alone.
    return y


def row_parallel(
    x_shard: torch.Tensor, w_shard: torch.Tensor, b: torch.Tensor, reduce: Callable[[torch.Tensor], None]
) -> torch.Tensor:
    """Return x @ w.T + b as [m, n], whole on each rank, in x's dtype.

    x_shard[m, k / p] and w_shard[n, k / p] are this rank's columns of x and w; b[n] is whole. reduce(t) takes
    t[m, n] in fp32 and replaces it, in place, by its sum over all ranks.
    """
    m, n = x_shard.shape[0], w_shard.shape[0]
    y = torch.empty(m, n, dtype=x_shard.dtype, device=x_shard.device)
    # TODO 4: this rank's part of the sums, in which dtype? Then the sum over ranks, and what is added once.
    return y


def check(device: str, m: int, k: int, hidden: int, dtype: torch.dtype) -> None:
    """Hold two layers, split by columns and then by rows, against one GPU's; time the second on GPUs."""
    rank, ranks = distributed.get_rank(), distributed.get_world_size()
    torch.manual_seed(0)  # the same whole matrices on each rank
    x, up = (
        torch.randn(m, k, device=device).to(dtype),
        torch.randn(hidden, k, device=device).to(dtype) / k**0.5,
    )
    down = torch.randn(k, hidden, device=device).to(dtype) / hidden**0.5
    b_up, b_down = torch.randn(hidden, device=device).to(dtype), torch.randn(k, device=device).to(dtype)
    mine = slice(rank * hidden // ranks, (rank + 1) * hidden // ranks)
    h = column_parallel(x, up[mine], b_up[mine])
    y = row_parallel(h, down[:, mine], b_down, distributed.all_reduce)
    whole = (x @ up.T + b_up) @ down.T + b_down
    error = float((y - whole).float().norm() / whole.float().norm())
    print(f"rank {rank} of {ranks}: {error:.1e} away from the layer that is not split")
    if device == "cpu":
        return

    def by_torch(reduce: Callable[[torch.Tensor], None]) -> torch.Tensor:
        sums = h @ down[:, mine].T
        reduce(sums)
        return sums + b_down

    for name, layer in (("ours", partial(row_parallel, h, down[:, mine], b_down)), ("torch", by_torch)):
        for _ in range(10):
            layer(distributed.all_reduce)
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(50):
            layer(distributed.all_reduce)
        torch.cuda.synchronize()
        print(f"rank {rank}: {name} {(time.perf_counter() - start) * 20:.3f} ms")


if __name__ == "__main__":
    gpus = torch.cuda.is_available()
    if "RANK" not in os.environ:  # a process for each of two ranks
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", __file__]
        os.execve(sys.executable, command, os.environ | ({} if gpus else {"TRITON_INTERPRET": "1"}))
    distributed.init_process_group("nccl" if gpus else "gloo")
    if gpus:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        check("cuda", 4096, 8192, 8192, torch.bfloat16)
    else:
        check("cpu", 20, 48, 64, torch.float32)
    distributed.destroy_process_group()
