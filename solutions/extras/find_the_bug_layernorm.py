"""Extra find_the_bug_layernorm: layer normalization and its gradients, each row read once."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

SLOTS = 16  # rows of partial sums of dweight


@triton.jit
def layer_norm_kernel(
    x_ptr, weight_ptr, dy_ptr, y_ptr, dx_ptr, part_ptr, n_rows, n_cols, stride_xm, stride_dym, eps,
    SLOTS: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """y and dx of rows pid, pid + num_programs, ..., and what they add to dweight; BLOCK_N >= n_cols."""
    offs_n = tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    weight = tl.load(weight_ptr + offs_n, mask=mask, other=0.0).to(tl.float32)
    # In fp32, and in registers until the last row: a sum over m rows, rounded at every step, would stall.
    dweight = tl.zeros((BLOCK_N,), tl.float32)
    # 64 bits: a row may start 2**31 elements or more after the first one.
    for row in range(tl.program_id(0).to(tl.int64), n_rows, tl.num_programs(0)):
        # 2n elements from HBM, and 2n to it.
        x = tl.load(x_ptr + row * stride_xm + offs_n, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * stride_dym + offs_n, mask=mask, other=0.0).to(tl.float32)
        mean = tl.sum(x, axis=0) / n_cols
        centred = tl.where(mask, x - mean, 0.0)
        var = tl.sum(centred * centred, axis=0) / n_cols
        rstd = 1.0 / tl.sqrt(var + eps)
        x_hat = centred * rstd
        tl.store(y_ptr + row * n_cols + offs_n, x_hat * weight, mask=mask)
        # The gradient less its parts along the mean and along x_hat, which the norm takes out of x.
        dx_hat = dy * weight
        along_mean = tl.sum(dx_hat, axis=0) / n_cols
        along_x_hat = tl.sum(dx_hat * x_hat, axis=0) / n_cols
        dx = (dx_hat - along_mean - x_hat * along_x_hat) * rstd
        tl.store(dx_ptr + row * n_cols + offs_n, dx, mask=mask)
        dweight += dy * x_hat
    # Several programs share a row of partial sums.
    part_ptrs = part_ptr + tl.program_id(0) % SLOTS * n_cols + offs_n
    tl.atomic_add(part_ptrs, dweight, mask=mask)


@triton.jit
def column_sum_kernel(part_ptr, dweight_ptr, n_cols, SLOTS: tl.constexpr, BLOCK_N: tl.constexpr):
    """BLOCK_N columns of dweight: the sums down the partial sums [SLOTS, n_cols], rounded once."""
    offs_n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = offs_n < n_cols
    offs = tl.arange(0, SLOTS)[:, None] * n_cols + offs_n[None, :]
    part = tl.load(part_ptr + offs, mask=mask[None, :], other=0.0)
    tl.store(dweight_ptr + offs_n, tl.sum(part, axis=0), mask=mask)


def layer_norm_backward(
    x: torch.Tensor, weight: torch.Tensor, dy: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return y = layer norm of x[m, n] times weight[n], dx[m, n] and dweight[n] for its gradient dy[m, n].

    n <= 16384; the rows of x and of dy may lie any distance apart.
    """
    n_rows, n_cols = x.shape
    y = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    dx = torch.empty(n_rows, n_cols, dtype=x.dtype, device=x.device)
    dweight = torch.empty(n_cols, dtype=x.dtype, device=x.device)
    part = torch.zeros(SLOTS, n_cols, dtype=torch.float32, device=x.device)
    BLOCK_N = triton.next_power_of_2(n_cols)
    num_warps = min(max(BLOCK_N // 512, 1), 16)
    # Programs that stay add their rows up in registers: four an SM, and as many additions to part.
    sms = torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 8
    layer_norm_kernel[(min(n_rows, 4 * sms),)](
        x, weight, dy, y, dx, part, n_rows, n_cols, x.stride(0), dy.stride(0), eps,
        SLOTS=SLOTS, BLOCK_N=BLOCK_N, num_warps=num_warps,
    )  # fmt: skip
    column_sum_kernel[(triton.cdiv(n_cols, 128),)](part, dweight, n_cols, SLOTS=SLOTS, BLOCK_N=128)
    return y, dx, dweight


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, dy = torch.randn(2, 128, 1024, device=device)
    weight = torch.randn(1024, device=device)
    y, dx, dweight = layer_norm_backward(x, weight, dy, 1e-5)
    leaf = x.clone().requires_grad_()
    wanted = torch.nn.functional.layer_norm(leaf, (1024,), weight, None, 1e-5)
    wanted.backward(dy)
    torch.testing.assert_close(y, wanted, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(dx, leaf.grad, atol=1e-3, rtol=1e-3)
    print("128 rows of 1024: y and dx are what torch gives, to three digits.")
