"""What a learner may have computed in the place of a decoding step of grouped heads."""

from __future__ import annotations

from torch import Tensor

from grader.formulas.decoding import Rules
from grader.formulas.decoding_splits import of_splits
from grader.formulas.decoding_suspects import SUSPECTS as OF_ANY

right = Rules()


def one_query_a_group(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, scale: float) -> Tensor:
    """Someone who has the group's first query in all of its rows."""
    group = q.shape[1] // k.shape[2]
    return right(q, k, v, lengths, scale)[:, ::group].repeat_interleave(group, dim=1)


def spread_out(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, scale: float) -> Tensor:
    """Someone whose groups are the query heads j, j + h_k, j + 2 h_k, …, stored side by side."""
    order = q.unflatten(1, (-1, k.shape[2])).transpose(1, 2).flatten(1, 2)
    return right(order, k, v, lengths, scale)


SUSPECTS = {
    "Query head j reads key head j mod h_k: the heads of a group lie side by side, it is j // (h // h_k).": (
        Rules(reads=lambda h, group, h_k, i: h % h_k)
    ),
    "All heads of a group have the result of its first one: each row of the tile is a query of its own.": (
        one_query_a_group
    ),
    "A group's queries are taken h_k heads apart: they lie side by side.": spread_out,
    **OF_ANY,
    **of_splits(16),
}
