"""A right sheet made line by line, and a copy whose programs walk on by hand, 8 warps each."""

import torch
import triton
import triton.language as tl

SIZE = 4096


@triton.jit
def walk(src, dst, count, SIZE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    hop = tl.num_programs(0).to(tl.int64) * SIZE
    for _ in range(tl.cdiv(count, hop)):
        tl.store(dst + at, tl.load(src + at, at < count), at < count)
        at += hop


def resident(registers, shared, num_warps, max_warps, max_programs, sm_registers, sm_shared, reserved):
    room = 0
    while True:
        programs = room + 1
        warps = programs * num_warps
        pieces = (registers + 7) // 8  # 256 registers are 8 for each thread of a warp
        if programs > max_programs or warps > max_warps:
            return room
        if warps * pieces * 256 > sm_registers or programs * (shared + reserved) > sm_shared:
            return room
        room = programs


def sheet(device):
    facts = torch.cuda.get_device_properties(device)
    most = {70: 32, 75: 16, 80: 32, 86: 16, 87: 16, 89: 24, 90: 32, 100: 32, 120: 24}
    return (
        facts.max_threads_per_multi_processor // facts.warp_size,
        most.get(facts.major * 10 + facts.minor, 16),
        facts.regs_per_multiprocessor,
        facts.shared_memory_per_multiprocessor,
        1024 * (facts.major >= 8),
    )


def fill(x):
    out = torch.empty_like(x)
    programs = 5
    if x.is_cuda:
        sms = torch.cuda.get_device_properties(x.device).multi_processor_count
        # Compiled by an empty launch, which does nothing else.
        kernel = walk[(1,)](x, out, 0, SIZE=SIZE, num_warps=8)
        registers = getattr(kernel, "n_regs", None) or 40
        programs = sms * resident(registers, 0, 8, *sheet(x.device))
    walk[(programs,)](x, out, x.numel(), SIZE=SIZE, num_warps=8)
    return out
