"""What a learner may have computed in the place of silu(x w_gateᵀ) · (x w_upᵀ)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import gelu, silu

from grader.challenge.formulas.block_bounds import BLOCKS, whole_blocks
from grader.challenge.formulas.stride_suspects import swapped_strides


def of(
    unit: Callable[[Tensor, Tensor], Tensor] = lambda gate, up: silu(gate) * up,
    seen: Callable[[Tensor], Tensor] = lambda w: w,
    end: Callable[[int], int] = lambda k: k,
) -> Callable[..., Tensor]:
    """Someone who makes this of both products.

    Args:
        seen: a weight as they read it.
        end: how much of k they multiply.
    """

    def wrong(x: Tensor, w_gate: Tensor, w_up: Tensor) -> Tensor:
        stop = end(x.shape[1])
        gate, up = (x[:, :stop] @ seen(w)[:, :stop].mT for w in (w_gate, w_up))
        return unit(gate, up)

    return wrong


def rounded(x: Tensor) -> Tensor:
    return x.half().to(x.dtype)


def share(x: Tensor) -> Tensor:
    return torch.sigmoid(x)


SUSPECTS = {
    "gate and up have changed places: silu belongs to x w_gateᵀ.": of(lambda gate, up: gate * silu(up)),
    "The activation is missing: this is the product of both sums.": of(lambda gate, up: gate * up),
    "The activation comes last: silu(x w_gateᵀ · x w_upᵀ). It belongs to x w_gateᵀ alone.": of(
        lambda gate, up: silu(gate * up)
    ),
    "Both sums go through silu: it belongs to x w_gateᵀ alone.": of(lambda gate, up: silu(gate) * silu(up)),
    "The activation lacks its factor: this is the sigmoid of x w_gateᵀ alone, times x w_upᵀ.": of(
        lambda gate, up: share(gate) * up
    ),
    "The sigmoid has the wrong sign: silu(g) is g / (1 + exp(-g)).": of(
        lambda gate, up: gate * share(-gate) * up
    ),
    "The activation is gelu, and not silu.": of(lambda gate, up: gelu(gate, approximate="tanh") * up),
    "Both products are added up in one accumulator: each needs its own.": of(
        lambda gate, up: silu(gate + up) * (gate + up)
    ),
    "w_up is left out: both sums are x w_gateᵀ.": of(lambda gate, up: silu(gate) * gate),
    "w_gate is left out: both sums are x w_upᵀ.": of(lambda gate, up: silu(up) * up),
    "The sums are added, not multiplied: y = silu(x w_gateᵀ) · x w_upᵀ.": of(
        lambda gate, up: silu(gate) + up
    ),
    "Both weights are read with their two strides swapped, as if they were [k, n].": of(seen=swapped_strides),
    "The sums are rounded to fp16, which has only Inf past 65504: keep them in fp32 until the store.": of(
        lambda gate, up: silu(rounded(gate)) * rounded(up)
    ),
    **{
        f"The last, partial step along k is left out, if BLOCK_K is {n}: go on while an element is left.": of(
            end=lambda k, n=n: whole_blocks(k, n)
        )
        for n in BLOCKS
    },
}
