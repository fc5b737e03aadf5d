"""The norm of a sum as integers, and what a learner may have computed in its place."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Results = tuple[Tensor, Tensor, Tensor]


def added(x: Tensor, residual: Tensor) -> Tensor:
    """residual + x, rounded to their 16 bits.

    The oracle is asked with float64 copies: theirs was bf16 where that holds all of both, and fp16 elsewhere.
    Cases of fp16 are so large that bf16 cannot hold them, or their sums are rounded by neither.
    """
    total = residual.float() + x.float()  # exact, so that no rounding explains another sum
    return narrowed(total, x, residual).to(x.dtype)


def narrowed(y: Tensor, *like: Tensor) -> Tensor:
    """Rounded to the 16 bits that others have."""
    brain = all(torch.equal(one.bfloat16().to(one.dtype), one) for one in like)
    return y.to(torch.bfloat16 if brain else torch.float16).to(y.dtype)


def normed(h: Tensor, weight: Tensor, eps: float) -> Tensor:
    """The RMS norm of each row, in fp32 or wider."""
    wide = h.to(torch.promote_types(h.dtype, torch.float32))
    return wide * (wide.square().mean(dim=1, keepdim=True) + eps).rsqrt() * weight.to(wide.dtype)


def floored(h: Tensor, weight: Tensor, eps: float) -> Tensor:
    """The same with eps as the least mean square."""
    wide = h.to(torch.promote_types(h.dtype, torch.float32))
    return wide * wide.square().mean(dim=1, keepdim=True).clamp(min=eps).rsqrt() * weight.to(wide.dtype)


def scale_of(y: Tensor) -> Tensor:
    """amax / 127 of each row, [m, 1]; 1 where that is 0."""
    amax = y.abs().amax(dim=1, keepdim=True)
    return torch.where(amax > 0, amax / 127, 1.0)


def bytes_of(quotient: Tensor) -> Tensor:
    """Integers as int8 holds them: 128 is -128."""
    return ((quotient + 128) % 256 - 128).to(torch.int8)


def quantised(total: Tensor, y: Tensor) -> Results:
    """What residual holds, q and scale."""
    scale = scale_of(y)
    return total, bytes_of((y / scale).round()), scale[:, 0]


def of(y: Callable[[Tensor, Tensor, Tensor, Tensor, float], Tensor]) -> Callable[..., Results]:
    """Someone who quantises this of (total, x, residual, weight, eps)."""

    def wrong(x: Tensor, residual: Tensor, weight: Tensor, eps: float) -> Results:
        total = added(x, residual)
        return quantised(total, y(total, x, residual, weight, eps))

    return wrong


def by(rule: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> Callable[..., Results]:
    """Someone who makes quotients and a scale of (y, scale[m, 1]) so."""

    def wrong(x: Tensor, residual: Tensor, weight: Tensor, eps: float) -> Results:
        total = added(x, residual)
        y = normed(total, weight, eps)
        quotient, scale = rule(y, scale_of(y))
        return total, bytes_of(quotient.nan_to_num()), scale.expand(len(y), 1)[:, 0]

    return wrong


def weight_last(x: Tensor, residual: Tensor, weight: Tensor, eps: float) -> Results:
    """Someone who takes the largest element before the weight."""
    total = added(x, residual)
    plain = normed(total, torch.ones_like(weight), eps)
    scale = scale_of(plain)
    return total, bytes_of((plain / scale * weight).round()), scale[:, 0]


def outside(h: Tensor, weight: Tensor, eps: float) -> Tensor:
    return h / (h.square().mean(dim=1, keepdim=True).sqrt() + eps) * weight


def over(h: Tensor, count: float, weight: Tensor, eps: float) -> Tensor:
    """A mean over another number of elements."""
    return h * (h.square().sum(dim=1, keepdim=True) / count + eps).rsqrt() * weight


def centred(h: Tensor) -> Tensor:
    return h - h.mean(dim=1, keepdim=True)


def half_up(y: Tensor) -> Tensor:
    return (y + 0.5).floor()


SUSPECTS = {
    "The norm is that of the sum before it was rounded: norm what residual holds now.": of(
        lambda total, x, residual, weight, eps: normed(residual + x, weight, eps)
    ),
    "This is the norm of x alone: norm the sum with residual.": of(
        lambda total, x, residual, weight, eps: normed(x, weight, eps)
    ),
    "This is the norm of residual before x was added.": of(
        lambda total, x, residual, weight, eps: normed(residual, weight, eps)
    ),
    "The norm was rounded to 16 bits before it was quantised: stay in fp32.": of(
        lambda total, x, residual, weight, eps: narrowed(normed(total, weight, eps), x, residual)
    ),
    "The weight is missing.": of(
        lambda total, x, residual, weight, eps: normed(total, torch.ones_like(weight), eps)
    ),
    "The weight comes after the largest element was found: multiply by it first.": weight_last,
    "The sum is quantised as it is: the norm is missing.": of(
        lambda total, x, residual, weight, eps: total * weight
    ),
    "The mean is subtracted, as a layer norm does: an RMS norm has none.": of(
        lambda total, x, residual, weight, eps: normed(centred(total), weight, eps)
    ),
    "eps is added to the root: it belongs under it.": of(
        lambda total, x, residual, weight, eps: outside(total, weight, eps)
    ),
    "eps is the least that the mean square may be: it is added to that.": of(
        lambda total, x, residual, weight, eps: floored(total, weight, eps)
    ),
    "eps is squared: it is added as it is.": of(
        lambda total, x, residual, weight, eps: normed(total, weight, eps * eps)
    ),
    "eps is missing.": of(lambda total, x, residual, weight, eps: normed(total, weight, 0.0)),
    "The sum of squares is not divided by n.": of(
        lambda total, x, residual, weight, eps: over(total, 1, weight, eps)
    ),
    "Squares are rounded to 16 bits: convert to fp32 before multiplying.": of(
        lambda total, x, residual, weight, eps: (
            total * (narrowed(total.square(), x, residual).mean(dim=1, keepdim=True) + eps).rsqrt() * weight
        )
    ),
    "The mean of squares is over the block, padding included: divide by n.": of(
        lambda total, x, residual, weight, eps: over(
            total, 1 << (total.shape[1] - 1).bit_length(), weight, eps
        )
    ),
    "Quotients are cut off: round them to the nearest integer.": by(lambda y, s: ((y / s).trunc(), s)),
    "Quotients are rounded down: round them to the nearest integer.": by(lambda y, s: ((y / s).floor(), s)),
    "Halves are rounded up: of two integers as near the even one is right, as by libdevice.rint.": by(
        lambda y, s: (half_up(y / s), s)
    ),
    "Halves are rounded away from 0: of two integers as near the even one is right, as by libdevice."
    "rint.": by(lambda y, s: (half_up((y / s).abs()) * y.sign(), s)),
    "The scale is amax / 128, and 128 is -128 in int8: divide by 127.": by(
        lambda y, s: ((y / s * 128 / 127).round(), s * 127 / 128)
    ),
    "The scale is amax / 128: divide by 127.": by(
        lambda y, s: ((y / s * 128 / 127).round().clamp(-128, 127), s * 127 / 128)
    ),
    "The scale is amax / 255, as if all integers were above 0: divide by 127.": by(
        lambda y, s: ((y / s * 255 / 127).round(), s * 127 / 255)
    ),
    "scale is turned round: it is amax / 127, what q is multiplied by.": by(
        lambda y, s: ((y / s).round(), 1 / s)
    ),
    "scale is amax itself: it is amax / 127.": by(lambda y, s: ((y / s).round(), 127 * s)),
    "The largest element is taken with its sign: the largest |y| decides.": by(
        lambda y, s: ((y / scale_of(y.clamp(min=0))).round(), scale_of(y.clamp(min=0)))
    ),
    "The scale is that of the whole tensor: each row has its own.": by(
        lambda y, s: ((y / s.amax()).round(), s.amax().expand_as(s))
    ),
    "The scale of a row of zeros must be 1.": by(
        lambda y, s: ((y / s).round(), s * (y != 0).any(dim=1, keepdim=True))
    ),
}
