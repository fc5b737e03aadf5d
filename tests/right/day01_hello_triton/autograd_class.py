"""2x + 1 in an autograd.Function, launched with keywords."""

import torch
import triton
import triton.language as tl


@triton.jit
def _forward_kernel(inp, out, N: tl.constexpr, SCALE: tl.constexpr, SHIFT: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, SCALE * tl.load(inp + i) + SHIFT)


class ScaleAndShift(torch.autograd.Function):
    @staticmethod
    def forward(ctx, inp):
        out = torch.empty_like(inp)
        _forward_kernel[(1,)](inp=inp, out=out, N=inp.shape[0], SCALE=2.0, SHIFT=1.0)
        return out


def scale_and_shift(x):
    return ScaleAndShift.apply(x)
