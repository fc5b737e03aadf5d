"""What a learner may have computed on day 34 in the place of dq, dk and dv."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from grader.challenge.formulas.attention import LOG2_E, Tensors, by_head
from grader.challenge.formulas.attention_backward import Backward, delta_along_keys, delta_of, same
from grader.challenge.formulas.block_bounds import BLOCKS, last_block, whole_blocks
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.stride_suspects import first_heads

right = Backward()
backward = by_head(right)
limited = partial(by_head, right)  # with another causal limit than Sk - Sq


def changed(**changes: Any) -> Callable[..., Tensors]:
    """The backward pass with parts of it changed."""
    return by_head(Backward(**changes))


def always_causal(*arguments) -> Tensors:
    return backward(*arguments[:-1], True)


def first_head(q, k, v, o, lse, do, scale, causal) -> Tensors:
    return backward(q, first_heads(k), first_heads(v), o, lse, do, scale, causal)


def without_keys(*outputs: str) -> Callable[..., Tensors]:
    """NaN in these outputs if some query sees no key: in its row of dq, in all of dk and dv."""

    def one(q, k, v, o, lse, do, scale, last):
        found = dict(zip(("dq", "dk", "dv"), right(q, k, v, o, lse, do, scale, last), strict=True))
        none = (lse == -math.inf)[:, None]
        for name in outputs:
            found[name] = found[name].masked_fill(none if name == "dq" else none.any(), math.nan)
        return tuple(found.values())

    return by_head(one)


def multiplied(n: int) -> Callable[..., Tensors]:
    """NaN in dq if a query sees no key and another of its block of n does: only such a block visits keys."""

    def one(q, k, v, o, lse, do, scale, last):
        dq, dk, dv = right(q, k, v, o, lse, do, scale, last)
        none = lse == -math.inf
        blocks = [block & ~block.all() for block in none.split(n)]
        return dq.masked_fill(torch.cat(blocks)[:, None], math.nan), dk, dv

    return by_head(one)


def far_below(q, k, v, o, lse, do, scale, last) -> Tensors:
    """NaN in dq where exp(0 - lse) is Inf in fp32, as of a key past the end whose score is 0."""
    dq, dk, dv = right(q, k, v, o, lse, do, scale, last)
    far = (lse < -math.log(torch.finfo(torch.float32).max)) & (lse > -math.inf)
    return dq.masked_fill(far[:, None], math.nan), dk, dv


def narrow(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """x in the 16 bits that `like` was drawn in."""
    return x.to(BRAIN if torch.equal(like, like.to(BRAIN).to(like.dtype)) else HALF).to(x.dtype)


def leaking(p: torch.Tensor, dp: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    return p * dp - delta[:, None]


def whole(axis: str, n: int) -> Callable[..., torch.Tensor]:
    """Entries in whole blocks of queries, i, or of keys, j."""

    def visited(i: torch.Tensor, j: torch.Tensor, last: int | None) -> torch.Tensor:
        x = {"i": i, "j": j}[axis]
        return x < whole_blocks(x.numel(), n)

    return visited


def only_last(axis: str, n: int) -> Callable[..., torch.Tensor]:
    """Entries in the last block of queries, i, or of keys, j."""

    def visited(i: torch.Tensor, j: torch.Tensor, last: int | None) -> torch.Tensor:
        x = {"i": i, "j": j}[axis]
        return x >= last_block(x.numel(), n)

    return visited


def after_the_block(n: int) -> Callable[..., torch.Tensor | bool]:
    """Queries from the number on with which the block of keys begins, whatever Sk - Sq is."""
    return lambda i, j, last: i >= j // n * n if last is not None else True


def behind_the_block(n: int) -> Callable[..., torch.Tensor | bool]:
    """Queries from the first that sees the whole block of keys on."""
    return lambda i, j, last: i >= (j // n + 1) * n - 1 - last if last is not None else True


def up_to_the_block(n: int) -> Callable[..., torch.Tensor | bool]:
    """Keys up to the last of the block of queries, whatever Sk - Sq is."""
    return lambda i, j, last: j < (i // n + 1) * n if last is not None else True


def triangle(n: int) -> dict[str, Callable[..., torch.Tensor | bool]]:
    """The bounds of causal loops where nothing is causal."""
    return {
        "over_queries": lambda i, j, last: i >= j // n * n if last is None else True,
        "over_keys": lambda i, j, last: j < (i // n + 1) * n if last is None else True,
    }


def square(n: int) -> dict[str, Callable[..., torch.Tensor | bool]]:
    """The same, and keys up to the block of queries where something is causal, too."""
    return triangle(n) | {"over_keys": lambda i, j, last: j < (i // n + 1) * n}


TWICE = "The scale is applied twice"
TAIL = "The last queries are left out of dk and dv: their loop visits whole blocks only."
TAIL_K = "The last keys are left out of dq: its loop visits whole blocks only."
KEPT = "Only the last block of queries counts in dk and dv: each turn of the loop must add to them."
KEPT_K = "Only the last block of keys counts in dq: each turn of the loop must add to it."
START = (
    "The loop for dk and dv starts at query start_n: key j is seen from query j + Sq - Sk on, which is not j."
)
END = "The loop for dq ends with key i for query i, which sees keys up to i + Sk - Sq."
DIAGONAL = "The blocks that the diagonal crosses are left out of dk and dv: the loop starts behind them."
MULTIPLIED = (
    "Rows that see no key give NaN in dq, in blocks where another row sees one: exp(s - lse) is Inf, and "
    "Inf · 0 is NaN."
)
SQUARE = (
    "The loops end or start at the diagonal although causal is False; and where it is True, query i sees "
    "keys up to i + Sk - Sq, not to i."
)
LOWER = "The loops end or start at the diagonal although causal is False: there, every query sees every key."
SUSPECTS = {
    "The scale is missing in p = exp(q kᵀ · scale - lse).": changed(p_scale=lambda scale: 1.0),
    "The scale is missing in dq: it is scale · ds k.": changed(dq_scale=lambda scale: 1.0),
    "The scale is missing in dk: it is scale · dsᵀ q.": changed(dk_scale=lambda scale: 1.0),
    "The scale is missing in dq and in dk: they are scale · ds k and scale · dsᵀ q.": changed(
        dq_scale=lambda scale: 1.0, dk_scale=lambda scale: 1.0
    ),
    f"{TWICE} in dq: to ds or at the end, not both.": changed(dq_scale=lambda scale: scale * scale),
    f"{TWICE} in dk: to ds, to q or at the end, but once.": changed(dk_scale=lambda scale: scale * scale),
    f"{TWICE} in dq and in dk: to ds or at the end, not both.": changed(
        dq_scale=lambda scale: scale * scale, dk_scale=lambda scale: scale * scale
    ),
    "The scale is applied to dv: dv is pᵀ do, and p has it inside.": changed(dv_scale=same),
    "log2(e) is in dk: what q was multiplied by for exp2 belongs to the scores alone.": changed(
        dk_scale=lambda scale: scale * LOG2_E
    ),
    "log2(e) is in dq: what k was multiplied by for exp2 belongs to the scores alone.": changed(
        dq_scale=lambda scale: scale * LOG2_E
    ),
    "log2(e) is in dq and in dk: it belongs to the scores inside of exp2 alone.": changed(
        dq_scale=lambda scale: scale * LOG2_E, dk_scale=lambda scale: scale * LOG2_E
    ),
    "exp2 is called where exp belongs: scores and lse are natural.": changed(
        p_scale=lambda scale: scale / LOG2_E, of_lse=lambda lse: lse / LOG2_E
    ),
    "log2(e) multiplies the scores and not lse: lse is natural, exp2 wants both in base 2.": changed(
        of_lse=lambda lse: lse / LOG2_E
    ),
    "log2(e) multiplies lse and not the scores: exp2 wants both in base 2.": changed(
        p_scale=lambda scale: scale / LOG2_E
    ),
    "delta is missing: ds is p ∘ (dp - delta).": changed(formula=lambda p, dp, delta: p * dp),
    "delta is added where it is subtracted.": changed(formula=lambda p, dp, delta: p * (dp + delta[:, None])),
    "delta is outside of the product: ds is p ∘ (dp - delta).": changed(formula=leaking),
    "The factor p is missing: ds is p ∘ (dp - delta).": changed(
        formula=lambda p, dp, delta: (dp - delta[:, None]).masked_fill(p == 0, 0.0)
    ),
    "delta lies along the keys: it is one number a query.": changed(formula=delta_along_keys),
    "delta is Σ o ∘ o: it is Σ do ∘ o.": changed(delta=lambda o, do: delta_of(o, o)),
    "delta is Σ do ∘ do: it is Σ do ∘ o.": changed(delta=lambda o, do: delta_of(do, do)),
    "delta is a mean: it is the sum over D.": changed(delta=lambda o, do: (o * do).mean(dim=-1)),
    "Scores are rounded to 16 bits, too low a precision: keep them in fp32, as tl.dot gives them.": changed(
        products=lambda q, k: narrow(q @ k.mT, q)
    ),
    "dp is do kᵀ where do vᵀ belongs.": changed(dp_from="k"),
    "dv is dsᵀ do where pᵀ do belongs.": changed(dv_from="ds"),
    "dq and dk have another sign.": changed(dq_scale=lambda scale: -scale, dk_scale=lambda scale: -scale),
    "The causal mask is aligned at the top left: query i sees keys up to i + Sk - Sq.": limited(lambda _: 0),
    "The causal mask hides the diagonal: query i sees key i + Sk - Sq too.": limited(lambda last: last - 1),
    "The causal mask lets one key too many through: key i + Sk - Sq is the last.": limited(
        lambda last: last + 1
    ),
    "Sk and Sq are the wrong way round: query i sees keys up to i + Sk - Sq.": limited(lambda last: -last),
    "causal=True masks nothing: every query sees every key.": limited(lambda _: None),
    "Keys are masked though causal is False.": always_causal,
    "Every head reads the keys and values of head 0.": first_head,
    "Rows that see no key give NaN: (-inf) - (-inf), or Inf · 0. What they add is 0.": without_keys(
        "dq", "dk", "dv"
    ),
    "Rows that see no key give NaN in dq: (-inf) - (-inf), or Inf · 0. It is 0 there.": without_keys("dq"),
    "Rows that see no key give NaN in dk and dv: (-inf) - (-inf), or Inf · 0. What they add is 0.": (
        without_keys("dk", "dv")
    ),
    **{f"{MULTIPLIED} (Blocks of {n}.)": multiplied(n) for n in BLOCKS},
    "Keys past the end count in dq: their score is 0, exp(0 - lse) may be Inf, and Inf · 0 is NaN.": by_head(
        far_below
    ),
    **{f"{KEPT} (Blocks of {n}.)": changed(over_queries=only_last("i", n)) for n in BLOCKS},
    **{f"{KEPT_K} (Blocks of {n}.)": changed(over_keys=only_last("j", n)) for n in BLOCKS},
    **{f"{TAIL} (Blocks of {n}.)": changed(over_queries=whole("i", n)) for n in BLOCKS},
    **{f"{TAIL_K} (Blocks of {n}.)": changed(over_keys=whole("j", n)) for n in BLOCKS},
    **{f"{START} (Blocks of {n}.)": changed(over_queries=after_the_block(n)) for n in BLOCKS},
    **{f"{END} (Blocks of {n}.)": changed(over_keys=up_to_the_block(n)) for n in BLOCKS},
    **{f"{DIAGONAL} (Blocks of {n}.)": changed(over_queries=behind_the_block(n)) for n in BLOCKS},
    **{f"{SQUARE} (Blocks of {n}.)": changed(**square(n)) for n in BLOCKS},
    **{f"{LOWER} (Blocks of {n}.)": changed(**triangle(n)) for n in BLOCKS},
}
