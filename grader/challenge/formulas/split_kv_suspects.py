"""What goes wrong between the splits of a decoding step's keys, which several programs share."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.challenge.formulas.attention import LOG2_E
from grader.challenge.formulas.block_bounds import lanes
from grader.challenge.formulas.decoding import Rules, softmaxed

LOWEST = torch.finfo(torch.float32).min  # a maximum that stays finite where all scores are -inf
Merge = Callable[[Tensor, Tensor, Tensor], Tensor]
Weighed = Callable[[Tensor, Tensor, int], Tensor]


def block_of(d: int) -> int:
    """The keys of a block, as the skeletons of the extras have it."""
    return 8192 // lanes(d)


def merging(merged: Merge) -> Weighed:
    """Someone whose parts of the keys are merged so; the last may be shorter.

    Args:
        merged: o [h, d] of what each part has: m and l [h, parts], and the unnormalised o [h, parts, d].
    """

    def weighed(s: Tensor, v: Tensor, part: int) -> Tensor:
        more = -s.shape[1] % part
        parts = F.pad(s, (0, more), value=-math.inf).reshape(len(s), -1, part)
        values = F.pad(v, (0, 0, 0, more)).reshape(len(v), -1, part, v.shape[2])
        m = parts.amax(dim=-1).clamp(min=LOWEST)
        p = torch.exp(parts - m[:, :, None])
        return merged(m, p.sum(dim=-1), torch.einsum("hpn,hpnd->hpd", p, values))

    return weighed


def factored(of_l: Callable[[Tensor], Tensor], of_o: Callable[[Tensor], Tensor]) -> Merge:
    """The parts' l and o, each times a function of how far the part's maximum lies below the largest."""

    def merged(m: Tensor, total: Tensor, o: Tensor) -> Tensor:
        below = m - m.amax(dim=1, keepdim=True)
        return (o * of_o(below)[:, :, None]).sum(dim=1) / (total * of_l(below)).sum(dim=1)[:, None]

    return merged


def not_rescaled(s: Tensor, v: Tensor, part: int) -> Tensor:
    """Blocks of a part one after the other; what o has added up is not brought to a maximum that rises."""
    block = block_of(v.shape[2])
    more = -s.shape[1] % part
    parts = F.pad(s, (0, more), value=-math.inf).reshape(len(s), -1, part // block, block)
    values = F.pad(v, (0, 0, 0, more)).reshape(len(v), -1, part // block, block, v.shape[2])
    running = parts.amax(dim=-1).clamp(min=LOWEST).cummax(dim=-1).values
    last, p = running[..., -1:], torch.exp(parts - running[..., None])
    total = (p.sum(dim=-1) * torch.exp(running - last)).sum(dim=-1)
    o = torch.einsum("hpbn,hpbnd->hpd", p, values)
    return factored(torch.exp, torch.exp)(last[..., 0], total, o)


def divided_twice(m: Tensor, total: Tensor, o: Tensor) -> Tensor:
    """Each part normalised, and then merged as if it were not."""
    return factored(torch.exp, torch.exp)(m, total, o / total[:, :, None])


def one(below: Tensor) -> Tensor:
    return torch.ones_like(below)


def steeper(below: Tensor) -> Tensor:
    """exp of a distance in base 2."""
    return torch.exp(below * LOG2_E)


def flatter(below: Tensor) -> Tensor:
    """exp2 of a distance between plain scores."""
    return torch.exp2(below)


def twice_at_a_seam(s: Tensor, v: Tensor, part: int) -> Tensor:
    """The first key of every part but the first counts twice."""
    place = torch.arange(s.shape[1], device=s.device)
    return softmaxed(s + math.log(2) * ((place % part == 0) & (place > 0)), v, part)


FACTOR = "Each part was summed below its own maximum: it counts exp(its m - the largest m) times."
PARTS = {
    f"The parts are added up as they are. {FACTOR}": merging(factored(one, one)),
    f"The parts' o have their factors, and their l have none. {FACTOR}": merging(factored(one, torch.exp)),
    f"The parts' l have their factors, and their o have none. {FACTOR}": merging(factored(torch.exp, one)),
    "The parts' maxima are in base 2, and the factor is exp where exp2 belongs.": merging(
        factored(steeper, steeper)
    ),
    "The parts' maxima are those of plain scores, and the factor is exp2: put log2(e) into the scale, and "
    "take exp2 in the splits as well.": merging(factored(flatter, flatter)),
    "A part's o is divided by its l in the split, and again in the merge: once is enough, at the end.": (
        merging(divided_twice)
    ),
    "What a split has added up to o is not rescaled when a block brings a larger maximum.": not_rescaled,
    "The first key of a part counts in the part before it as well: a part ends where the next one begins.": (
        twice_at_a_seam
    ),
}


def splits_of(q: Tensor, k: Tensor, most: int) -> int:
    """How many splits an extra's skeleton has, of `most` at most."""
    wanted = min(-(-1024 // max(len(q) * k.shape[2], 1)), most)
    return max(min(wanted, -(-k.shape[1] // block_of(q.shape[2]))), 1)


def shared_out(q: Tensor, k: Tensor, keys: int, most: int) -> int:
    """Keys of a split where so many are shared out in whole blocks."""
    block = block_of(q.shape[2])
    blocks = -(-keys // block)
    return max(-(-blocks // splits_of(q, k, most)) * block, 1)


def falling_short(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, scale: float, most: int) -> Tensor:
    """Shares of whole blocks, rounded down."""
    block, splits = block_of(q.shape[2]), splits_of(q, k, most)
    share = (lengths // block // splits).clamp(min=1) * block
    return Rules()(q, k, v, torch.minimum(lengths, share * splits), scale)


def of_splits(most: int) -> dict[str, Any]:
    """What goes wrong between the splits of an extra's skeleton, of which a sequence has so many at most.

    A sequence's own keys may be shared out among them, or all that there is room for.
    """
    shares = {
        "": lambda q, k, length: shared_out(q, k, length, most),
        " (Splits share out the room for keys.)": lambda q, k, length: shared_out(q, k, k.shape[1], most),
    }
    between: dict[str, Any] = {
        sentence + more: Rules(weighed=weighed, part=part)
        for more, part in shares.items()
        for sentence, weighed in PARTS.items()
    }
    return between | {
        "The splits do not reach a sequence's end: their shares are rounded down, and its last keys are left "
        "out.": partial(falling_short, most=most),
    }
