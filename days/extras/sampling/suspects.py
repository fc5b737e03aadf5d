"""What a learner may have drawn in the place of a token: by which rule, by which odds, and for which seed."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import pad

from grader.challenge import Case, Relation

Ids = Callable[[Tensor, float, int], Tensor]
STEPS = 4001  # of an integral over the noise


def odds(logits: Tensor, temperature: float, seed: int) -> Tensor:
    """The probability of each id, [m, v]: softmax(logits / temperature), and 1 for the first largest at 0."""
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(dim=1), logits.shape[1]).double()
    return torch.softmax((logits - logits.amax(dim=1, keepdim=True)) / temperature, dim=1)


def largest(wrong: Callable[[Tensor], Tensor]) -> Ids:
    """Someone who takes this for the largest logit. Drawn at random, any id may be right."""
    return lambda logits, temperature, seed: wrong(logits) if temperature == 0 else logits.argmax(dim=1)


def last(logits: Tensor) -> Tensor:
    return logits.shape[1] - 1 - logits.flip(1).argmax(dim=1)


def by_bits(logits: Tensor) -> Tensor:
    """By them -0 is less than 0."""
    return torch.where((logits == 0) & logits.signbit(), -1e-30, logits.double()).argmax(dim=1)


def zeros_past(logits: Tensor) -> Tensor:
    """Blocks are a power of two, and 0 past the end."""
    cols = logits.shape[1]
    block = min(max(1 << (cols - 1).bit_length(), 16), 1024)
    return pad(logits, (0, -cols % block)).argmax(dim=1)


def last_in_lane(logits: Tensor, block: int) -> Tensor:
    """Lanes keep the last of equal logits, a block apart; of the lanes the first wins."""
    top = logits == logits.amax(dim=1, keepdim=True)
    columns = torch.arange(logits.shape[1], device=logits.device).where(top, -1)
    kept = pad(columns, (0, -logits.shape[1] % block), value=-1).unflatten(1, (-1, block)).amax(dim=1)
    return kept.where(kept >= 0, logits.shape[1]).amin(dim=1)


def tempered(wrong: Callable[[Tensor, float], Tensor]) -> Ids:
    """The odds of someone who makes these of the logits and the temperature."""
    return lambda logits, temperature, seed: torch.softmax(wrong(logits, temperature), dim=1)


def noisy(quantile: Callable[[Tensor], Tensor], below: Callable[[Tensor], Tensor]) -> Ids:
    """The odds of someone who adds other noise, where all rows are equal; else none.

    Id c wins where its noise z leaves all others below: the mean over z of Π F(z + x_c - x_j).

    Args:
        quantile: the noise that a share of all noise lies below.
        below: F, the share of the noise that lies below a number.
    """

    def wrong(logits: Tensor, temperature: float, seed: int) -> Tensor:
        if temperature == 0 or not len(logits) or not torch.equal(logits, logits[:1].expand_as(logits)):
            return torch.zeros_like(logits)
        x, place, count = torch.unique(logits[0] / temperature, return_inverse=True, return_counts=True)
        steps = torch.arange(STEPS, dtype=torch.float64, device=logits.device)
        z = quantile((steps + 0.5) / STEPS)[:, None]
        wins = [((below(z + c - x).log() * count).sum(1) - below(z)[:, 0].log()).exp().mean() for c in x]
        share = torch.stack(wins)[place]
        return (share / share.sum()).expand_as(logits)

    return wrong


DEVIATION = math.pi / math.sqrt(6)  # of Gumbel noise
GAUSSIAN = (lambda q: DEVIATION * torch.special.ndtri(q)), (lambda z: torch.special.ndtr(z / DEVIATION))
STANDARD = torch.special.ndtri, torch.special.ndtr
UNIFORM = (lambda q: q), (lambda z: z.clamp(0, 1))
EXPONENTIAL = (lambda q: -(-q).log1p()), (lambda z: -(-z.clamp(min=0)).expm1())
REVERSED = (lambda q: (-(-q).log1p()).log()), (lambda z: -(-z.exp()).expm1())

ODDS = {
    "The temperature changes nothing: this is how softmax(logits) would draw.": tempered(lambda x, t: x),
    "The temperature goes the wrong way: this is how softmax(logits * temperature) would draw. Divide the "
    "logits by it, or multiply the noise.": tempered(lambda x, t: x * t),
    "The temperature counts twice: this is how softmax(logits / temperature²) would draw. Divide the logits "
    "by it, or multiply the noise.": tempered(lambda x, t: x / max(t, 1e-30) ** 2),
    "This is how the largest of logit plus Gaussian noise would come: Gumbel noise is -log(-log(u)).": noisy(
        *STANDARD
    ),
    "This is how the largest of logit plus Gaussian noise, as wide as Gumbel noise, would come: it is "
    "-log(-log(u)).": noisy(*GAUSSIAN),
    "This is how the largest of logit + u would come: Gumbel noise is -log(-log(u)).": noisy(*UNIFORM),
    "This is how the largest of logit - log(u) would come: Gumbel noise is -log(-log(u)).": noisy(
        *EXPONENTIAL
    ),
    "The noise is turned round: this is how the largest of logit + log(-log(u)) would come. Gumbel noise is "
    "-log(-log(u)).": noisy(*REVERSED),
}

SUSPECTS = {
    "Of equal logits the first must win; here it is the last.": largest(last),
    "0 counts as larger than -0: they are equal, and of equal logits the first must win.": largest(by_bits),
    "At a temperature of 0 logits are divided by it: multiply the noise instead, or leave it out.": (
        largest(lambda x: (x > 0).int().argmax(dim=1))
    ),
    "Negative logits never win: the best so far starts at 0, and must start at -inf.": largest(
        lambda x: x.clamp(min=0).argmax(dim=1)
    ),
    **{
        f"Of equal logits that one lane of {block} sees, the last wins: only a larger one may replace it.": (
            largest(lambda x, block=block: last_in_lane(x, block))
        )
        for block in (512, 1024, 2048, 4096, 8192)
    },
    "This is the smallest logit of each row.": largest(lambda x: x.argmin(dim=1)),
    "Lanes past the end of a row count as logits of 0 and win over negative ones: they must be -inf.": (
        largest(zeros_past)
    ),
    **{
        f"The id is counted from the start of a block of {block}, not from that of the row.": largest(
            lambda x, block=block: x.argmax(dim=1) % block
        )
        for block in (64, 128, 256, 512, 1024, 2048, 4096, 8192)
    },
    **{
        f"Only the first {block} columns of a row can win.": largest(
            lambda x, block=block: x[:, :block].argmax(dim=1)
        )
        for block in (64, 128, 256, 512, 1024, 2048, 4096, 8192)
    },
}


def differ(one: Tensor, two: Tensor) -> bool:
    """Fewer than half of the rows draw the same."""
    return float((one == two).double().mean()) < 0.5


def unshifted(one: Tensor, two: Tensor) -> bool:
    """The ids of one call are not those of the other a few columns on, nor those of the next row; the same
    ones are told of another seed.
    """
    return torch.equal(one, two) or (
        differ(one - two, torch.mode(one - two).values) and differ(one[1:], two[:-1])
    )


# How far the seeds of two calls lie apart, what must be so of their ids, and what is said where it is not.
SEEDS = {
    "the same seed again": (
        0,
        torch.equal,
        "The same seed draws other ids the second time: use the seed, the row and the column, and nothing "
        "that changes from call to call.",
    ),
    "the next seed": (
        1,
        unshifted,
        "Seed + 1 draws what seed draws, a few columns or a row further on: what is added to the seed, or to "
        "which it is added, is reached from another seed too. Pass the seed to tl.rand as it is.",
    ),
    "another seed": (
        12345,
        differ,
        "Another seed draws the same ids: seed does not reach the random numbers.",
    ),
    "another seed past 32 bits": (
        2**32,
        differ,
        "seed and seed + 2³² draw the same ids: the upper bits of the seed are cut off.",
    ),
}


def relations(case: Case) -> list[Relation]:
    """Of two calls on the same logits, equal ones throughout, whose seeds differ."""
    return [
        Relation(
            name,
            case,
            lambda logits, temperature, seed, apart=apart: (logits, temperature, seed + apart),
            lambda one, two, holds=holds: holds(one[0], two[0]),
            says,
        )
        for name, (apart, holds, says) in SEEDS.items()
    ]
