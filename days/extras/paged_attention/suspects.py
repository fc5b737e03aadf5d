"""What a learner may have computed in the place of a decoding step over a cache in pages."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.challenge.formulas.decoding import Rules
from grader.challenge.formulas.decoding_suspects import GROUPED
from grader.challenge.formulas.decoding_suspects import SUSPECTS as OF_ANY
from grader.challenge.formulas.split_kv_suspects import block_of, of_splits

Step = Callable[[Tensor, Tensor, Tensor, Tensor, float], Tensor]
Found = Callable[[Tensor, Tensor], Tensor]


def places(tables: Tensor, cache: Tensor) -> Tensor:
    """Where key j of each sequence lies, [b, max_pages · page_size], in keys from the cache's first one on.

    Entries that are unused lead to page 0, which no right answer reads for them.
    """
    first = tables.long().clamp(min=0) * cache.shape[1]
    return (first[:, :, None] + torch.arange(cache.shape[1], device=tables.device)).flatten(1)


def gathered(step: Step, found: Found = places):
    """A decoding step on the keys that are found so, as if they lay side by side."""

    def paged(
        q: Tensor, key_cache: Tensor, value_cache: Tensor, tables: Tensor, lengths: Tensor, scale: float
    ) -> Tensor:
        keys, values = (cache.flatten(0, 1) for cache in (key_cache, value_cache))
        at = found(tables, key_cache).clamp(max=max(len(keys) - 1, 0))
        k, v = keys[at], values[at]
        return step(q, k, v, lengths, scale)

    return paged


paged_attention = gathered(Rules())


def in_order(tables: Tensor, cache: Tensor) -> Tensor:
    numbers = torch.arange(tables.shape[1], device=tables.device, dtype=tables.dtype)
    return places(numbers.expand(tables.shape), cache)


def one_behind_the_other(tables: Tensor, cache: Tensor) -> Tensor:
    """The pages of all sequences in order, each sequence with its share."""
    numbers = torch.arange(tables.numel(), device=tables.device, dtype=tables.dtype)
    return places(numbers.view(tables.shape), cache)


def first_places(tables: Tensor, cache: Tensor) -> Tensor:
    return places(tables, cache) // cache.shape[1] * cache.shape[1]


def slots(tables: Tensor, cache: Tensor) -> Tensor:
    """Key j at the table's entry, plus its place."""
    entries = tables.long().clamp(min=0).repeat_interleave(cache.shape[1], dim=1)
    return places(tables, cache) - entries * (cache.shape[1] - 1)


def one_page_a_block(tables: Tensor, cache: Tensor) -> Tensor:
    """The page of a block's first key, and the others behind it, as if pages followed one another."""
    block, every = (
        block_of(cache.shape[3]),
        torch.arange(tables.shape[1] * cache.shape[1], device=tables.device),
    )
    return places(tables, cache)[:, every // block * block] + every % block


def one_key_a_page(tables: Tensor, cache: Tensor) -> Tensor:
    """Key j at the table's entry j, as if a page were one key."""
    number = torch.arange(tables.shape[1] * cache.shape[1], device=tables.device)
    return tables.long().clamp(min=0)[:, number % max(tables.shape[1], 1)]


def heads_side_by_side(
    q: Tensor, key_cache: Tensor, value_cache: Tensor, tables: Tensor, lengths: Tensor, scale: float
) -> Tensor:
    """Someone for whom a head's next key lies d elements behind."""
    heads = torch.arange(key_cache.shape[2], device=q.device)
    at = places(tables, key_cache)[:, :, None] + heads
    k, v = (cache.flatten(0, 2)[at] for cache in (key_cache, value_cache))
    return Rules()(q, k, v, lengths, scale)


def whole_pages(
    q: Tensor, key_cache: Tensor, value_cache: Tensor, tables: Tensor, lengths: Tensor, scale: float
) -> Tensor:
    """Someone who sees each page to its end."""
    page_size = key_cache.shape[1]
    lengths = (lengths + page_size - 1) // page_size * page_size
    return paged_attention(q, key_cache, value_cache, tables, lengths, scale)


SUSPECTS = {
    "A sequence's last page is seen whole: behind lengths[i] keys it holds what it held before.": whole_pages,
    "The table is not asked: a sequence's page i is taken for page i of the cache.": gathered(
        Rules(), in_order
    ),
    "The table is not asked: sequences are taken to lie one behind the other.": gathered(
        Rules(), one_behind_the_other
    ),
    "Every sequence reads the table of the first one: that of sequence i is row i.": gathered(
        Rules(), lambda tables, cache: places(tables[:1].expand(tables.shape), cache)
    ),
    "All keys are looked for in a sequence's first page: key j is in its page j // page_size.": gathered(
        Rules(), lambda tables, cache: places(tables[:, :1].expand(tables.shape), cache)
    ),
    "Each page is read one entry too late: key j is in page j // page_size of its sequence, from 0 on.": (
        gathered(Rules(), lambda tables, cache: places(tables.roll(-1, dims=1), cache))
    ),
    "All keys of a page are its first one: key j has place j % page_size in its page.": gathered(
        Rules(), first_places
    ),
    "A page's number is taken for a key's: page p begins p · page_size keys into the cache.": gathered(
        Rules(), slots
    ),
    "The table is asked once for a block of keys: a block has keys of several pages, which lie anywhere.": (
        gathered(Rules(), one_page_a_block)
    ),
    "An entry of the table is taken for a key, not for a page of page_size keys.": gathered(
        Rules(), one_key_a_page
    ),
    "A head's keys are taken to be d elements apart: they are h_k · d apart.": heads_side_by_side,
    **{sentence: gathered(step) for sentence, step in (GROUPED | OF_ANY | of_splits(16)).items()},
}
