"""Elements counted through, a division each where the inputs are not flat; capsules taken by hand."""

import torch
import triton
import triton.language as tl
from torch.utils.dlpack import from_dlpack


@triton.jit
def flat(X, Y, OUT, factor, total, width, x0, x1, y0, y1, PLAIN: tl.constexpr, SIZE: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    ok = i < total
    if PLAIN:
        at_x = i
        at_y = i
    else:
        at_x = i // width * x0 + i % width * x1
        at_y = i // width * y0 + i % width * y1
    x = tl.load(X + at_x, mask=ok, other=0.0)
    y = tl.load(Y + at_y, mask=ok, other=0.0)
    tl.store(OUT + i, (x.to(tl.float32) + factor * y.to(tl.float32)).to(OUT.dtype.element_ty), mask=ok)


def taken(array):
    kind, number = array.__dlpack_device__()
    if kind == 2:
        stream = torch.cuda.current_stream(f"cuda:{number}").cuda_stream
        return from_dlpack(array.__dlpack__(stream=stream or 1))
    return from_dlpack(array.__dlpack__())


def scaled_add(x, y, alpha):
    x, y = taken(x), taken(y)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        grid = (triton.cdiv(out.numel(), 2048),)
        flat[grid](
            x, y, out, alpha, out.numel(), x.shape[-1], x.stride(0), x.stride(-1), y.stride(0), y.stride(-1),
            PLAIN=x.is_contiguous() and y.is_contiguous(), SIZE=2048, num_warps=8,
        )  # fmt: skip
    return out
