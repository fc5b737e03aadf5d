"""Day 33: two steps of attention's backward pass: delta, and the gradient of the scores."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from grader.challenge import Case, Challenge

HALF, BRAIN = torch.float16, torch.bfloat16
LOG2_E = math.log2(math.e)


def at(Sq: int, Sk: int, D: int, causal: bool = False, B: int = 1, H: int = 2, **more) -> Case:
    """B × H heads of Sq queries and Sk keys."""
    return Case(B=B, H=H, Sq=Sq, Sk=Sk, D=D, causal=causal, **more)


def rows(case: Case, draw, length: int, which: str) -> torch.Tensor:
    """q, k, v, o or do: [B, H, length, D]. `v_order`, `do_layout` and the like say how one of them differs.

    An order says how the tensor lies in memory: bshd for [B, length, H, D].
    """
    more = case
    order = more.get(f"{which}_order", more.get("order", "bhsd"))
    sizes = {"b": case.B, "h": case.H, "s": length, "d": case.D}
    drawn = {"layout": more.get(f"{which}_layout"), "values": more.get(f"{which}_values")}
    x = draw(*(sizes[axis] for axis in order), **drawn)
    return x.permute([order.index(axis) for axis in "bhsd"])


def delta_inputs(case: Case, draw) -> tuple:
    """o and do."""
    return tuple(rows(case, draw, case.S, which) for which in ("o", "do"))


def inputs(case: Case, draw) -> tuple:
    """q, k, v, do, lse, delta, scale and causal.

    lse and delta are those of a forward pass over these keys and values; with `more_keys`, over others too,
    as when keys are spread over several GPUs: then a row of one key has more than rounding errors to show.
    With `rise`, keys fall from first to last by that much each: with negative queries the scores rise.
    """
    more = case
    q, do = (rows(case, draw, case.Sq, which) for which in ("q", "do"))
    k, v = (rows(case, draw, case.Sk, which) for which in ("k", "v"))
    if "rise" in more:
        k -= case.rise * (torch.arange(case.Sk, device=k.device)[:, None] - case.Sk // 2)
    scale = more.get("scale", case.D**-0.5)
    last = case.Sk - case.Sq if case.causal else None
    s = scores(q.double(), k.double(), scale, last)
    lse = torch.logsumexp(s, dim=-1)
    d = (weights(s, lse) * (do.double() @ v.double().mT)).sum(dim=-1)
    if "more_keys" in more:
        lse, d = lse + 0.7, d * 0.6 + 0.1
    return q, k, v, do, kept(draw, lse), kept(draw, d), scale, case.causal


def kept(draw, values: torch.Tensor) -> torch.Tensor:
    """These values as a contiguous fp32 tensor among guard words, as all that is drawn."""
    return draw(*values.shape, dtype=torch.float32, layout="contiguous").copy_(values)


def scores(q: torch.Tensor, k: torch.Tensor, scale: float, last: int | None) -> torch.Tensor:
    """q kᵀ · scale, with -inf where the key's number is more than the query's plus `last`."""
    s = q @ k.mT * scale
    if last is None:
        return s
    return s.masked_fill(~torch.ones_like(s, dtype=torch.bool).tril(last), -math.inf)


def weights(s: torch.Tensor, lse: torch.Tensor) -> torch.Tensor:
    """exp(s - lse), and 0 in rows whose lse is -inf."""
    return torch.exp(s - torch.where(lse == -math.inf, 0.0, lse)[..., None])


def right(p: torch.Tensor, dp: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    return p * (dp - delta[..., None])


def gradient(
    formula: Callable[..., torch.Tensor] = right,
    scaled: Callable[[float], float] = lambda scale: scale,
    shift: Callable[[int], int | None] = lambda last: last,
    of_lse: Callable[[torch.Tensor], torch.Tensor] = lambda lse: lse,
    dp_from: str = "v",
) -> Callable[..., torch.Tensor]:
    """The gradient of the scores, with parts of it changed: `dscores` itself if none is."""

    def dscores(q, k, v, do, lse, delta, scale, causal):
        wide = torch.promote_types(q.dtype, torch.float32)
        q, k, v, do = (x.to(wide) for x in (q, k, v, do))
        last = shift(k.shape[2] - q.shape[2]) if causal else None
        p = weights(scores(q, k, scaled(scale), last), of_lse(lse))
        return formula(p, do @ (k if dp_from == "k" else v).mT, delta)

    return dscores


def times_scale(q, k, v, do, lse, delta, scale, causal) -> torch.Tensor:
    return gradient()(q, k, v, do, lse, delta, scale, causal) * scale


def softmax_of_these(q, k, v, do, lse, delta, scale, causal) -> torch.Tensor:
    """What comes out if the softmax is computed anew, and lse not looked at."""
    own = torch.logsumexp(scores(q, k, scale, k.shape[2] - q.shape[2] if causal else None), dim=-1)
    return gradient()(q, k, v, do, own, delta, scale, causal)


def leaking(q, k, v, do, lse, delta, scale, causal) -> torch.Tensor:
    """Hidden weights are 0, but what is subtracted is not multiplied by them."""
    return gradient(lambda p, dp, delta: p * dp - delta[..., None])(q, k, v, do, lse, delta, scale, causal)


def without_keys(q, k, v, do, lse, delta, scale, causal) -> torch.Tensor:
    ds = gradient()(q, k, v, do, lse, delta, scale, causal)
    return ds.masked_fill((lse == -math.inf)[..., None], math.nan)


def along_keys(p: torch.Tensor, dp: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    """delta as a row; where the shapes do not allow it, nothing a kernel could give."""
    return p * (dp - delta[..., None, :]) if p.shape[-1] == p.shape[-2] else p * math.nan


suspects = {
    "The scale is missing in p = exp(q kᵀ · scale - lse).": gradient(scaled=lambda scale: 1.0),
    "The scale is applied to ds: it belongs into p alone, the rest follows on day 34.": times_scale,
    "delta is missing: ds is p ∘ (dp - delta), and its rows sum to 0.": gradient(lambda p, dp, delta: p * dp),
    "delta is added where it is subtracted: the rows of ds must sum to 0.": gradient(
        lambda p, dp, delta: p * (dp + delta[..., None])
    ),
    "delta is outside of the product: ds is p ∘ (dp - delta), so what is hidden is 0.": leaking,
    "The factor p is missing: ds is p ∘ (dp - delta).": gradient(
        lambda p, dp, delta: (dp - delta[..., None]).masked_fill(p == 0, 0.0)
    ),
    "ds has another sign.": gradient(lambda p, dp, delta: -right(p, dp, delta)),
    "delta lies along the keys: it is one number a query, delta[:, None].": gradient(along_keys),
    "dp is do kᵀ where do vᵀ belongs.": gradient(dp_from="k"),
    "Hidden entries are not 0: causal=True masks nothing.": gradient(shift=lambda last: None),
    "The causal mask is aligned at the top left: query i sees keys up to i + Sk - Sq.": gradient(
        shift=lambda last: 0
    ),
    "The causal mask hides the diagonal: query i sees key i + Sk - Sq too.": gradient(
        shift=lambda last: last - 1
    ),
    "The causal mask lets one key too many through: key i + Sk - Sq is the last.": gradient(
        shift=lambda last: last + 1
    ),
    "exp2 is called where exp belongs: scores and lse are natural.": gradient(
        scaled=lambda scale: scale / LOG2_E, of_lse=lambda lse: lse / LOG2_E
    ),
    "log2(e) multiplies the scores and not lse: lse is natural, exp2 wants both in base 2.": gradient(
        of_lse=lambda lse: lse / LOG2_E
    ),
    "p is a softmax of these keys alone: it is exp(scores - lse), with the lse that was handed in.": (
        softmax_of_these
    ),
    "Rows that see no key give NaN: (-inf) - (-inf), or Inf · 0. All their entries are 0.": without_keys,
}

delta_suspects = {
    "delta is summed over the queries: it is one number for each of them, summed over D.": lambda o, do: (
        o * do
    ).sum(dim=-2),
    "delta is Σ o ∘ o: do has no part in it.": lambda o, do: (o * o).sum(dim=-1),
    "delta is Σ do ∘ do: o has no part in it.": lambda o, do: (do * do).sum(dim=-1),
    "delta has another sign.": lambda o, do: -(o * do).sum(dim=-1),
    "delta is (Σ o) · (Σ do): multiply first, then sum.": lambda o, do: o.sum(dim=-1) * do.sum(dim=-1),
    "delta is a mean: it is the sum over D.": lambda o, do: (o * do).mean(dim=-1),
}


def of_rows(S: int, D: int, B: int = 1, H: int = 2, **more) -> Case:
    """B × H heads of S queries."""
    return Case(B=B, H=H, S=S, D=D, **more)


def products(o: torch.Tensor, do: torch.Tensor) -> torch.Tensor:
    wide = torch.promote_types(o.dtype, torch.float32)
    return (o.to(wide) * do.to(wide)).sum(dim=-1)


challenge = (
    Challenge(
        entry="delta",
        inputs=delta_inputs,
        reference=products,
        suspects=delta_suspects,
        cases=[
            of_rows(1, 16),
            of_rows(0, 16),
            of_rows(3, 32),
            of_rows(32, 32),
            of_rows(63, 64),
            of_rows(64, 64),
            of_rows(65, 80),
            of_rows(17, 96, B=2, H=3),
            of_rows(130, 128),
            of_rows(50, 64, dtype=HALF),
            of_rows(50, 80, dtype=BRAIN),
            of_rows(40, 32, order="bshd", B=2),
            of_rows(40, 32, o_order="bshd", B=2, dtype=HALF),
            of_rows(40, 80, layout="sliced"),
            of_rows(40, 64, layout="offset", dtype=HALF),
            of_rows(40, 32, B=2, layout="expanded", o_layout="contiguous"),
            of_rows(40, 64, values="integers", exact=True, dtype=HALF),
            of_rows(40, 128, values="integers", exact=True),
            of_rows(40, 64, values="large", dtype=HALF),
            of_rows(40, 64, values="heavy"),
            of_rows(40, 64, values="nan", do_values="normal"),
            of_rows(40, 64, calls=2),
        ],
    ),
    Challenge(
        entry="dscores",
        inputs=inputs,
        reference=gradient(),
        suspects=suspects,
        cases=[
            at(16, 16, 16),
            at(1, 1, 16, more_keys=True),
            at(0, 5, 16),
            at(5, 3, 16),
            at(31, 33, 32),
            at(64, 64, 64),
            at(33, 129, 80, H=1),
            at(130, 20, 96, H=1),
            at(40, 130, 128, H=1),
            at(1, 1, 16, True, more_keys=True),
            at(16, 16, 32, True, more_keys=True),
            at(65, 65, 32, True, more_keys=True),
            at(1, 77, 64, True),
            at(30, 100, 80, True, H=1),
            at(70, 20, 32, True, more_keys=True),
            at(140, 200, 16, True, H=1),
            at(20, 50, 32, B=2, H=3),
            at(50, 64, 64, True, B=2, dtype=HALF),
            at(70, 150, 128, dtype=HALF, H=1),
            at(90, 40, 80, True, more_keys=True, dtype=BRAIN, H=1),
            at(20, 60, 32, scale=1.0, more_keys=True),
            at(20, 60, 32, True, scale=-0.4),
            at(30, 50, 32, more_keys=True),
            at(30, 50, 64, True, more_keys=True, dtype=HALF),
            at(20, 40, 32, order="bshd", B=2),
            at(30, 50, 32, k_order="bshd", v_order="sbhd"),
            at(30, 50, 32, True, do_order="bshd", dtype=HALF),
            at(40, 70, 80, True, layout="sliced"),
            at(40, 70, 64, layout="offset", dtype=HALF),
            at(30, 40, 32, B=2, layout="expanded", q_layout="contiguous"),
            at(30, 40, 32, B=2, do_layout="expanded"),
            at(60, 60, 16, True, values="rising", q_values="negative", rise=0.25, more_keys=True),
            at(30, 50, 32, values="heavy", scale=0.02, more_keys=True, dtype=HALF),
            at(30, 50, 32, values="large", scale=1e-8, more_keys=True, dtype=HALF),
            at(30, 50, 32, values="spike", v_values="normal", do_values="normal", scale=0.01, dtype=HALF),
            at(30, 50, 32, values="constant", v_values="normal"),
            at(20, 50, 32, do_values="nan", values="negative", more_keys=True),
            at(50, 60, 32, True, calls=2),
        ],
    ),
)
