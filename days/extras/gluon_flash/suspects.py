"""What a learner may have computed in the place of attention: day 32's wrong functions, and this walk's."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from grader.challenge.formulas.attention import by_head, diagonal, forward, scores, weigh
from grader.challenge.formulas.attention_suspects import ACC, BOTH, SUM
from grader.challenge.formulas.attention_suspects import SUSPECTS as OF_DAY_32

BLOCK = 128  # of keys; of the queries of a program, too
Wrong = Callable[[Tensor, Tensor, Tensor, bool], Tensor]


def of_o(both: Callable[..., tuple[Tensor, ...]]) -> Wrong:
    """The first output of a function of q, k, v, scale and causal, where the scale is 1 / √D."""
    return lambda q, k, v, causal: both(q, k, v, q.shape[-1] ** -0.5, causal)[0]


attention = of_o(by_head(forward))


def padded(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """Attention in which what fills up the last block of keys counts, as scores of 0."""
    more = -k.shape[2] % BLOCK
    k, v = (torch.nn.functional.pad(x, (0, 0, 0, more)) for x in (k, v))
    s = scores(q, k, q.shape[-1] ** -0.5, 0 if causal else None)
    return weigh(s, v)[0].to(q.dtype)


def unmasked_diagonal(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """Where causal, each query sees the keys of its program's last block whole, up to the last there is."""
    s = scores(q, k, q.shape[-1] ** -0.5, None)
    query, key = (torch.arange(x.shape[2], device=x.device) for x in (q, k))
    late = key >= (query[:, None] // BLOCK + 1) * BLOCK
    return weigh(s.masked_fill(late, -math.inf) if causal else s, v)[0].to(q.dtype)


def other_half(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """Both warp groups take the first 64 queries of a program; each masks for its own."""
    rows = torch.arange(q.shape[2], device=q.device)
    s = scores(q[:, :, rows - rows % BLOCK // 64 * 64], k, q.shape[-1] ** -0.5, diagonal(q, k, causal))
    return weigh(s, v)[0].to(q.dtype)


def mask_of_last(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    """The first block of keys has the mask of the last one, and no other has any."""
    length, more = k.shape[2], -k.shape[2] % BLOCK
    k, v = (torch.nn.functional.pad(x, (0, 0, 0, more)) for x in (k, v))
    query, key = (torch.arange(x.shape[2], device=x.device) for x in (q, k))
    query = query[:, None]
    last = query // BLOCK if causal else (length - 1) // BLOCK + query * 0
    there = last * BLOCK + key % BLOCK
    seen = (there < length) & ((there <= query) | (not causal))
    seen = torch.where(key < BLOCK, seen, key // BLOCK <= last)
    s = scores(q, k, q.shape[-1] ** -0.5, None)
    return weigh(s.masked_fill(~seen, -math.inf), v)[0].to(q.dtype)


def from_the_last(keep_acc: bool = False, keep_l: bool = False) -> Wrong:
    """Blocks of keys from the last to the first, where the sums so far are not rescaled."""

    def wrong(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        s = scores(q, k, q.shape[-1] ** -0.5, diagonal(q, k, causal))
        m = torch.full_like(s[..., :1], torch.finfo(torch.float32).min)
        total, acc = torch.zeros_like(m), torch.zeros_like(q)
        for start in reversed(range(0, k.shape[2], BLOCK)):
            block = s[..., start : start + BLOCK]
            m_new = torch.maximum(m, block.amax(dim=-1, keepdim=True))
            p, alpha = torch.exp(block - m_new), torch.exp(m - m_new)
            total = total * (1.0 if keep_l else alpha) + p.sum(dim=-1, keepdim=True)
            acc = acc * (1.0 if keep_acc else alpha) + p @ v[:, :, start : start + BLOCK]
            m = m_new
        return acc / total

    return wrong


# What speaks of lse, or of a scale that is passed, speaks of another function.
ELSEWHERE = ("lse", "passed", "sign of the scale", "Sq")
WALK = f"Blocks of {BLOCK} keys, from the last to the first."
SUSPECTS: dict[str, Wrong] = {
    **{said: of_o(wrong) for said, wrong in OF_DAY_32.items() if not any(word in said for word in ELSEWHERE)},
    f"{ACC}({WALK})": from_the_last(keep_acc=True),
    f"{SUM}({WALK})": from_the_last(keep_l=True),
    f"{BOTH}({WALK})": from_the_last(keep_acc=True, keep_l=True),
    "The causal mask hides the diagonal: query i sees key i too.": of_o(
        by_head(forward, lambda last: last - 1)
    ),
    "The causal mask lets one key too many through: query i sees the keys up to i.": of_o(
        by_head(forward, lambda last: last + 1)
    ),
    "What fills up the last block of keys counts: past the last key TMA gives 0, and exp(0) is no 0.": padded,
    "Where causal, the block of keys on the diagonal is not masked.": unmasked_diagonal,
    "The mask of the last block of keys is put on the first, and the last has none.": mask_of_last,
    "Both warp groups take the first 64 queries of a program.": other_half,
}
