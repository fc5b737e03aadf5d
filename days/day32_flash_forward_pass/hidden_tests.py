"""Day 32: attention and its log-sum-exp in one kernel, at 0.4 of the speed of torch's flash attention."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from grader.challenge import Case, Challenge, Memory, Speed

HALF, BRAIN = torch.float16, torch.bfloat16
Outputs = tuple[torch.Tensor, torch.Tensor]
LOG2_E = math.log2(math.e)


def at(Sq: int, Sk: int, D: int, causal: bool = False, B: int = 1, H: int = 2, **more) -> Case:
    """B × H heads of Sq queries and Sk keys."""
    return Case(B=B, H=H, Sq=Sq, Sk=Sk, D=D, causal=causal, **more)


def inputs(case: Case, draw) -> tuple:
    """q, k, v, scale and causal.

    `order`: how q, k and v lie in memory, bshd for [B, Sq, H, D]. `lift` is added to every key, `rise` once
    more for each key that comes before it; with negative queries, both make scores fall.
    """
    more = case
    orders = more.get("order", "bhsd").split("_")

    def tensor(number: int, length: int, values: str | None) -> torch.Tensor:
        order = orders[number % len(orders)]
        sizes = {"b": case.B, "h": case.H, "s": length, "d": case.D}
        drawn = draw(*(sizes[axis] for axis in order), values=values)
        return drawn.permute([order.index(axis) for axis in "bhsd"])

    q = tensor(0, case.Sq, more.get("q_values"))
    k = tensor(1, case.Sk, more.get("k_values"))
    v = tensor(2, case.Sk, more.get("v_values"))
    if "lift" in more or "rise" in more:
        k += more.get("lift", 0.0) + more.get("rise", 0.0) * torch.arange(case.Sk, device=k.device)[:, None]
    return q, k, v, more.get("scale", case.D**-0.5), case.causal


def scores(q: torch.Tensor, k: torch.Tensor, scale: float, last: int | None) -> torch.Tensor:
    """q kᵀ · scale, with -inf where the key's number is more than the query's plus `last`."""
    s = q @ k.mT * scale
    if last is None:
        return s
    return s.masked_fill(~torch.ones_like(s, dtype=torch.bool).tril(last), -math.inf)


def weigh(s: torch.Tensor, v: torch.Tensor) -> Outputs:
    """o and lse from the scores. p is rounded to v's dtype, as the matrix units ask for."""
    lse = torch.logsumexp(s, dim=-1)
    p = torch.exp(s - torch.where(lse == -math.inf, 0.0, lse)[:, None]).to(v.dtype)
    return p.to(s.dtype) @ v.to(s.dtype), lse


def head(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, last: int | None) -> Outputs:
    """One head in full: every score is stored."""
    wide = torch.promote_types(q.dtype, torch.float32)
    o, lse = weigh(scores(q.to(wide), k.to(wide), scale, last), v)
    return o.to(q.dtype), lse


def by_head(function: Callable[..., Outputs]) -> Callable[..., Outputs]:
    """`function(q, k, v, scale, last)` of one head, for all of them: one at a time, since S × S is much."""

    def of_all(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool) -> Outputs:
        last = k.shape[2] - q.shape[2] if causal else None
        each = [function(*x, scale, last) for x in zip(*(y.flatten(0, 1) for y in (q, k, v)), strict=True)]
        o, lse = (torch.stack(outputs) for outputs in zip(*each, strict=True))
        return o.view(q.shape), lse.view(q.shape[:3])

    return of_all


attention = by_head(head)


def flash(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    """torch's own flash attention; where a GPU is too old for it, the memory-efficient one."""
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)


def aligned(shift: Callable[[int], int | None]) -> Callable[..., Outputs]:
    """Attention with the causal limit moved to shift(Sk - Sq)."""
    return by_head(lambda q, k, v, scale, last: head(q, k, v, scale, None if last is None else shift(last)))


def units(
    o_scale: float, lse: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
) -> Callable[..., Outputs]:
    """Attention with its scale multiplied for o, and with lse from the true scores and their maximum."""

    def one(q, k, v, scale, last):
        s = scores(q, k, scale, last)
        m = s.amax(dim=-1) if len(k) else s.sum(dim=-1)
        return head(q, k, v, scale * o_scale, last)[0], lse(s, m)

    return by_head(one)


def in_blocks(
    size: int, keep_acc: bool = False, keep_l: bool = False, whole: bool = False
) -> Callable[..., Outputs]:
    """The online softmax in blocks of `size` keys: acc or l not rescaled, or only whole blocks visited."""

    def one(q, k, v, scale, last):
        s = scores(q, k, scale, last)
        m = q.new_full((len(q), 1), torch.finfo(torch.float32).min)
        total, acc = torch.zeros_like(m), torch.zeros_like(q)
        stop = len(k) // size * size if whole else len(k)
        for start in range(0, stop, size):
            block = s[:, start : start + size]
            m_new = torch.maximum(m, block.amax(dim=1, keepdim=True))
            p, alpha = torch.exp(block - m_new), torch.exp(m - m_new)
            total = total * (1.0 if keep_l else alpha) + p.sum(dim=1, keepdim=True)
            acc = acc * (1.0 if keep_acc else alpha) + p @ v[start : start + size]
            m = m_new
        return acc / torch.where(total == 0, 1.0, total), (m + total.log())[:, 0]

    return by_head(one)


def rounded(q, k, v, scale, last) -> Outputs:
    """One head whose products of q and k are rounded to q's 16 bits before they are scaled."""
    dtype = BRAIN if torch.equal(q, q.to(BRAIN).to(q.dtype)) else HALF
    s = scores(q * math.copysign(1.0, scale), k, 1.0, last)
    return weigh(s.to(dtype).to(s.dtype) * abs(scale), v)


def from_zero(empty: float) -> Callable[..., Outputs]:
    """A running maximum that starts at 0, where fp32 underflows; o is `empty` where the sum is 0."""

    def one(q, k, v, scale, last):
        s = scores(q, k, scale, last)
        m = s.amax(dim=-1).clamp(min=0) if len(k) else s.sum(dim=-1)
        p = torch.exp((s - m[:, None]).float()).to(s.dtype)
        total = p.sum(dim=-1)
        o = (p @ v / total[:, None]).masked_fill((total == 0)[:, None], empty)
        return o, m + total.log()

    return by_head(one)


def without_keys(o: float, lse: float) -> Callable[..., Outputs]:
    """Attention with these in rows that see no key."""

    def one(q, k, v, scale, last):
        right_o, right_lse = head(q, k, v, scale, last)
        none = right_lse == -math.inf
        return right_o.masked_fill(none[:, None], o), right_lse.masked_fill(none, lse)

    return by_head(one)


def first_head(q, k, v, scale, causal) -> Outputs:
    return attention(q, k[:, :1].expand_as(k), v[:, :1].expand_as(v), scale, causal)


ACC = "acc is not rescaled: when m rises, what acc holds must be multiplied by alpha too, as l_i is. "
SUM = "l_i is not rescaled: when m rises, the sum so far must be multiplied by alpha too, as acc is. "
TAIL = "The last keys are left out: the loop visits whole blocks only. "
NONE = "Rows that see no key come out NaN; o must be 0 and lse -inf. "
LOW = "The running maximum starts at 0: if all scores are far below, exp of the distance underflows to 0. "
suspects = {
    "The scale is missing: the scores are q kᵀ · scale.": lambda q, k, v, scale, causal: attention(
        q, k, v, 1.0, causal
    ),
    "The scale is applied twice: once is enough, to q or to the scores.": lambda q, k, v, scale, causal: (
        attention(q, k, v, scale * scale, causal)
    ),
    "The sign of the scale is lost.": lambda q, k, v, scale, causal: attention(q, k, v, abs(scale), causal),
    "exp2 is given plain scores: exp(x) is exp2(x · log2(e)), and log2(e) is missing.": (
        lambda q, k, v, scale, causal: attention(q, k, v, scale / LOG2_E, causal)
    ),
    "log2(e) is in the scale, and then exp is called where exp2 belongs.": units(
        LOG2_E, lambda s, m: m + torch.logsumexp((s - m[:, None]) * LOG2_E, dim=-1)
    ),
    "log2(e) is in the scale, and then exp and log are called where exp2 and log2 belong.": (
        lambda q, k, v, scale, causal: attention(q, k, v, scale * LOG2_E, causal)
    ),
    "lse is in base 2: multiply it by ln 2.": units(1.0, lambda s, m: torch.logsumexp(s, dim=-1) * LOG2_E),
    "lse adds two bases: m_i is in base 2, log(l_i) natural. Bring both to one, then to natural.": units(
        1.0, lambda s, m: m * LOG2_E + torch.logsumexp(s - m[:, None], dim=-1)
    ),
    "lse adds two bases: m_i in base 2 is multiplied by ln 2, and so is log(l_i), which was natural.": units(
        1.0, lambda s, m: m + torch.logsumexp(s - m[:, None], dim=-1) / LOG2_E
    ),
    NONE + "Both do: (-inf) - (-inf) is NaN.": without_keys(math.nan, math.nan),
    NONE + "o does: acc / l_i is 0 / 0.": without_keys(math.nan, -math.inf),
    NONE + "lse does: (-inf) - (-inf) is NaN.": without_keys(0.0, math.nan),
    "Scores are rounded to 16 bits: keep them in fp32, as tl.dot gives them.": by_head(rounded),
    LOW + "So o is 0.": from_zero(0.0),
    LOW + "So 0 is divided by 0.": from_zero(math.nan),
    "lse lacks the maximum: it is m_i + log(l_i), in one base.": units(
        1.0, lambda s, m: torch.logsumexp(s - m[:, None], dim=-1)
    ),
    "lse is the maximum alone: log(l_i) is missing.": units(1.0, lambda s, m: m),
    "The causal mask is aligned at the top left: query i sees keys up to i + Sk - Sq.": aligned(lambda _: 0),
    "The causal mask hides the diagonal: query i sees key i + Sk - Sq too.": aligned(lambda last: last - 1),
    "The causal mask lets one key too many through: key i + Sk - Sq is the last.": aligned(
        lambda last: last + 1
    ),
    "The causal mask has Sk and Sq the wrong way round: the shift is Sk - Sq.": aligned(lambda last: -last),
    "causal=True masks nothing: every query sees every key.": aligned(lambda _: None),
    "Keys are masked though causal is False.": lambda q, k, v, scale, causal: attention(q, k, v, scale, True),
    "Every head reads the keys and values of head 0.": first_head,
    **{f"{ACC}(Blocks of {n} keys.)": in_blocks(n, keep_acc=True) for n in (16, 32, 64, 128)},
    **{f"{SUM}(Blocks of {n} keys.)": in_blocks(n, keep_l=True) for n in (16, 32, 64, 128)},
    **{f"{TAIL}(Blocks of {n} keys.)": in_blocks(n, whole=True) for n in (16, 32, 64, 128)},
}

big = at(4096, 4096, 128, True, B=4, H=16, dtype=HALF)

challenge = Challenge(
    entry="flash_forward",
    inputs=inputs,
    reference=attention,
    suspects=suspects,
    cases=[
        at(16, 16, 16),
        at(1, 1, 16),
        at(0, 5, 16),
        at(4, 0, 16),
        at(5, 3, 16),
        at(31, 33, 32),
        at(64, 64, 64),
        at(33, 129, 80, H=1),
        at(17, 70, 96),
        at(40, 130, 128, H=1),
        at(130, 20, 16),
        at(1, 1, 16, True),
        at(65, 65, 32, True),
        at(1, 77, 64, True),
        at(30, 100, 80, True, H=1),
        at(70, 20, 32, True),
        at(129, 200, 128, True, H=1),
        at(300, 300, 16, True, H=1),
        at(20, 50, 32, B=2),
        at(50, 64, 64, True, B=2, H=3, dtype=HALF),
        at(64, 128, 64, dtype=HALF),
        at(70, 150, 128, True, H=1, dtype=HALF),
        at(150, 70, 80, True, H=1, dtype=HALF),
        at(40, 90, 96, dtype=BRAIN),
        at(129, 129, 32, True, H=1, dtype=BRAIN),
        at(20, 60, 32, scale=1.0),
        at(20, 60, 32, True, scale=-0.4),
        at(20, 60, 32, True, scale=0.0),
        at(20, 40, 32, order="bshd", B=2),
        at(40, 40, 64, True, order="bshd", B=2, H=3, dtype=HALF),
        at(30, 50, 32, order="bhsd_bshd_sbhd", B=2),
        at(40, 60, 64, order="hbsd_sbhd_bshd", dtype=BRAIN, layout="sliced"),
        at(40, 70, 80, True, H=1, layout="sliced"),
        at(40, 70, 64, layout="offset", dtype=HALF),
        at(30, 40, 32, layout="expanded", B=2),
        at(30, 40, 32, True, layout="expanded", order="bhsd_hbsd", dtype=HALF),
        at(30, 200, 32, values="negative", k_values="normal", v_values="normal", rise=-0.02),
        at(30, 200, 32, values="negative", k_values="normal", v_values="normal", rise=0.02),
        at(200, 200, 32, True, H=1, values="rising", q_values="negative", rise=-0.02, dtype=HALF),
        at(30, 200, 32, values="negative", lift=25.0),
        at(30, 50, 32, values="spike", v_values="normal", dtype=HALF),
        at(30, 50, 32, values="large", scale=1e-8),
        at(30, 50, 32, values="large", scale=1e-7, dtype=HALF),
        at(60, 90, 64, True, values="heavy", scale=1.0, dtype=HALF),
        at(60, 90, 64, True, values="heavy", scale=-1.0, dtype=BRAIN),
        at(20, 50, 32, values="constant", v_values="normal"),
        at(20, 50, 32, values="nan", k_values="normal", v_values="normal"),
        at(50, 60, 32, True, calls=2),
    ],
    speed=Speed(
        big,
        moved=lambda q, k, v, scale, causal: 2 * q.nbytes + k.nbytes + v.nbytes,
        flops=lambda q, k, v, scale, causal: 2 * q.numel() * k.shape[2],
        of_torch=0.4,
        torch=flash,
    ),
    # Room for a few more numbers a query; the scores would be 45 times as much as q.
    memory=Memory(at(1024, 720, 16, H=1), extra=lambda q, k, v, scale, causal: 4 * q.nbytes),
)
