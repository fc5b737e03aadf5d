"""A right copy whose loop counts blocks, and a sheet that divides what an SM has by what a program takes."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_blocks(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    num_blocks = tl.cdiv(n_elements, BLOCK_SIZE)
    for block in tl.range(tl.program_id(0), num_blocks, tl.num_programs(0)):
        offsets = block.to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        value = tl.load(x_ptr + offsets, mask=offsets < n_elements)
        tl.store(out_ptr + offsets, value, mask=offsets < n_elements)


def resident(registers, shared, num_warps, max_warps, max_programs, sm_registers, sm_shared, reserved):
    has = (max_warps, max_programs, sm_registers, sm_shared)
    takes = (num_warps, 1, num_warps * 256 * -(-registers // 8), shared + reserved)
    return min(have // take for have, take in zip(has, takes, strict=True) if take)


def fill(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    programs = 7
    if x.is_cuda:
        p = torch.cuda.get_device_properties(x.device)
        programs = p.multi_processor_count * resident(
            64,  # fewer than it may have: at most so many a thread
            0,
            4,
            p.max_threads_per_multi_processor // 32,
            16,
            p.regs_per_multiprocessor,
            p.shared_memory_per_multiprocessor,
            1024,
        )
    copy_blocks[(programs,)](x, out, x.numel(), BLOCK_SIZE=2048, num_warps=4)
    return out
