"""What a learner may have computed in the place of a cross-entropy whose rows are cut into chunks."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import pad

Two = tuple[Tensor, Tensor]
WIDEST = 8192  # columns that a program reads at once


def at(logits: Tensor, columns: Tensor) -> Tensor:
    """One logit of each row."""
    return logits.gather(1, columns[:, None])[:, 0]


def merging(merged: Callable[[Tensor], Tensor], seen=lambda x: x) -> Callable[..., Two]:
    """Someone who merges the logsumexp of each chunk, [m, chunks], so.

    Args:
        seen: what a chunk of the row holds for them, from its logits.
    """

    def wrong(logits: Tensor, target: Tensor, chunk: int) -> Two:
        parts = [seen(part).logsumexp(dim=1) for part in logits.split(chunk, dim=1)]
        lse = merged(torch.stack(parts, dim=1))
        return lse - at(logits, target), lse

    return wrong


def loss_of(lost: Callable[[Tensor, Tensor, Tensor, int], Tensor]) -> Callable[..., Two]:
    """Someone whose lse is right, and whose loss is this of (lse, logits, target, chunk)."""

    def wrong(logits: Tensor, target: Tensor, chunk: int) -> Two:
        lse = logits.logsumexp(dim=1)
        return lost(lse, logits, target, chunk), lse

    return wrong


def zeros_past(least: int) -> Callable[..., Two]:
    """Someone whose blocks hold 0 past the end of a chunk; a block is a chunk, from `least` lanes on."""

    def wrong(logits: Tensor, target: Tensor, chunk: int) -> Two:
        block = min(max(chunk, least), WIDEST)
        ends = merging(lambda parts: parts.logsumexp(dim=1), lambda x: pad(x, (0, -x.shape[1] % block)))
        return ends(logits, target, chunk)

    return wrong


def whole_chunks(logits: Tensor, target: Tensor, chunk: int) -> Two:
    """Someone who divides the row by the chunk and rounds down."""
    end = max(logits.shape[1] // chunk, 1) * chunk
    lse = logits[:, :end].logsumexp(dim=1)
    return lse - at(logits, target), lse


def unshifted(parts: Tensor) -> Tensor:
    """NaN as soon as a chunk holds -inf alone."""
    return parts.logsumexp(dim=1) + 0 * parts.sum(dim=1)


def base_2(parts: Tensor) -> Tensor:
    """log2 of a sum of powers of two, of logarithms that are natural ones."""
    return (parts * math.log(2)).logsumexp(dim=1) / math.log(2)


MERGE = "lse is log Σ exp(lse of a chunk)."

SUSPECTS = {
    **{
        "Lanes past a chunk's end count as logits of 0: load them as -inf, whose exponential is 0."
        + (f" (Blocks of {least} lanes or more.)" if least > 1 else ""): zeros_past(least)
        for least in (1, 4, 16)
    },
    "The last chunk, which is not whole, is left out: there are ceil(v / chunk) of them.": whole_chunks,
    "This is the last chunk alone: each chunk needs a place of its own for what it finds.": merging(
        lambda parts: parts[:, -1]
    ),
    "This is the first chunk alone: the merge must look at all of them.": merging(lambda parts: parts[:, 0]),
    f"The parts are added up as they are: {MERGE}": merging(lambda parts: parts.sum(dim=1)),
    f"This is the largest part alone: {MERGE}": merging(lambda parts: parts.amax(dim=1)),
    f"This is the mean of the parts: {MERGE}": merging(lambda parts: parts.mean(dim=1)),
    "The merge takes powers of two of natural logarithms: multiply by log2(e) before exp2, or by ln(2) "
    "behind log2.": merging(base_2),
    "lse is in base 2: multiply log2 of the sum by ln(2).": merging(
        lambda parts: parts.logsumexp(dim=1) / math.log(2)
    ),
    "A chunk of -inf alone turns the row into NaN: -inf - (-inf). It adds nothing, so its part must be 0.": (
        merging(unshifted)
    ),
    "The loss takes the target's place within its chunk for its place in the row.": loss_of(
        lambda lse, logits, target, chunk: lse - at(logits, target % chunk)
    ),
    "The loss lacks the logit at the target: this is the logsumexp.": loss_of(
        lambda lse, logits, target, chunk: lse
    ),
    "The loss is turned round: it is lse - logit, not logit - lse.": loss_of(
        lambda lse, logits, target, chunk: at(logits, target) - lse
    ),
    "The loss takes the first column for the target.": loss_of(
        lambda lse, logits, target, chunk: lse - logits[:, 0]
    ),
}
