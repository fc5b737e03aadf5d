"""Day 35: flash attention with grouped heads and gradients, at 0.4 of the speed of torch's, both passes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from grader.challenge import Case, Challenge, Gradients, Memory, Speed

HALF, BRAIN = torch.float16, torch.bfloat16
Three = tuple[Tensor, Tensor, Tensor]


def at(Sq: int, Sk: int, D: int, causal: bool = False, Hq: int = 2, Hk: int = 1, B: int = 1, **more) -> Case:
    """B sequences, Hq heads of Sq queries, Hk heads of Sk keys and values."""
    return Case(Sq=Sq, Sk=Sk, D=D, causal=causal, Hq=Hq, Hk=Hk, B=B, **more)


def inputs(case: Case, draw) -> tuple:
    """q, k, v, scale and causal.

    `order`: how q, k and v lie in memory, bshd for [B, S, H, D]; k_layout and the like say how one of them
    differs from the case's layout, k_values from its values.
    """
    more = case
    orders = more.get("order", "bhsd").split("_")

    def tensor(which: str, heads: int, length: int) -> Tensor:
        order = orders["qkv".index(which) % len(orders)]
        sizes = {"b": case.B, "h": heads, "s": length, "d": case.D}
        drawn = {"layout": more.get(f"{which}_layout"), "values": more.get(f"{which}_values")}
        x = draw(*(sizes[axis] for axis in order), **drawn)
        return x.permute([order.index(axis) for axis in "bhsd"])

    q, k, v = tensor("q", case.Hq, case.Sq), tensor("k", case.Hk, case.Sk), tensor("v", case.Hk, case.Sk)
    return q, k, v, more.get("scale", case.D**-0.5), case.causal


class Rules(NamedTuple):
    """Attention and its gradients, head by head; what a kernel may do otherwise is a field.

    Attributes:
        reads: the key head that query head h reads, from h, the size of a group, and the number of key heads.
        scaled: the factor of the scores, from the scale.
        shift: query i sees keys up to i + shift(Sk - Sq); all if it is None.
        members: how often member 0, 1, … of a group of that size counts in dk and dv.
        grads: what becomes of dq, dk and dv, from them and the scale.
        delta: what is subtracted of delta in ds.
        lse: what the backward pass takes for lse, from lse.
        adds: the key head in whose dk and dv query head h is counted, if that is not the one it reads.
        back: the rules that hold in the backward pass, if they are others.
    """

    reads: Callable[[int, int, int], int] = lambda h, group, heads: h // group
    scaled: Callable[[float], float] = lambda scale: scale
    shift: Callable[[int], int | None] = lambda last: last
    members: Callable[[int, int], float] = lambda member, group: 1.0
    grads: Callable[[Tensor, Tensor, Tensor, float], Three] = lambda dq, dk, dv, scale: (dq, dk, dv)
    delta: float = 1.0
    lse: Callable[[Tensor], Tensor] = lambda lse: lse
    adds: Callable[[int, int, int], int] | None = None
    back: Rules | None = None

    def __call__(self, q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensor:
        return Attention.apply(q, k, v, scale, causal, self)

    def heads(self, q: Tensor, k: Tensor) -> list[tuple[int, int, int, int]]:
        """Batch, query head, the key head that it reads, and which of its group it is; one at a time."""
        group = q.shape[1] // k.shape[1]
        every = [(b, h) for b in range(q.shape[0]) for h in range(q.shape[1])]
        return [(b, h, self.reads(h, group, k.shape[1]), h % group) for b, h in every]


def scores(q: Tensor, k: Tensor, scale: float, last: int | None) -> Tensor:
    """q kᵀ · scale of one head, with -inf where the key's number is more than the query's plus `last`."""
    s = q @ k.mT * scale
    if last is None:
        return s
    return s.masked_fill(~torch.ones_like(s, dtype=torch.bool).tril(last), -math.inf)


def weights(s: Tensor, lse: Tensor) -> Tensor:
    return torch.exp(s - torch.where(lse == -math.inf, 0.0, lse)[:, None])


class Attention(torch.autograd.Function):
    """By the formulas of days 32 to 34. No scores are kept: those of 64 heads would be gigabytes."""

    @staticmethod
    def forward(ctx, q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool, rules: Rules) -> Tensor:
        wide = torch.promote_types(q.dtype, torch.float32)
        last = rules.shift(k.shape[2] - q.shape[2]) if causal else None
        o, lse = torch.empty_like(q, dtype=wide), q.new_empty(q.shape[:3], dtype=wide)
        for b, h, kh, _ in rules.heads(q, k):
            s = scores(q[b, h].to(wide), k[b, kh].to(wide), rules.scaled(scale), last)
            lse[b, h] = torch.logsumexp(s, dim=-1)
            o[b, h] = weights(s, lse[b, h]).to(v.dtype).to(wide) @ v[b, kh].to(wide)
        o = o.to(q.dtype)
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.rest = scale, causal, rules.back or rules
        return o.clone(memory_format=torch.contiguous_format)

    @staticmethod
    def backward(ctx, do: Tensor) -> tuple[Tensor | None, ...]:
        (q, k, v, o, lse), (scale, causal, rules) = ctx.saved_tensors, ctx.rest
        wide = lse.dtype
        last = rules.shift(k.shape[2] - q.shape[2]) if causal else None
        grads = [torch.zeros_like(x, dtype=wide) for x in (q, k, v)]

        def part(b: int, h: int, kh: int) -> Three:
            some = (q[b, h], k[b, kh], v[b, kh], o[b, h], do[b, h])
            rest = rules.lse(lse[b, h]), rules.scaled(scale), last, rules.delta, q.dtype
            return gradients(*(x.to(wide) for x in some), *rest)

        owners = rules._replace(reads=rules.adds or rules.reads).heads(q, k)
        for (b, h, kh, member), (_, _, owner, _) in zip(rules.heads(q, k), owners, strict=True):
            grads[0][b, h], dk, dv = part(b, h, kh)
            if owner != kh:
                _, dk, dv = part(b, h, owner)
            counts = rules.members(member, q.shape[1] // k.shape[1])
            grads[1][b, owner] += counts * dk
            grads[2][b, owner] += counts * dv
        grads = rules.grads(*grads, scale)
        return *(grad.to(x.dtype) for grad, x in zip(grads, (q, k, v), strict=True)), None, None, None


def gradients(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    do: Tensor,
    lse: Tensor,
    scale: float,
    last: int | None,
    times: float,
    dtype: torch.dtype,
) -> Three:
    """dq, dk and dv of one head; exact in float64, else as far off as a good kernel in dtype may be."""
    p = weights(scores(q, k, scale, last), lse)
    dp = do @ v.mT
    if q.dtype == torch.float64:
        ds = p * (dp - times * (o * do).sum(dim=-1, keepdim=True))
    else:
        # The yardstick. Few keys may have luck with their rounding errors, and where dp ≈ delta little else
        # is left. So it shows large ones: those of o, of sums in another order, and those of each p and ds.
        off = torch.finfo(dtype).eps / 2 * (o * do).norm(dim=-1, keepdim=True)
        off = off + 3 * torch.finfo(q.dtype).eps * (do.abs() @ v.abs().mT)
        row, column = (torch.arange(n, device=q.device) for n in p.shape)
        times = 1 + torch.finfo(dtype).eps * (1 + (row[:, None] + column) % 2 / 2)
        difference = dp - (p * dp).sum(dim=-1, keepdim=True)
        ds = p * (difference + off.copysign(difference)) * times
        p = p * times
    return ds @ k * scale, ds.mT @ q * scale, p.mT @ do


def flash(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> Tensor:
    """torch's own flash attention; where a GPU is too old for it, the memory-efficient one."""
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)


right = Rules()
MISREAD = "Query head h reads key head h % Hk: neighbours share, so it is h // (Hq // Hk). "


def in_backward(**other) -> Rules:
    """Right in the forward pass, and not in the backward pass."""
    return Rules(back=Rules(**other))


def modulo(h: int, group: int, heads: int) -> int:
    return h % heads


suspects = {
    MISREAD + "Both passes do.": Rules(reads=modulo),
    MISREAD + "The forward pass does.": Rules(reads=modulo, back=right),
    MISREAD + "The backward pass does.": in_backward(reads=modulo),
    "dk and dv of key head g hold the query heads g, g + Hk, …: those that read it are neighbours.": (
        in_backward(adds=modulo)
    ),
    "Every query head reads key head 0.": Rules(
        reads=lambda h, group, heads: 0, adds=lambda h, group, heads: h // group
    ),
    "Query head h reads key head h: it is h // (Hq // Hk).": Rules(
        reads=lambda h, group, heads: min(h, heads - 1)
    ),
    "dk and dv hold the first query head of each group alone: they are sums over all that read the key.": (
        in_backward(members=lambda member, group: float(member == 0))
    ),
    "dk and dv hold the last query head of each group alone: they are sums over all that read the key.": (
        in_backward(members=lambda member, group: float(member == group - 1))
    ),
    "dk and dv are means over the query heads of a group: they are sums.": in_backward(
        members=lambda member, group: 1 / group
    ),
    "The last query head of each group is left out of dk and dv.": in_backward(
        members=lambda member, group: float(member < group - 1)
    ),
    "dq lacks the scale: s = q kᵀ · scale, so dq = scale · ds k.": in_backward(
        grads=lambda dq, dk, dv, scale: (dq / scale, dk, dv)
    ),
    "dk lacks the scale: s = q kᵀ · scale, so dk = scale · dsᵀ q.": in_backward(
        grads=lambda dq, dk, dv, scale: (dq, dk / scale, dv)
    ),
    "dq and dk lack the scale: s = q kᵀ · scale.": in_backward(
        grads=lambda dq, dk, dv, scale: (dq / scale, dk / scale, dv)
    ),
    "dq and dk hold the scale twice.": in_backward(
        grads=lambda dq, dk, dv, scale: (dq * scale, dk * scale, dv)
    ),
    "dk and dv are swapped: backward() returns gradients in the order of forward()'s arguments.": in_backward(
        grads=lambda dq, dk, dv, scale: (dq, dv, dk)
    ),
    "delta is not subtracted: ds = p ∘ (dp − delta).": in_backward(delta=0.0),
    "delta is added: ds = p ∘ (dp − delta).": in_backward(delta=-1.0),
    "The backward pass takes lse for one in base 2, and it is natural: multiply it by log2(e).": in_backward(
        lse=lambda lse: lse / math.log2(math.e)
    ),
    "The backward pass takes lse for a natural one, and it is in base 2.": in_backward(
        lse=lambda lse: lse * math.log2(math.e)
    ),
    "The scale is missing: the scores are q kᵀ · scale.": Rules(scaled=lambda scale: 1.0),
    "The backward pass does not know the scale: keep it in ctx.": in_backward(scaled=lambda scale: 1.0),
    "The sign of the scale is lost.": Rules(scaled=abs),
    "The sign of the scale is lost in the forward pass.": Rules(scaled=abs, back=right),
    "The sign of the scale is lost in the backward pass.": in_backward(scaled=abs),
    "The causal mask is aligned at the top left: query i sees keys up to i + Sk - Sq.": Rules(
        shift=lambda last: 0
    ),
    "The causal mask is aligned at the top left in the backward pass: query i sees keys up to i + Sk - Sq.": (
        in_backward(shift=lambda last: 0)
    ),
    "causal=True masks nothing: every query sees every key.": Rules(shift=lambda last: None),
    "The backward pass does not mask: causal must reach it, by ctx.": in_backward(shift=lambda last: None),
    "The causal mask hides the diagonal: query i sees key i + Sk - Sq too.": Rules(
        shift=lambda last: last - 1
    ),
    "The causal mask of the backward pass hides the diagonal.": in_backward(shift=lambda last: last - 1),
    "The causal mask of the backward pass lets one key too many through.": in_backward(
        shift=lambda last: last + 1
    ),
}


def held(x: Tensor) -> int:
    """Bytes from x's first element to behind its last; more than its elements if they lie apart."""
    last = sum((size - 1) * stride for size, stride in zip(x.shape, x.stride(), strict=True))
    return max(x.nbytes, (last + 1) * x.element_size())


def needed(q: Tensor, k: Tensor, v: Tensor, scale: float, causal: bool) -> int:
    """Bytes of q, k, v and o, and one fp32 number a query."""
    return held(q) + held(k) + held(v) + q.nbytes + 4 * math.prod(q.shape[:3])


whole = Challenge(
    entry="flash_attention",
    inputs=inputs,
    reference=right,
    suspects=suspects,
    gradients=Gradients(of=(0, 1, 2), saved=needed),
    cases=[
        at(16, 16, 16, Hq=1),
        at(1, 1, 16),
        at(0, 5, 16),
        at(5, 0, 16),
        at(33, 40, 32, Hq=4, Hk=2),
        at(20, 30, 32, Hq=3, Hk=3),
        at(17, 70, 80),
        at(40, 130, 96, Hq=1),
        at(130, 20, 16),
        at(20, 24, 128, Hq=3),
        at(65, 65, 32, True),
        at(1, 77, 64, True),
        at(70, 20, 32, True),
        at(30, 140, 16, True),
        at(150, 70, 16, True),
        at(20, 50, 32, True, Hq=4, Hk=2, B=2),
        at(50, 64, 64, True, Hq=4, Hk=2, dtype=HALF),
        at(40, 70, 80, True, dtype=BRAIN),
        at(30, 60, 128, dtype=HALF),
        at(40, 40, 32, True, scale=-0.4),
        at(20, 60, 32, scale=0.3),
        at(20, 60, 32, scale=0.0, dtype=HALF),
        at(20, 40, 32, True, Hq=4, Hk=2, B=2, order="bshd"),
        at(30, 50, 32, order="bhsd_bshd_sbhd", layout="sliced", dtype=HALF),
        at(20, 40, 32, True, layout="transposed"),
        at(20, 40, 32, k_layout="strided", v_layout="transposed", dtype=HALF),
        at(40, 70, 64, layout="offset", dtype=BRAIN),
        at(20, 40, 32, layout="expanded", Hq=4, Hk=2, B=2),
        at(20, 40, 32, upstream="sliced"),
        at(20, 40, 32, True, upstream="transposed", Hq=4, Hk=2),
        at(20, 40, 32, upstream="expanded", B=2),
        at(20, 40, 64, True, upstream="scalar"),
        at(20, 40, 32, upstream="offset", dtype=HALF),
        at(40, 60, 32, values="rising", q_values="negative", v_values="normal"),
        at(40, 60, 64, True, values="heavy", v_values="normal", scale=0.003),
        at(20, 30, 32, values="large", v_values="normal", scale=3e-9),
        at(20, 40, 32, values="nan", k_values="normal", v_values="normal"),
        at(20, 30, 32, True, calls=2),
        at(1000, 1500, 128, True, Hq=8, Hk=2, B=2, dtype=HALF, gpu=True),
        at(1500, 1000, 64, Hq=6, Hk=2, dtype=BRAIN, order="bshd", gpu=True),
        at(700, 700, 96, True, Hq=8, Hk=8, upstream="scalar", gpu=True),
    ],
    speed=Speed(
        at(4096, 4096, 128, True, Hq=16, Hk=16, B=4, dtype=HALF),
        # Forward q, k, v, o; for dq all of these, do and dq; for dk and dv q, k, v, do and both: 16 tensors.
        moved=lambda q, k, v, scale, causal: 8 * q.nbytes + 4 * (k.nbytes + v.nbytes),
        # Two products forward and five backward, 2 · D operations a score each, and half of the scores.
        flops=lambda q, k, v, scale, causal: 7 * q.numel() * k.shape[2],
        of_torch=0.4,
        torch=flash,
        part="both",
    ),
    # A few numbers a query. Keys and values written out for each query head would be 11 times as much as q.
    memory=Memory(at(100, 300, 16, Hq=4), extra=lambda q, k, v, scale, causal: q.nbytes // 2),
)


def alone(case: Case) -> Challenge:
    """The same when a gradient is asked for one argument alone."""
    of = Gradients(of=("qkv".index(case.only),), saved=needed)
    return replace(whole, gradients=of, cases=[case], speed=(), memory=None)


challenge = (
    whole,
    alone(at(20, 24, 16, True, only="q")),
    alone(at(20, 24, 16, True, only="k")),
    alone(at(20, 24, 16, True, only="v")),
)
