"""Day 34: the gradients of attention from two loops, at 0.4 of the speed of torch's flash attention."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch

from grader.challenge import Case, Challenge, Memory, Speed

HALF, BRAIN = torch.float16, torch.bfloat16
Tensors = tuple[torch.Tensor, ...]
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


def inputs(case: Case, draw) -> tuple:
    """q, k, v, o, lse, do, scale and causal.

    o and lse are those of a forward pass over these keys and values; with `more_keys`, over others too, as
    when keys are spread over several GPUs: then a row of one key has more than rounding errors to show.
    `lift` is added to every key, `rise` subtracted once for each key that comes before it: with negative
    queries, the one makes all scores fall, the other makes them rise along the keys.
    """
    more = case
    q, do, o = (rows(case, draw, case.Sq, which) for which in ("q", "do", "o"))
    k, v = (rows(case, draw, case.Sk, which) for which in ("k", "v"))
    if "lift" in more or "rise" in more:
        k += more.get("lift", 0.0) - more.get("rise", 0.0) * torch.arange(case.Sk, device=k.device)[:, None]
    scale = more.get("scale", case.D**-0.5)
    known = forward(q, k, v, scale, case.causal)
    lse = draw(case.B, case.H, case.Sq, dtype=torch.float32, layout="contiguous").copy_(known[1])
    if "more_keys" in more:
        lse += math.log(2)
        o.copy_((o + known[0]) / 2)
    else:
        o.copy_(known[0])
    return q, k, v, o, lse, do, scale, case.causal


def by_head(function: Callable[..., Tensors]) -> Callable[..., Tensors]:
    """`function(*tensors, scale, last)` of one head, for all of them: one at a time, since S × S is much."""

    def of_all(*arguments) -> Tensors:
        *tensors, scale, causal = arguments
        q, k = tensors[:2]
        last = k.shape[2] - q.shape[2] if causal else None
        each = [function(*x, scale, last) for x in zip(*(y.flatten(0, 1) for y in tensors), strict=True)]
        outputs = (torch.stack(heads) for heads in zip(*each, strict=True))
        return tuple(output.unflatten(0, q.shape[:2]) for output in outputs)

    return of_all


def hidden(s: torch.Tensor, last: int | None) -> torch.Tensor:
    """Scores with -inf where the key's number is more than the query's plus `last`."""
    if last is None:
        return s
    return s.masked_fill(~torch.ones_like(s, dtype=torch.bool).tril(last), -math.inf)


def weights(s: torch.Tensor, lse: torch.Tensor) -> torch.Tensor:
    """exp(s - lse), and 0 in rows whose lse is -inf."""
    return torch.exp(s - torch.where(lse == -math.inf, 0.0, lse)[:, None])


@by_head
def forward(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, last: int | None) -> Tensors:
    """o and lse in float64; in float32 where that would take long."""
    wide = torch.float64 if len(q) * len(k) < 1 << 20 else torch.float32
    s = hidden(q.to(wide) @ k.to(wide).mT * scale, last)
    lse = torch.logsumexp(s, dim=-1)
    return weights(s, lse) @ v.to(wide), lse


def same(x):
    return x


def dots(o: torch.Tensor, do: torch.Tensor) -> torch.Tensor:
    return (o * do).sum(dim=-1)


def right(p: torch.Tensor, dp: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    return p * (dp - delta[:, None])


def head(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse: torch.Tensor,
    do: torch.Tensor,
    scale: float,
    last: int | None,
    *,
    formula: Callable[..., torch.Tensor] = right,
    delta: Callable[..., torch.Tensor] = dots,
    p_scale: Callable[[float], float] = same,
    dq_scale: Callable[[float], float] = same,
    dk_scale: Callable[[float], float] = same,
    dv_scale: Callable[[float], float] = lambda scale: 1.0,
    of_lse: Callable[[torch.Tensor], torch.Tensor] = same,
    dp_from: str = "v",
    dv_from: str = "p",
    products: Callable[..., torch.Tensor] = lambda q, k: q @ k.mT,
    over_queries: Callable[..., torch.Tensor | bool] = lambda i, j, last: True,
    over_keys: Callable[..., torch.Tensor | bool] = lambda i, j, last: True,
) -> Tensors:
    """dq, dk and dv of one head in full, every score stored; with parts of it changed, a suspect.

    p and ds are rounded to q's dtype before their products, as the matrix units ask for. `over_queries` says
    which scores the loop for dk and dv visits, by query and key, `over_keys` the same of that for dq.
    """
    dtype, wide = q.dtype, torch.promote_types(q.dtype, torch.float32)
    q, k, v, o, do = (x.to(wide) for x in (q, k, v, o, do))
    p = weights(hidden(products(q, k) * p_scale(scale), last), of_lse(lse))
    ds = formula(p, do @ (k if dp_from == "k" else v).mT, delta(o, do))
    p, ds = p.to(dtype).to(wide), ds.to(dtype).to(wide)
    i, j = torch.arange(len(q), device=q.device)[:, None], torch.arange(len(k), device=q.device)
    queries, keys = over_queries(i, j, last), over_keys(i, j, last)
    dq = (ds * keys) @ k * dq_scale(scale)
    dk = (ds * queries).mT @ q * dk_scale(scale)
    dv = ((ds if dv_from == "ds" else p) * queries).mT @ do * dv_scale(scale)
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)


def changed(**changes) -> Callable[..., Tensors]:
    """`flash_backward` with parts of it changed."""
    return by_head(partial(head, **changes))


backward = by_head(head)


def flash(q, k, v, o, lse, do, scale, causal) -> Tensors:
    """The backward pass alone of torch's flash attention; on older GPUs, of the memory-efficient one."""
    nothing = torch.empty(2, dtype=torch.int64, device=q.device)  # the state of a dropout that there is not
    if torch.cuda.get_device_capability(q.device)[0] >= 8:
        lengths = (None, None, q.shape[2], k.shape[2])
        return torch.ops.aten._scaled_dot_product_flash_attention_backward(
            do, q, k, v, o, lse, *lengths, 0.0, causal, nothing, nothing, scale=scale
        )
    wanted = [True, True, True, False]
    return torch.ops.aten._scaled_dot_product_efficient_attention_backward(
        do, q, k, v, None, o, lse, nothing[0], nothing[1], 0.0, wanted, causal, scale=scale
    )[:3]


def shifted(shift: Callable[[int], int | None]) -> Callable[..., Tensors]:
    """The causal limit moved to shift(Sk - Sq)."""

    def one(*arguments) -> Tensors:
        *tensors, scale, last = arguments
        return head(*tensors, scale, None if last is None else shift(last))

    return by_head(one)


def always_causal(*arguments) -> Tensors:
    return backward(*arguments[:-1], True)


def first_head(q, k, v, o, lse, do, scale, causal) -> Tensors:
    k, v = k[:, :1].expand_as(k), v[:, :1].expand_as(v)
    return backward(q, k, v, o, lse, do, scale, causal)


def without_keys(*outputs: str) -> Callable[..., Tensors]:
    """NaN in these outputs if some query sees no key: in its row of dq, in all of dk and dv."""

    def one(q, k, v, o, lse, do, scale, last):
        found = dict(zip(("dq", "dk", "dv"), head(q, k, v, o, lse, do, scale, last), strict=True))
        none = (lse == -math.inf)[:, None]
        for name in outputs:
            found[name] = found[name].masked_fill(none if name == "dq" else none.any(), math.nan)
        return tuple(found.values())

    return by_head(one)


def far_below(q, k, v, o, lse, do, scale, last) -> Tensors:
    """NaN in dq where exp(0 - lse) is Inf in fp32, as of a key past the end whose score is 0."""
    dq, dk, dv = head(q, k, v, o, lse, do, scale, last)
    far = (lse < -math.log(torch.finfo(torch.float32).max)) & (lse > -math.inf)
    return dq.masked_fill(far[:, None], math.nan), dk, dv


def narrow(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """x in the 16 bits that `like` was drawn in."""
    return x.to(BRAIN if torch.equal(like, like.to(BRAIN).to(like.dtype)) else HALF).to(x.dtype)


def leaking(p: torch.Tensor, dp: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    return p * dp - delta[:, None]


def along_keys(p: torch.Tensor, dp: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
    """delta as a row; where the shapes do not allow it, nothing a kernel could give."""
    return p * (dp - delta[None, :]) if p.shape[0] == p.shape[1] else p * math.nan


def whole(axis: str, n: int) -> Callable[..., torch.Tensor]:
    """Entries in whole blocks of queries, i, or of keys, j."""

    def visited(i: torch.Tensor, j: torch.Tensor, last: int | None) -> torch.Tensor:
        x = {"i": i, "j": j}[axis]
        return x < x.numel() // n * n

    return visited


def last_block(axis: str, n: int) -> Callable[..., torch.Tensor]:
    """Entries in the last block of queries, i, or of keys, j."""

    def visited(i: torch.Tensor, j: torch.Tensor, last: int | None) -> torch.Tensor:
        x = {"i": i, "j": j}[axis]
        return x >= (x.numel() - 1) // n * n

    return visited


def after_the_block(n: int) -> Callable[..., torch.Tensor | bool]:
    """Queries from the number on with which the block of keys begins, whatever Sk - Sq is."""
    return lambda i, j, last: i >= j // n * n if last is not None else True


def behind_the_block(n: int) -> Callable[..., torch.Tensor | bool]:
    """Queries from the first that sees the whole block of keys on."""
    return lambda i, j, last: i >= (j // n + 1) * n - 1 - last if last is not None else True


def triangle(n: int) -> dict[str, Callable[..., torch.Tensor | bool]]:
    """The bounds of causal loops where nothing is causal."""
    return {
        "over_queries": lambda i, j, last: i >= j // n * n if last is None else True,
        "over_keys": lambda i, j, last: j < (i // n + 1) * n if last is None else True,
    }


TWICE = "The scale is applied twice"
TAIL = "The last queries are left out of dk and dv: their loop visits whole blocks only."
TAIL_K = "The last keys are left out of dq: its loop visits whole blocks only."
KEPT = "Only the last block of queries counts in dk and dv: each turn of the loop must add to them."
KEPT_K = "Only the last block of keys counts in dq: each turn of the loop must add to it."
START = (
    "The loop for dk and dv starts at query start_n: key j is seen from query j + Sq - Sk on, which is not j."
)
DIAGONAL = "The blocks that the diagonal crosses are left out of dk and dv: the loop starts behind them."
LOWER = "The loops end or start at the diagonal although causal is False: there, every query sees every key."
suspects = {
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
    "delta lies along the keys: it is one number a query.": changed(formula=along_keys),
    "delta is Σ o ∘ o: it is Σ do ∘ o.": changed(delta=lambda o, do: dots(o, o)),
    "delta is Σ do ∘ do: it is Σ do ∘ o.": changed(delta=lambda o, do: dots(do, do)),
    "delta is a mean: it is the sum over D.": changed(delta=lambda o, do: (o * do).mean(dim=-1)),
    "Scores are rounded to 16 bits, too low a precision: keep them in fp32, as tl.dot gives them.": changed(
        products=lambda q, k: narrow(q @ k.mT, q)
    ),
    "dp is do kᵀ where do vᵀ belongs.": changed(dp_from="k"),
    "dv is dsᵀ do where pᵀ do belongs.": changed(dv_from="ds"),
    "dq and dk have another sign.": changed(dq_scale=lambda scale: -scale, dk_scale=lambda scale: -scale),
    "The causal mask is aligned at the top left: query i sees keys up to i + Sk - Sq.": shifted(lambda _: 0),
    "The causal mask hides the diagonal: query i sees key i + Sk - Sq too.": shifted(lambda last: last - 1),
    "The causal mask lets one key too many through: key i + Sk - Sq is the last.": shifted(
        lambda last: last + 1
    ),
    "The causal mask has Sk and Sq the wrong way round: the shift is Sk - Sq.": shifted(lambda last: -last),
    "causal=True masks nothing: every query sees every key.": shifted(lambda _: None),
    "Keys are masked though causal is False.": always_causal,
    "Every head reads the keys and values of head 0.": first_head,
    "Rows that see no key give NaN: (-inf) - (-inf), or Inf · 0. What they add is 0.": without_keys(
        "dq", "dk", "dv"
    ),
    "Rows that see no key give NaN in dq: (-inf) - (-inf), or Inf · 0. It is 0 there.": without_keys("dq"),
    "Rows that see no key give NaN in dk and dv: (-inf) - (-inf), or Inf · 0. What they add is 0.": (
        without_keys("dk", "dv")
    ),
    "Keys past the end count in dq: their score is 0, exp(0 - lse) may be Inf, and Inf · 0 is NaN.": by_head(
        far_below
    ),
    **{f"{KEPT} (Blocks of {n}.)": changed(over_queries=last_block("i", n)) for n in (16, 32, 64, 128)},
    **{f"{KEPT_K} (Blocks of {n}.)": changed(over_keys=last_block("j", n)) for n in (16, 32, 64, 128)},
    **{f"{TAIL} (Blocks of {n}.)": changed(over_queries=whole("i", n)) for n in (16, 32, 64, 128)},
    **{f"{TAIL_K} (Blocks of {n}.)": changed(over_keys=whole("j", n)) for n in (16, 32, 64, 128)},
    **{f"{START} (Blocks of {n}.)": changed(over_queries=after_the_block(n)) for n in (16, 32, 64, 128)},
    **{f"{DIAGONAL} (Blocks of {n}.)": changed(over_queries=behind_the_block(n)) for n in (16, 32, 64, 128)},
    **{f"{LOWER} (Blocks of {n}.)": changed(**triangle(n)) for n in (16, 32, 64, 128)},
}

# With these, all of ds has one sign: its sums show no more of the rounding than its elements.
one_sign = {
    "more_keys": True,
    "q_values": "negative",
    "o_values": "negative",
    "do_values": "negative",
    "dtype": HALF,
}
big = at(4096, 4096, 128, True, B=4, H=16, dtype=HALF)

challenge = Challenge(
    entry="flash_backward",
    inputs=inputs,
    reference=backward,
    suspects=suspects,
    cases=[
        at(16, 16, 16),
        at(2, 2, 16, more_keys=True, dtype=HALF),
        at(0, 5, 16),
        at(4, 0, 16),
        at(5, 3, 16),
        at(31, 33, 32),
        at(64, 64, 64),
        at(33, 129, 80, H=1),
        at(130, 70, 96, H=1),
        at(140, 20, 16),
        at(2, 2, 16, True, more_keys=True, dtype=HALF),
        at(65, 65, 32, True, more_keys=True, dtype=HALF),
        at(2, 77, 64, True, dtype=HALF),
        at(30, 100, 80, True, H=1),
        at(70, 20, 32, True, more_keys=True, dtype=HALF),
        at(129, 200, 128, True, H=1),
        at(200, 129, 16, True, H=1, more_keys=True, dtype=HALF),
        at(300, 300, 16, True, H=1, more_keys=True, dtype=HALF),
        at(20, 50, 32, B=2, H=3),
        at(40, 64, 64, True, B=2, dtype=HALF),
        at(64, 128, 64, dtype=HALF),
        at(70, 150, 128, True, H=1, dtype=HALF),
        at(150, 70, 80, True, H=1, more_keys=True, dtype=HALF),
        at(140, 140, 96, dtype=BRAIN, H=1),
        at(90, 40, 32, True, dtype=BRAIN, H=1, more_keys=True),
        at(20, 60, 16, scale=0.5, dtype=HALF),
        at(20, 60, 32, True, scale=-0.4),
        at(20, 60, 32, True, scale=0.0),
        at(20, 40, 32, order="bshd", B=2),
        at(30, 50, 32, k_order="bshd", v_order="sbhd", do_order="hbsd", B=2),
        at(40, 60, 64, True, order="bshd", dtype=BRAIN, B=2, H=1),
        at(40, 70, 80, True, H=1, layout="sliced"),
        at(40, 70, 64, layout="offset", dtype=HALF),
        at(30, 40, 32, B=2, layout="expanded", o_layout="contiguous"),
        at(30, 40, 32, True, B=2, H=1, do_layout="expanded", dtype=HALF),
        at(30, 40, 32, True, do_layout="scalar"),
        at(30, 40, 64, do_layout="scalar", dtype=HALF),
        at(30, 40, 32, do_order="bhds", dtype=HALF),
        # Hidden scores so far above lse that their exp is Inf, and lse so far below 0 that exp(0 - lse) is.
        at(60, 140, 32, True, H=1, lift=14.0, rise=0.17, **one_sign),
        at(30, 130, 32, H=1, lift=12.0, **one_sign),
        at(30, 50, 32, values="heavy", scale=0.02, more_keys=True, dtype=HALF),
        at(30, 50, 32, q_values="large", k_values="large", scale=1e-8, dtype=BRAIN),
        at(20, 50, 32, do_values="nan"),
        at(50, 60, 32, True, calls=2),
    ],
    speed=Speed(
        big,
        # delta reads o and do; each loop reads q, do, k and v, and writes what it owns.
        moved=lambda q, k, v, o, lse, do, scale, causal: 7 * q.nbytes + 6 * k.nbytes,
        flops=lambda q, k, v, o, lse, do, scale, causal: 5 * q.numel() * k.shape[2],
        of_torch=0.4,
        torch=flash,
        # do alone: with other queries or keys, lse would not be theirs.
        rolled=(5,),
    ),
    # Room for a few numbers a query, and for dq in fp32; the scores would be 22 times as much as q.
    memory=Memory(at(512, 360, 16, H=1), extra=lambda q, *_: 4 * q.nbytes),
)
