"""The recurrence, and what a learner may have computed in its place or that of its gradients."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Of = Callable[[Tensor, Tensor], Tensor]


def scanned(a: Tensor, b: Tensor) -> Tensor:
    """h[:, t] = a[:, t] * h[:, t - 1] + b[:, t], in fp32 or wider: each step takes in 1, 2, 4, … earlier
    ones.
    """
    wide = torch.promote_types(a.dtype, torch.float32)
    a, h, reach = a.to(wide), b.to(wide), 1
    while reach < h.shape[1]:
        h = torch.cat([h[:, :reach], h[:, reach:] + a[:, reach:] * h[:, :-reach]], 1)
        a = torch.cat([a[:, :reach], a[:, reach:] * a[:, :-reach]], 1)
        reach *= 2
    return h


def before(x: Tensor) -> Tensor:
    """What stood there one step earlier; 0 at first."""
    return torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1)


def after(x: Tensor) -> Tensor:
    """What stands there one step later; 0 at last."""
    return torch.cat([x[:, 1:], torch.zeros_like(x[:, :1])], 1)


def backwards(a: Tensor, b: Tensor) -> Tensor:
    """The recurrence from the last step to the first."""
    return scanned(a.flip(1), b.flip(1)).flip(1)


def cut(a: Tensor, n: int) -> Tensor:
    """a with a 0 at the first step of every n: nothing goes on into the next chunk."""
    return a * (torch.arange(a.shape[1], device=a.device) % n != 0)[None, :, None]


def right(a: Tensor, dh: Tensor) -> Tensor:
    """db, from a and the gradient that came in."""
    return backwards(after(a), dh)


def with_gradients(of_b: Of = right, of_a: Of = lambda db, h: db * before(h), of_h: Of = scanned) -> Of:
    """h of a and b, db of a and dh, and da of those two: each rounded once, as torch has it."""

    class Recurrence(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a: Tensor, b: Tensor) -> Tensor:
            h = of_h(a, b).to(a.dtype)
            ctx.save_for_backward(a, h)
            return h

        @staticmethod
        def backward(ctx, dh: Tensor) -> tuple[Tensor, Tensor]:
            a, h = ctx.saved_tensors
            db = of_b(a, dh).to(a.dtype)
            wide = torch.promote_types(a.dtype, torch.float32)
            return of_a(db.to(wide), h.to(wide)).to(a.dtype), db

    return Recurrence.apply


def mirrored(a: Tensor, b: Tensor) -> Tensor:
    """Both steps of combine() have changed places: each b is weighed by what stands before it."""
    return torch.cumsum(b * torch.cumprod(torch.cat([torch.ones_like(a[:, :1]), a[:, :-1]], 1), 1), 1)


CHUNKS = 16, 32, 64, 128, 256, 512, 1024, 2048

SUSPECTS: dict[str, Of] = {
    "The two steps in combine() have changed places: the left one comes first, so its b is what a_right "
    "multiplies.": mirrored,
    "a multiplies the new input as well: h = a · h + b, not a · (h + b).": lambda a, b: scanned(a, a * b),
    "The a of the step before is taken: step t has a[t].": lambda a, b: scanned(before(a), b),
    "The recurrence runs from the last step to the first.": backwards,
    "Nothing is carried along: the result is b.": lambda a, b: b,
    **{
        f"Every chunk of {n} steps begins with h = 0: it goes on where the last chunk ended.": (
            with_gradients(of_h=lambda a, b, n=n: scanned(cut(a, n), b))
        )
        for n in CHUNKS
    },
    "The gradients are off by one step: db[t + 1] comes back through a[t + 1], not a[t].": with_gradients(
        backwards
    ),
    "da is off by one step: a[t] multiplied h[t − 1], not h[t].": with_gradients(of_a=lambda db, h: db * h),
    "The gradients run forwards: what a step does shows in later ones, so they are summed from the last step "
    "on.": with_gradients(lambda a, dh: scanned(after(a), dh)),
    "db is the upstream gradient alone: a step has a part in all later ones, too.": with_gradients(
        lambda a, dh: dh
    ),
    **{
        f"The gradients of every chunk of {n} steps begin at 0: they go on where the later chunk ended.": (
            with_gradients(lambda a, dh, n=n: backwards(after(cut(a, n)), dh))
        )
        for n in CHUNKS
    },
}
