"""Embedding in Liger's manner: a 2-d grid of token and column blocks, fp32 atomics back, int32."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_forward_kernel(
    emb_ptr, ids_ptr, out_ptr, n_elements, dim, stride_v, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m = offs_m < n_elements
    mask = mask_m[:, None] & (offs_n[None, :] < dim)
    idx = tl.load(ids_ptr + offs_m, mask=mask_m, other=0)
    rows = tl.load(emb_ptr + idx[:, None] * stride_v + offs_n[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + offs_m[:, None] * dim + offs_n[None, :], rows, mask=mask)


@triton.jit
def embedding_backward_kernel(
    dy_ptr,
    ids_ptr,
    grad_ptr,
    n_elements,
    dim,
    n1,
    n2,
    padding_idx,
    s0,
    s1,
    s2,
    sd,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m = offs_m < n_elements
    idx = tl.load(ids_ptr + offs_m, mask=mask_m, other=0)
    place = offs_m // (n1 * n2) * s0 + offs_m // n2 % n1 * s1 + offs_m % n2 * s2
    mask = (mask_m & (idx != padding_idx))[:, None] & (offs_n < dim)[None, :]
    dy = tl.load(dy_ptr + place[:, None] + offs_n[None, :] * sd, mask=mask, other=0.0).to(tl.float32)
    tl.atomic_add(grad_ptr + idx[:, None] * dim + offs_n[None, :], dy, mask=mask)


@triton.jit
def cast_kernel(src_ptr, dst_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(
        dst_ptr + offs, tl.load(src_ptr + offs, mask=offs < n).to(dst_ptr.dtype.element_ty), mask=offs < n
    )


def launch_shape(n_elements, dim):
    BLOCK_N = min(128, triton.next_power_of_2(dim))
    BLOCK_M = min(32, triton.next_power_of_2(max(n_elements, 1)))
    return (triton.cdiv(n_elements, BLOCK_M), triton.cdiv(dim, BLOCK_N)), {
        "BLOCK_M": BLOCK_M,
        "BLOCK_N": BLOCK_N,
    }


class EmbeddingFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, ids, padding_idx):
        flat = ids.view(-1)
        out = torch.empty(flat.numel(), weight.shape[1], device=weight.device, dtype=weight.dtype)
        grid, blocks = launch_shape(flat.numel(), weight.shape[1])
        embedding_forward_kernel[grid](
            weight, flat, out, flat.numel(), weight.shape[1], weight.stride(0), **blocks
        )
        ctx.save_for_backward(ids)
        ctx.num_embeddings, ctx.padding_idx = weight.shape[0], padding_idx
        return out.view(*ids.shape, weight.shape[1])

    @staticmethod
    def backward(ctx, dy):
        (ids,) = ctx.saved_tensors
        dim, n = dy.shape[-1], ids.numel()
        grad = torch.zeros(ctx.num_embeddings, dim, dtype=torch.float32, device=dy.device)
        sizes, strides = (1,) * (3 - ids.dim()) + tuple(ids.shape), (0,) * (3 - ids.dim()) + dy.stride()
        grid, blocks = launch_shape(n, dim)
        if n:
            embedding_backward_kernel[grid](
                dy, ids, grad, n, dim, sizes[1], sizes[2], ctx.padding_idx, *strides, **blocks
            )
        if dy.dtype == torch.float32:
            return grad, None, None
        dweight = torch.empty_like(grad, dtype=dy.dtype)
        cast_kernel[(triton.cdiv(grad.numel(), 4096),)](grad, dweight, grad.numel(), BLOCK=4096, num_warps=8)
        return dweight, None, None


def embedding(weight, ids, padding_idx):
    return EmbeddingFunction.apply(weight, ids, padding_idx)
