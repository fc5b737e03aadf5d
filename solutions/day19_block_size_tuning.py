"""Day 19: relu(x @ w.T + b) in one kernel, its block sizes chosen by measurement for every shape."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def config(BLOCK_M: int, BLOCK_N: int, BLOCK_K: int, num_warps: int, num_stages: int) -> triton.Config:
    """One choice of the numbers that decide speed but not the result."""
    sizes = {"BLOCK_M": BLOCK_M, "BLOCK_N": BLOCK_N, "BLOCK_K": BLOCK_K}
    return triton.Config(sizes, num_warps=num_warps, num_stages=num_stages)


CONFIGS = [
    # 85 operations a byte from L2. Three stages in fp16 fill 144 KB: one program an SM, 128 sums a thread.
    config(128, 256, 64, num_warps=8, num_stages=3),
    config(128, 256, 64, num_warps=8, num_stages=4),
    config(256, 128, 64, num_warps=8, num_stages=3),
    # 64 operations a byte, but two programs an SM: one multiplies while the other stores.
    config(128, 128, 64, num_warps=8, num_stages=3),
    config(128, 128, 32, num_warps=4, num_stages=4),
    # For few rows or columns, for fp32, and for GPUs with little shared memory.
    config(64, 128, 32, num_warps=4, num_stages=4),
    config(64, 64, 32, num_warps=4, num_stages=3),
    config(32, 32, 32, num_warps=4, num_stages=2),
]


def worth_timing(configs: list[triton.Config], named_args: dict, **_) -> list[triton.Config]:
    """The configs that fit the GPU, the dtype and the problem; always at least the last, the smallest."""
    x, m, n = named_args["x_ptr"], named_args["m"], named_args["n"]
    shared, area = 1 << 20, 1 << 20  # without a GPU there is nothing to fit
    if x.is_cuda:
        shared = torch.cuda.get_device_properties(x.device).shared_memory_per_block_optin
        # IEEE fp32 uses no tensor cores, nor does Triton on a T4: more sums a thread than these would spill.
        if x.element_size() == 4 or torch.cuda.get_device_capability(x.device) < (8, 0):
            area = 64 * 64
    kept = []
    for candidate in configs:
        block_m, block_n, block_k = candidate.kwargs.values()
        stage = (block_m + block_n) * block_k * x.element_size()  # bytes of a tile of x and one of w
        fits = stage * candidate.num_stages <= shared and block_m * block_n <= area
        # A tile of 128 rows for 20 of them multiplies zeros.
        if fits and block_m <= triton.next_power_of_2(m) and block_n <= triton.next_power_of_2(n):
            kept.append(candidate)
    return kept or configs[-1:]


@triton.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M: tl.constexpr):
    """Day 18: the tile (pid_m, pid_n) of program pid, in groups of GROUP_M rows of tiles."""
    pids_in_group = GROUP_M * num_pid_n
    first_pid_m = pid // pids_in_group * GROUP_M
    rows = tl.minimum(num_pid_m - first_pid_m, GROUP_M)
    pid_in_group = pid % pids_in_group
    return first_pid_m + pid_in_group % rows, pid_in_group // rows


@triton.autotune(
    configs=CONFIGS,
    # Another problem is tuned anew. dtypes count by themselves; strides and GPUs do not.
    key=["m", "n", "k"],
    prune_configs_by={"early_config_prune": worth_timing},
)
@triton.heuristics({"EVEN_K": lambda args: args["k"] % args["BLOCK_K"] == 0})
@triton.jit
def linear_relu_kernel(
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
    stride_b,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    """y = relu(x @ w.T + b), one tile a program; w is [n, k], and EVEN_K says that BLOCK_K divides k."""
    pid_m, pid_n = grouped_tile(tl.program_id(0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N), 8)
    offs_m = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    x_ptrs = x_ptr + (offs_m % m)[:, None] * stride_xm + offs_k[None, :].to(tl.int64) * stride_xk
    # w.T costs nothing: element [k, n] of it is element [n, k] of w, so only the strides change places.
    w_ptrs = w_ptr + offs_k[:, None].to(tl.int64) * stride_wk + (offs_n % n)[None, :] * stride_wn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    # 64 bits: BLOCK_K rows of x or w, transposed, are 2**31 elements where m or n is 2**25.
    step = tl.cast(BLOCK_K, tl.int64)
    for k_left in range(k, 0, -BLOCK_K):
        if EVEN_K:
            x = tl.load(x_ptrs)
            w = tl.load(w_ptrs)
        else:
            x = tl.load(x_ptrs, mask=offs_k[None, :] < k_left, other=0.0)
            w = tl.load(w_ptrs, mask=offs_k[:, None] < k_left, other=0.0)
        acc = tl.dot(x, w, acc, input_precision="ieee")
        x_ptrs += step * stride_xk
        w_ptrs += step * stride_wk
    # The epilogue, while the sums are still in registers: a relu of its own would read and write y again.
    y = acc + tl.load(b_ptr + (offs_n % n) * stride_b)[None, :]
    y = tl.where(y < 0, 0.0, y)  # tl.maximum would turn NaN into 0
    mask = (offs_m < m)[:, None] & (offs_n < n)[None, :]
    tl.store(y_ptr + offs_m[:, None] * n + offs_n[None, :], y, mask=mask)


@triton.jit
def persistent_kernel(
    x_desc,
    w_desc,
    b_ptr,
    y_desc,
    m,
    n,
    k,
    stride_b,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """The same by one program an SM, which takes every so-many-th tile, through Hopper's copy engine."""
    num_pid_m, num_pid_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    # flatten makes one loop of the two: the first loads of a tile are under way while the last one is stored.
    for tile in tl.range(tl.program_id(0), num_pid_m * num_pid_n, tl.num_programs(0), flatten=True):
        pid_m, pid_n = grouped_tile(tile, num_pid_m, num_pid_n, 8)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start_k in range(0, k, BLOCK_K):
            # A descriptor knows its tensor's bounds, and gives 0 beyond them: no masks, no pointers to keep.
            x = x_desc.load([pid_m * BLOCK_M, start_k])
            w = w_desc.load([pid_n * BLOCK_N, start_k])
            acc = tl.dot(x, w.T, acc)
        offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
        acc += tl.load(b_ptr + offs_n * stride_b, mask=offs_n < n, other=0.0)[None, :]
        acc = tl.where(acc < 0, 0.0, acc)
        y_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], acc.to(y_desc.dtype))


def suits_descriptors(*tensors: torch.Tensor) -> bool:
    """Whether Hopper's copy engine can move them: 16-bit matrices, rows dense and 16-byte aligned."""
    first = tensors[0]
    if first.is_cuda and torch.cuda.get_device_capability(first.device)[0] not in (9, 10):
        return False
    return all(
        tensor.element_size() == 2
        and tensor.stride(1) == 1
        and tensor.stride(0) % 8 == 0
        and tensor.stride(0) > 0
        and tensor.data_ptr() % 16 == 0
        for tensor in tensors
    )


def launch_persistent(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, y: torch.Tensor) -> None:
    """For large products: the first of CONFIGS, without a choice."""
    BLOCK_M, BLOCK_N, BLOCK_K = 128, 256, 64
    programs = torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 3
    persistent_kernel[(programs,)](
        TensorDescriptor.from_tensor(x, [BLOCK_M, BLOCK_K]),
        TensorDescriptor.from_tensor(w, [BLOCK_N, BLOCK_K]),
        b,
        TensorDescriptor.from_tensor(y, [BLOCK_M, BLOCK_N]),
        *y.shape,
        x.shape[1],
        b.stride(0),
        BLOCK_M=BLOCK_M,
        BLOCK_N=BLOCK_N,
        BLOCK_K=BLOCK_K,
        num_warps=8,
        num_stages=3,
    )


def linear_relu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return relu(x @ w.T + b) for x[m, k], w[n, k] and b[n] of any strides, fp16, bf16 or fp32."""
    m = x.shape[0]
    n = w.shape[0]
    k = x.shape[1]
    y = torch.empty(m, n, dtype=x.dtype, device=x.device)
    if y.numel() == 0:  # nothing to tune on
        return y
    if m >= 128 and n >= 256 and k > 0 and suits_descriptors(x, w, y):
        launch_persistent(x, w, b, y)
        return y

    def grid(meta):
        """One program a tile of the config at hand."""
        return (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)

    linear_relu_kernel[grid](x, w, b, y, m, n, k, *x.stride(), *w.stride(), b.stride(0))
    return y
