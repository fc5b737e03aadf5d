"""The routing by torch, and what a learner may have computed in its place."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import pad

Routes = tuple[Tensor, Tensor, Tensor, Tensor]


def ranked(x: Tensor, k: int) -> Tensor:
    """The experts of the k largest in each row, int64 [t, k]; of equal ones the lower."""
    return x.sort(dim=1, descending=True, stable=True).indices[:, :k]


def shares(logits: Tensor, x: Tensor) -> Tensor:
    """The softmax of the chosen logits alone."""
    return torch.softmax(logits, dim=1)


def entries(experts: Tensor, x: Tensor) -> Tensor:
    """A stable sort: of each entry in its order the place in experts.flatten()."""
    return experts.flatten().argsort(stable=True)


def counted(experts: Tensor, x: Tensor) -> Tensor:
    """How many entries each expert has."""
    return torch.bincount(experts.flatten(), minlength=x.shape[1])[: x.shape[1]]


def routed(
    router: Tensor,
    k: int,
    *,
    see: Callable[[Tensor], Tensor] = lambda x: x,
    choose: Callable[[Tensor, int], Tensor] = ranked,
    weigh: Callable[[Tensor, Tensor], Tensor] = shares,
    sort: Callable[[Tensor, Tensor], Tensor] = entries,
    count: Callable[[Tensor, Tensor], Tensor] = counted,
) -> Routes:
    """weights, experts, order and counts.

    Args:
        see: what is taken for the logits.
        choose: the experts of each row of them.
        weigh: what becomes of the chosen ones, and of all.
        sort: the order of the chosen experts.
        count: how many entries each has.
    """
    x = see(router.to(torch.promote_types(router.dtype, torch.float32)))
    experts = choose(x, k)
    weights = weigh(x.gather(1, experts), x)
    return weights, experts.int(), sort(experts, router).int(), count(experts, router).int()


def other(**how: Callable) -> Callable[[Tensor, int], Routes]:
    """Someone of whose steps these are different."""
    return lambda router, k: routed(router, k, **how)


def last_of_equals(x: Tensor, k: int) -> Tensor:
    return x.shape[1] - 1 - ranked(x.flip(1), k)


def padded(value: float) -> Callable[[Tensor], Tensor]:
    """Blocks are a power of two, and hold this past the last expert."""
    return lambda x: pad(x, (0, (1 << (x.shape[1] - 1).bit_length()) - x.shape[1]), value=value)


def again(router: Tensor, k: int) -> Routes:
    """Whoever was chosen has a logit of 0 from then on."""
    left, tops, chosen = router.clone(), [], []
    for _ in range(k):
        top, expert = left.max(dim=1, keepdim=True)
        left.scatter_(1, expert, 0.0)
        tops.append(top)
        chosen.append(expert)
    of_chosen = shares(torch.cat(tops, dim=1), router)
    return routed(router, k, choose=lambda x, k: torch.cat(chosen, dim=1), weigh=lambda logits, x: of_chosen)


def over_all(logits: Tensor, x: Tensor) -> Tensor:
    return (logits - x.logsumexp(dim=1, keepdim=True)).exp()


def undivided(logits: Tensor, x: Tensor) -> Tensor:
    return (logits - logits.amax(dim=1, keepdim=True)).exp()


def places(experts: Tensor, x: Tensor) -> Tensor:
    """Of each entry its place in the order: the order turned round."""
    return entries(experts, x).argsort()


def by_slot(experts: Tensor, x: Tensor) -> Tensor:
    """Of each expert all first choices, then all second ones."""
    count, k = experts.shape
    numbers = torch.arange(experts.numel(), device=x.device).view(count, k)
    return numbers.T.flatten()[experts.T.flatten().argsort(stable=True)]


def last_first(experts: Tensor, x: Tensor) -> Tensor:
    return experts.numel() - 1 - experts.flatten().flip(0).argsort(stable=True)


def ends(experts: Tensor, x: Tensor) -> Tensor:
    return counted(experts, x).cumsum(0)


def starts(experts: Tensor, x: Tensor) -> Tensor:
    return ends(experts, x) - counted(experts, x)


SUSPECTS = {
    "A token's weights are shares of all experts: those of its k chosen ones sum to 1.": other(
        weigh=over_all
    ),
    "The weights are not divided by their sum: those of a token sum to 1.": other(weigh=undivided),
    "The weights are the logits as they are: their softmax over the k chosen is wanted.": other(
        weigh=lambda logits, x: logits
    ),
    "Of equal logits the later expert is taken: the lower one comes first.": other(choose=last_of_equals),
    "A token's experts go from the smallest chosen logit to the largest: the largest comes first.": other(
        choose=lambda x, k: ranked(x, k).flip(1)
    ),
    "A token's experts are sorted by their numbers: the one of the largest logit comes first.": other(
        choose=lambda x, k: ranked(x, k).sort(dim=1).values
    ),
    "The smallest logits are chosen: the k largest are wanted.": other(choose=lambda x, k: ranked(-x, k)),
    "The largest |logits| are chosen: a negative logit is a small one.": other(see=torch.abs),
    "All k choices of a token are the same expert: whoever is chosen must not be looked at again.": other(
        choose=lambda x, k: ranked(x, 1).expand(-1, k)
    ),
    "A chosen logit becomes 0, and wins again over negative ones: make it -inf.": again,
    "Lanes past the last expert count as logits of 0, and win over negative ones: they must be -inf.": other(
        see=padded(0.0)
    ),
    "Lanes past the last expert hold a finite number, and win over lower logits: they must be -inf.": other(
        see=padded(-1e9)
    ),
    "Probabilities are compared, and many of them are 0: compare the logits, which differ.": other(
        choose=lambda x, k: ranked(torch.softmax(x, dim=1), k)
    ),
    "-0.0 is taken to be less than 0.0: they are equal.": other(
        choose=lambda x, k: ranked(torch.where((x == 0) & x.signbit(), -1e-300, x), k)
    ),
    "order holds tokens: it holds entries, token * k + slot.": other(
        sort=lambda experts, x: entries(experts, x) // experts.shape[1]
    ),
    "order holds slots: it holds entries, token * k + slot.": other(
        sort=lambda experts, x: entries(experts, x) % experts.shape[1]
    ),
    "order says where each entry goes: which entry comes there is wanted.": other(sort=places),
    "In order each expert has all first choices before any second one: its entries come token by token.": (
        other(sort=by_slot)
    ),
    "In order each expert's entries come last one first: they stay in the order of the tokens.": other(
        sort=last_first
    ),
    "order is not sorted: these are all entries as they come.": other(
        sort=lambda experts, x: torch.arange(experts.numel(), device=x.device)
    ),
    "counts is 0: nobody is seen to be chosen.": other(count=lambda experts, x: x.new_zeros(x.shape[1])),
    "counts are added up along the experts: each one's own number is wanted.": other(count=ends),
    "counts says where each expert's entries begin: how many there are is wanted.": other(count=starts),
    "counts looks at first choices alone: all k of a token count.": other(
        count=lambda experts, x: counted(experts[:, :1], x)
    ),
    "counts has how many tokens come in place of how many entries each expert has.": other(
        count=lambda experts, x: x.new_full((x.shape[1],), len(x))
    ),
}
