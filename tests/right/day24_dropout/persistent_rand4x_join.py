"""Dropout by a fixed number of programs, tl.rand4x put in order by joins and a reshape. May have limits."""

import torch
import triton
import triton.language as tl


@triton.heuristics({"EVEN": lambda args: args["n"] % (args["QUADS"] * 4) == 0})
@triton.jit
def dropout_kernel(x_ptr, y_ptr, keep_ptr, n, p, seed, QUADS: tl.constexpr, EVEN: tl.constexpr):
    BLOCK: tl.constexpr = QUADS * 4
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        u0, u1, u2, u3 = tl.rand4x(seed, block * QUADS + tl.arange(0, QUADS))
        u = tl.reshape(tl.join(tl.join(u0, u2), tl.join(u1, u3)), (BLOCK,))
        keep = u >= p
        offs = block * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            x = tl.load(x_ptr + offs).to(tl.float32)
            tl.store(y_ptr + offs, tl.where(keep, x / (1.0 - p), 0.0))
            tl.store(keep_ptr + offs, keep)
        else:
            x = tl.load(x_ptr + offs, mask=offs < n).to(tl.float32)
            tl.store(y_ptr + offs, tl.where(keep, x / (1.0 - p), 0.0), mask=offs < n)
            tl.store(keep_ptr + offs, keep, mask=offs < n)


def dropout(x, p, seed):
    y, keep = torch.empty_like(x), torch.empty_like(x, dtype=torch.bool)
    n = x.numel()
    if n == 0:
        return y, keep
    sms = torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 64
    dropout_kernel[(min(16 * sms, triton.cdiv(n, 1024)),)](x, y, keep, n, p, seed, QUADS=256, num_warps=4)
    return y, keep
