"""The variance as the mean square less the squared mean: nothing is left of it where the mean is large."""

import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK)
    mask = offs < n_cols
    x = tl.load(x_ptr + row * n_cols + offs, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n_cols
    off = tl.where(mask, x - mean, 0.0)
    variance = tl.maximum(tl.sum(x * x, axis=0) / n_cols - mean * mean, 0.0)
    weight = tl.load(weight_ptr + offs, mask=mask)
    bias = tl.load(bias_ptr + offs, mask=mask)
    tl.store(y_ptr + row * n_cols + offs, off / tl.sqrt(variance + 1e-5) * weight + bias, mask=mask)


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    layer_norm_kernel[(x.shape[0],)](x, weight, bias, y, x.shape[1], BLOCK=block)
    return y
