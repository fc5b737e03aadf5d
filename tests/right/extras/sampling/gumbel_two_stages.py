"""Gumbel sampling in two stages, as vLLM's runner: blocks of a row on axis 1, then their best; int32."""

import torch
import triton
import triton.language as tl


@triton.jit
def tl_gumbel(u):
    wait = -tl.log(tl.maximum(u, 1e-10))
    return -tl.log(tl.maximum(wait, 1e-8))


@triton.jit
def _gumbel_sample_kernel(
    local_argmax_ptr,
    local_max_ptr,
    logits_ptr,
    logits_stride,
    vocab_size,
    num_blocks,
    temperature,
    seed,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(0)
    block_idx = tl.program_id(1)
    QUARTER: tl.constexpr = BLOCK_SIZE // 4
    u0, u1, u2, u3 = tl.rand4x(seed, (row * num_blocks + block_idx) * QUARTER + tl.arange(0, QUARTER))
    u = tl.interleave(tl.interleave(u0, u2), tl.interleave(u1, u3))
    block = block_idx * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = block < vocab_size
    logits = tl.load(logits_ptr + row * logits_stride + block, mask=mask, other=float("-inf")).to(tl.float32)
    noisy = logits + temperature * tl_gumbel(u)
    best, idx = tl.max(noisy, axis=0, return_indices=True)
    tl.store(local_argmax_ptr + row * num_blocks + block_idx, block_idx * BLOCK_SIZE + idx)
    tl.store(local_max_ptr + row * num_blocks + block_idx, best)


@triton.jit
def _combine_kernel(local_argmax_ptr, local_max_ptr, out_ptr, num_blocks, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    best = tl.load(local_max_ptr + row * num_blocks + offs, mask=offs < num_blocks, other=float("-inf"))
    winner = tl.argmax(best, axis=0)
    tl.store(out_ptr + row, tl.load(local_argmax_ptr + row * num_blocks + winner).to(tl.int64))


def sample(logits, temperature, seed):
    num_reqs, vocab_size = logits.shape
    BLOCK_SIZE = 2048
    num_blocks = triton.cdiv(vocab_size, BLOCK_SIZE)
    local_argmax = torch.empty(num_reqs, num_blocks, dtype=torch.int32, device=logits.device)
    local_max = torch.empty(num_reqs, num_blocks, dtype=torch.float32, device=logits.device)
    ids = torch.empty(num_reqs, dtype=torch.int64, device=logits.device)
    if num_reqs == 0:
        return ids
    _gumbel_sample_kernel[(num_reqs, num_blocks)](
        local_argmax,
        local_max,
        logits,
        logits.stride(0),
        vocab_size,
        num_blocks,
        temperature,
        seed,
        BLOCK_SIZE=BLOCK_SIZE,
        num_warps=8,
    )
    _combine_kernel[(num_reqs,)](
        local_argmax, local_max, ids, num_blocks, BLOCK=triton.next_power_of_2(num_blocks), num_warps=1
    )
    return ids
