"""The convolution that is asked for, and what a learner may have computed in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch.nn.functional as F
from torch import Tensor


def convolved(
    x: Tensor, w: Tensor, bias: Tensor | None, stride: int, padding: int, dilation: int, groups: int
) -> Tensor:
    """By sums in fp64, rounded once: cuDNN takes TF32 for fp32, and its flags hold for all threads."""
    dtype = x.dtype
    x, w, bias = (None if t is None else t.double() for t in (x, w, bias))
    return F.conv2d(x, w, bias, stride, padding, dilation, groups).to(dtype).contiguous()


@dataclass(frozen=True)
class Call:
    """The arguments of one call."""

    x: Tensor
    w: Tensor
    bias: Tensor | None
    stride: int
    padding: int
    dilation: int
    groups: int

    def result(self) -> Tensor:
        return convolved(self.x, self.w, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def padded(self, mode: str) -> Call:
        """The same with its padding in x."""
        p = self.padding
        return replace(self, x=F.pad(self.x, (p, p, p, p), mode=mode), padding=0)


def by(other: Callable[[Call], Call]) -> Callable[..., Tensor]:
    """Someone whose result is that of another call, as far as the right one reaches."""

    def wrong(*arguments) -> Tensor:
        call = Call(*arguments)
        high, wide = call.result().shape[2:]
        return other(call).result()[:, :, :high, :wide]

    return wrong


def first_group(t: Tensor, groups: int) -> Tensor:
    """The first group's share along dimension 1 in the place of every group's."""
    share = t.shape[1] // groups
    return t[:, :share].repeat(1, groups, 1, 1)


def first_weights(w: Tensor, groups: int) -> Tensor:
    return w[: len(w) // groups].repeat(groups, 1, 1, 1)


SUSPECTS: dict[str, Callable[..., Tensor]] = {
    "The window is flipped: w[:, :, 0, 0] belongs to the upper left of a window.": by(
        lambda call: replace(call, w=call.w.flip(2, 3))
    ),
    "Rows and columns of the window are swapped.": by(lambda call: replace(call, w=call.w.mT)),
    "Padding repeats the edge of the image: it is zeros.": by(lambda call: call.padded("replicate")),
    "Padding goes on at the other side of the image: it is zeros.": by(lambda call: call.padded("circular")),
    "The stride is ignored: neighbours in the result are `stride` apart in x.": by(
        lambda call: replace(call, stride=1)
    ),
    "The dilation is ignored: neighbours in the window are `dilation` apart in x.": by(
        lambda call: replace(call, dilation=1)
    ),
    "The padding is ignored: the first window begins `padding` above x, and as far left of it.": by(
        lambda call: replace(call, x=F.pad(call.x, (0, 2 * call.padding) * 2), padding=0)
    ),
    "Every group reads the channels of the first one.": by(
        lambda call: replace(call, x=first_group(call.x, call.groups))
    ),
    "Every group takes the weights of the first one.": by(
        lambda call: replace(call, w=first_weights(call.w, call.groups))
    ),
    "Every image of the batch is the first one.": by(
        lambda call: replace(call, x=call.x[:1].expand(call.x.shape))
    ),
    "The bias is not added.": by(lambda call: replace(call, bias=None)),
}
