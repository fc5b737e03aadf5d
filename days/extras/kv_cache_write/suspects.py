"""Keys and values put into a cache by their slots, and what a learner may have put where instead."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Caches = tuple[Tensor, Tensor]
Written = Callable[..., Caches]


def put(x: Tensor, cache: Tensor, at: Tensor, kept: Tensor) -> Tensor:
    """The cache with x[t] in slot at[t], for each token that is kept; `at` may lead out of the cache."""
    slots = cache.flatten(0, 1)
    kept = kept & (at >= 0) & (at < len(slots))
    return slots.index_copy(0, at[kept], x[kept]).view_as(cache)


def written(
    key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slots: Tensor
) -> tuple[Tensor, Tensor]:
    """What both caches hold afterwards."""
    return put(key, key_cache, slots, slots >= 0), put(value, value_cache, slots, slots >= 0)


def to(
    at: Callable[[Tensor, Tensor], Tensor], kept: Callable[[Tensor], Tensor] = lambda s: s >= 0
) -> Written:
    """Someone who puts tokens elsewhere, from slots and a cache, or keeps other tokens."""

    def wrong(key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slots: Tensor) -> Caches:
        place = at(slots, key_cache)
        return put(key, key_cache, place, kept(slots)), put(value, value_cache, place, kept(slots))

    return wrong


def of(what: Callable[[Tensor, Tensor], Caches]) -> Written:
    """Someone who puts something else than key and value into the right slots."""
    return lambda key, value, key_cache, value_cache, slots: written(
        *what(key, value), key_cache, value_cache, slots
    )


def heads_first(
    key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slots: Tensor
) -> tuple[Tensor, Tensor]:
    """Someone who takes a page for [h, page_size, d]."""
    pages, page_size, n_heads, width = key_cache.shape
    turned = (x.view(pages, n_heads, page_size, width).transpose(1, 2) for x in (key_cache, value_cache))
    return tuple(x.transpose(1, 2).reshape(key_cache.shape) for x in written(key, value, *turned, slots))


def summed(
    key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slots: Tensor
) -> tuple[Tensor, Tensor]:
    """Someone who adds to what stood there."""
    there = slots.clamp(min=0)
    old = (cache.flatten(0, 1)[there] for cache in (key_cache, value_cache))
    return written(key + next(old), value + next(old), key_cache, value_cache, slots)


def cleared(
    key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slots: Tensor
) -> tuple[Tensor, Tensor]:
    """Someone who begins with empty caches."""
    return written(key, value, torch.zeros_like(key_cache), torch.zeros_like(value_cache), slots)


def in_order(slots: Tensor, cache: Tensor) -> Tensor:
    return torch.arange(len(slots), device=slots.device)


def queued(slots: Tensor, cache: Tensor) -> Tensor:
    """The slots that there are, from the first token on."""
    used = slots[slots >= 0]
    return torch.cat([used, used.new_full((len(slots) - len(used),), -1)])


def first_heads(x: Tensor) -> Tensor:
    return x[:, :1].expand(x.shape)


def first_tokens(x: Tensor) -> Tensor:
    return x[:1].expand(x.shape)


SUSPECTS: dict[str, Written] = {
    "Token t is put into slot t: slots[t] names its slot.": to(in_order),
    "A slot of -1 is taken for the last slot: it says that the token has none.": to(
        lambda slots, cache: slots % len(cache.flatten(0, 1)), lambda slots: slots == slots
    ),
    "A slot of -1 is taken for slot 0: it says that the token has none.": to(
        lambda slots, cache: slots.clamp(min=0), lambda slots: slots == slots
    ),
    "Slot 0 is taken for none: only a slot of -1 is none.": to(
        lambda slots, cache: slots, lambda slots: slots > 0
    ),
    "After a token without a slot the others take the wrong one: token t has slots[t], whatever stands "
    "before it.": to(queued, lambda slots: slots == slots),
    "Pages and places are swapped: the page is slot // page_size, the place in it slot % page_size.": to(
        lambda slots, cache: slots % cache.shape[1] * cache.shape[1] + slots // cache.shape[1]
    ),
    "Pages and places are swapped: the page is slot // page_size, not slot % pages.": to(
        lambda slots, cache: slots % len(cache) * cache.shape[1] + slots // len(cache)
    ),
    "The slot is taken for a page: a page has page_size slots.": to(
        lambda slots, cache: slots * cache.shape[1]
    ),
    "All tokens of a page are put into its first slot: the place in it is slot % page_size.": to(
        lambda slots, cache: slots // cache.shape[1] * cache.shape[1]
    ),
    "All tokens are put into page 0: the page is slot // page_size.": to(
        lambda slots, cache: slots % cache.shape[1]
    ),
    "A page is taken for [h, page_size, d]: it is [page_size, h, d], a token's heads side by side.": (
        heads_first
    ),
    "The keys are in both caches.": of(lambda key, value: (key, key)),
    "The values are in both caches.": of(lambda key, value: (value, value)),
    "Keys are in value_cache, and values in key_cache.": of(lambda key, value: (value, key)),
    "Every head is head 0 of its token.": of(lambda key, value: (first_heads(key), first_heads(value))),
    "Every token is the first one.": of(lambda key, value: (first_tokens(key), first_tokens(value))),
    "The rest of the caches is 0: what is in other slots stays.": cleared,
    "Key and value are added to what stood in their slots: they take its place.": summed,
}
