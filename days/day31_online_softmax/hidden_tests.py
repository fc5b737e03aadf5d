"""Day 31: the logsumexp of attention scores, causal or not, by an online softmax."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from grader.challenge import Case, Challenge, Memory, Own

BSHD, CLIMBING = Own("bshd"), Own("climbing")
HALF, BRAIN = torch.float16, torch.bfloat16


def tensor(case: Case, draw, name: str, length: int) -> torch.Tensor:
    """[B, H, length, D] in the case's layout and values, unless e.g. `k_layout` or `k_values` says otherwise.

    The layout BSHD is that of a projection x w viewed as [B, S, H, D]: the heads of a token lie together.
    """
    layout = case.get(f"{name}_layout", case.layout)
    values = case.get(f"{name}_values", case.values)
    if layout == BSHD:
        lying = draw(case.B, length, case.H, case.D, layout="contiguous", values=values)
        return lying.transpose(1, 2)
    plain = values in (CLIMBING, "minus_inf")
    x = draw(case.B, case.H, length, case.D, layout=layout, values="normal" if plain else values)
    if values == CLIMBING:
        x.mul_(0.1).add_(torch.arange(1, length + 1, device=x.device)[:, None] / 20)
    return x


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor, float, bool]:
    """q, k, the scale (1/√D unless given), and whether causal.

    CLIMBING: the scores rise from key to key; with "minus_inf" those of the first `hidden` keys are
    -inf for every query.
    """
    q, k = tensor(case, draw, "q", case.Sq), tensor(case, draw, "k", case.Sk)
    if case.values == CLIMBING:
        q.abs_()
    if case.values == "minus_inf":
        q.abs_().add_(0.5)
        k[:, :, : case.hidden, 0] = -math.inf
    return q, k, case.get("scale", case.D**-0.5), case.causal


def scores(q: torch.Tensor, k: torch.Tensor, scale: float, last: int | None) -> torch.Tensor:
    """q kᵀ · scale; with `last`, query i sees the keys up to i + last."""
    s = (q @ k.mT) * scale
    if last is None:
        return s
    unseen = torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).triu(last + 1)
    return s.masked_fill(unseen, -math.inf)


def aligned(q: torch.Tensor, k: torch.Tensor, causal: bool) -> int | None:
    return k.shape[2] - q.shape[2] if causal else None


def rows(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    return scores(q, k, scale, aligned(q, k, causal))


def lse(s: torch.Tensor) -> torch.Tensor:
    return torch.logsumexp(s, dim=-1)


def reference(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    return lse(rows(q, k, scale, causal))


Wrong = Callable[[torch.Tensor, torch.Tensor, float, bool], torch.Tensor]


def of_scores(wrong: Callable[[torch.Tensor], torch.Tensor]) -> Wrong:
    """What becomes of the right scores in the hands of someone who does this with them."""
    return lambda q, k, scale, causal: wrong(rows(q, k, scale, causal))


def of_mask(last: Callable[[int, int], int | None]) -> Wrong:
    """The logsumexp of someone who lets query i see the keys up to i + last(Sq, Sk), where it is causal."""
    return lambda q, k, scale, causal: lse(
        scores(q, k, scale, last(q.shape[2], k.shape[2]) if causal else None)
    )


def flipped(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    s = scores(q, k, scale, None)
    if not causal:
        return lse(s)
    earlier = torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).tril(k.shape[2] - q.shape[2] - 1)
    return lse(s.masked_fill(earlier, -math.inf))


def masked_before_scale(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    """-inf behind the last key too, if that ends no tile; +inf minus +inf is NaN."""
    tail = min(k.shape[2] % 16, 1)
    s = torch.nn.functional.pad(rows(q, k, 1.0, causal), (0, tail), value=-math.inf) * scale
    return lse(s).masked_fill((s == math.inf).any(dim=-1), math.nan)


def largest(s: torch.Tensor) -> torch.Tensor:
    """Of each row; -inf where there are no keys."""
    return torch.nn.functional.pad(s, (0, 1), value=-math.inf).amax(dim=-1)


def base_2_sum(s: torch.Tensor) -> torch.Tensor:
    top = largest(s)
    return top + torch.log2(torch.exp(s - top[..., None]).sum(dim=-1))


def exp2_for_exp(s: torch.Tensor) -> torch.Tensor:
    top = largest(s)
    return top + torch.log(torch.exp2(s - top[..., None]).sum(dim=-1))


def unscaled(s: torch.Tensor, block: int) -> torch.Tensor:
    """The sum so far stays as it is when the maximum rises."""
    top, total = largest(s[..., :0]), s[..., :0].sum(dim=-1)
    for tile in s.split(block, dim=-1):
        top = torch.maximum(top, largest(tile))
        total = total + torch.exp(tile - top.nan_to_num(neginf=0.0)[..., None]).sum(dim=-1)
    return top + torch.log(total)


def turned_over(s: torch.Tensor, block: int) -> torch.Tensor:
    """The sum so far is multiplied by the inverse of what it should be."""
    top, total = largest(s[..., :0]), s[..., :0].sum(dim=-1)
    for tile in s.split(block, dim=-1):
        new = torch.maximum(top, largest(tile))
        alpha = torch.where(top == -math.inf, 1.0, torch.exp(new - top))
        total = total * alpha + torch.exp(tile - new.nan_to_num(neginf=0.0)[..., None]).sum(dim=-1)
        top = new
    return top + torch.log(total)


def forgetful(s: torch.Tensor, block: int) -> torch.Tensor:
    """Maximum and sum start anew with each tile."""
    return lse(s.split(block, dim=-1)[-1])


def last_maximum(s: torch.Tensor, block: int) -> torch.Tensor:
    """The sum is moved to the maximum of each tile, also where that is -inf."""
    top, total = largest(s[..., :0]), s[..., :0].sum(dim=-1)
    for tile in s.split(block, dim=-1):
        shift = largest(tile).nan_to_num(neginf=0.0)
        total = total * torch.exp(top - shift) + torch.exp(tile - shift[..., None]).sum(dim=-1)
        top = largest(tile)
    return top + torch.log(total)


def ending(first_unread: Callable[[torch.Tensor, int], torch.Tensor], BLOCK_M: int, BLOCK_N: int) -> Wrong:
    """The logsumexp of someone whose loop, where causal, ends with the tile of the key before this one.

    `first_unread` gets the number of each query's tile and Sk - Sq.
    """

    def wrong(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
        s = rows(q, k, scale, causal)
        if not causal:
            return lse(s)
        tile = torch.arange(s.shape[2], device=s.device) // BLOCK_M
        end = first_unread(tile, s.shape[3] - s.shape[2]).clamp(min=0)
        end = (end + BLOCK_N - 1) // BLOCK_N * BLOCK_N
        return lse(s.masked_fill(torch.arange(s.shape[3], device=s.device) >= end[:, None], -math.inf))

    return wrong


def of_ends(BLOCK_M: int, BLOCK_N: int) -> dict[str, Wrong]:
    tiles = f"(tiles of {BLOCK_M} queries and {BLOCK_N} keys)"
    return {
        f"The loop over keys ends with key i for query i, but that sees keys up to i + Sk - Sq {tiles}.": (
            ending(lambda tile, offset: (tile + 1) * BLOCK_M, BLOCK_M, BLOCK_N)
        ),
        f"The loop ends with the keys of the tile's first query: its last one sees more {tiles}.": (
            ending(lambda tile, offset: tile * BLOCK_M + 1 + offset, BLOCK_M, BLOCK_N)
        ),
    }


def as_q(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    """Heads of a contiguous k found with the strides of q; of zeros where that leaves k."""
    strides = (*q.stride()[:2], *k.stride()[2:])
    last = sum((size - 1) * stride for size, stride in zip(k.shape, strides, strict=True))
    inside = k.is_contiguous() and q.is_contiguous() and 0 <= last < k.numel()
    return reference(q, k.as_strided(k.shape, strides) if inside else torch.zeros_like(k), scale, causal)


def of_dims(width: int) -> Wrong:
    return lambda q, k, scale, causal: reference(q[..., :width], k[..., :width], scale, causal)


def with_tail(q: torch.Tensor, k: torch.Tensor, scale: float, causal: bool, block: int) -> torch.Tensor:
    """Lanes past Sk count with score 0, unless a causal mask hides them."""
    s = rows(q, k, scale, causal)
    return lse(torch.nn.functional.pad(s, (0, 0 if causal else -s.shape[-1] % block)))


def of_tiles(block: int) -> dict[str, Wrong]:
    return {
        f"Lanes past the last key count with score 0, in tiles of {block}: exp(0) is 1. They need -inf.": (
            lambda q, k, scale, causal: with_tail(q, k, scale, causal, block)
        ),
        f"The sum is not rescaled when a tile of {block} keys brings a larger maximum.": of_scores(
            lambda s: unscaled(s, block)
        ),
        f"The rescaling goes the wrong way, in tiles of {block} keys: the old sum must shrink.": of_scores(
            lambda s: turned_over(s, block)
        ),
        f"The maximum is that of the last tile of {block} keys: keep the larger of it and the one so far.": (
            of_scores(lambda s: last_maximum(s, block))
        ),
        f"Only the last tile of {block} keys counts: carry maximum and sum along.": of_scores(
            lambda s: forgetful(s, block)
        ),
        f"Only the first {block} keys count: the others need more turns of the loop.": of_scores(
            lambda s: lse(s[..., :block])
        ),
        f"The last, partial tile of keys is left out: only whole tiles of {block} count.": of_scores(
            lambda s: lse(s[..., : s.shape[-1] // block * block])
        ),
        f"k stands still: every tile of {block} keys is the first one.": (
            lambda q, k, scale, causal: reference(
                q, k[:, :, torch.arange(k.shape[2], device=k.device) % block], scale, causal
            )
        ),
    }


BLOCKS = (128, 64, 32, 16)
SEES = "query i sees keys up to i + Sk - Sq, the last query all of them."
suspects: dict[str, Wrong] = {
    "The logarithm of the sum is in base 2: the natural one is tl.log.": of_scores(base_2_sum),
    "The result is in base 2, log2(e) times too large: multiply by ln(2) at the end.": (
        lambda q, k, scale, causal: reference(q, k, scale, causal) * math.log2(math.e)
    ),
    "exp2 takes the place of exp: its argument needs a factor log2(e).": of_scores(exp2_for_exp),
    "The maximum is not added back to the logarithm.": of_scores(lambda s: lse(s) - largest(s)),
    "The result is the maximum: the logarithm of the sum is missing.": of_scores(largest),
    "The result is the sum, not its logarithm.": of_scores(lambda s: torch.exp(s).sum(dim=-1)),
    "The scale is missing.": lambda q, k, scale, causal: reference(q, k, 1.0, causal),
    "The scale is applied twice.": lambda q, k, scale, causal: reference(q, k, scale * scale, causal),
    "The mask comes before the scale: -inf times a negative scale is +inf.": masked_before_scale,
    f"The causal mask is aligned top-left: {SEES}": of_mask(lambda Sq, Sk: 0),
    f"The causal mask hides one key too many: {SEES}": of_mask(lambda Sq, Sk: Sk - Sq - 1),
    f"The causal mask shows one key too many: {SEES}": of_mask(lambda Sq, Sk: Sk - Sq + 1),
    f"The causal mask is shifted the wrong way: {SEES}": of_mask(lambda Sq, Sk: Sq - Sk),
    "There is no causal mask: with causal=True a query sees no later keys.": of_mask(lambda Sq, Sk: None),
    f"The causal mask is turned over, earlier keys are hidden: {SEES}": flipped,
    "The mask is causal even where causal=False.": lambda q, k, scale, causal: reference(q, k, scale, True),
    "The heads of k are found with the strides of q: k has its own.": as_q,
    "Every head reads the keys of head 0: their pointers need the head's stride.": (
        lambda q, k, scale, causal: reference(q, k[:, :1], scale, causal)
    ),
    "Every sequence reads the keys of sequence 0: their pointers need the batch stride.": (
        lambda q, k, scale, causal: reference(q, k[:1], scale, causal)
    ),
    **{f"Only the first {w} dimensions of q and k enter the scores.": of_dims(w) for w in (16, 32, 64)},
    **{told: wrong for block in BLOCKS for told, wrong in of_tiles(block).items()},
    **{told: wrong for m in BLOCKS for n in BLOCKS for told, wrong in of_ends(m, n).items()},
}

challenge = Challenge(
    entry="attention_lse",
    inputs=inputs,
    reference=reference,
    returns=torch.float32,
    suspects=suspects,
    cases=[
        Case(B=1, H=1, Sq=16, Sk=16, D=16, causal=False),
        Case(B=1, H=1, Sq=16, Sk=16, D=16, causal=True),
        Case(B=2, H=3, Sq=9, Sk=12, D=16, causal=False),
        Case(B=0, H=2, Sq=8, Sk=8, D=16, causal=True),
        Case(B=2, H=3, Sq=0, Sk=70, D=64, causal=True),
        Case(B=2, H=3, Sq=70, Sk=0, D=64, causal=False),
        Case(B=2, H=3, Sq=70, Sk=0, D=64, causal=True),
        Case(B=1, H=2, Sq=15, Sk=31, D=33, causal=False),
        Case(B=3, H=2, Sq=17, Sk=17, D=7, causal=True),
        Case(B=1, H=1, Sq=1, Sk=130, D=64, causal=True),
        Case(B=1, H=1, Sq=1, Sk=131, D=64, causal=False),
        Case(B=1, H=2, Sq=63, Sk=63, D=64, causal=True),
        Case(B=1, H=2, Sq=64, Sk=64, D=64, causal=True),
        Case(B=2, H=1, Sq=65, Sk=65, D=64, causal=True),
        Case(B=2, H=1, Sq=20, Sk=100, D=80, causal=True),
        Case(B=2, H=1, Sq=30, Sk=77, D=96, causal=False),
        Case(B=1, H=2, Sq=67, Sk=80, D=32, causal=True),
        Case(B=1, H=2, Sq=80, Sk=67, D=32, causal=True),
        Case(B=1, H=2, Sq=100, Sk=20, D=48, causal=True),
        Case(B=1, H=1, Sq=150, Sk=1, D=20, causal=True),
        Case(B=1, H=2, Sq=31, Sk=30, D=20, causal=False, scale=-0.7),
        Case(B=1, H=2, Sq=31, Sk=40, D=20, causal=True, scale=-0.7),
        Case(B=1, H=2, Sq=21, Sk=40, D=20, causal=False, scale=0.0),
        Case(B=1, H=2, Sq=129, Sk=129, D=64, causal=True, dtype=HALF),
        Case(B=1, H=2, Sq=128, Sk=64, D=80, causal=False, dtype=HALF),
        Case(B=1, H=2, Sq=127, Sk=300, D=128, causal=True, dtype=HALF),
        Case(B=1, H=1, Sq=300, Sk=150, D=96, causal=True, dtype=BRAIN),
        Case(B=2, H=1, Sq=70, Sk=130, D=128, causal=False, dtype=BRAIN),
        Case(B=1, H=1, Sq=1, Sk=1, D=64, causal=True, values="negative"),
        Case(B=1, H=2, Sq=40, Sk=150, D=16, causal=False, values=CLIMBING),
        Case(B=2, H=1, Sq=150, Sk=150, D=16, causal=True, values=CLIMBING),
        Case(B=1, H=2, Sq=200, Sk=400, D=16, causal=False, values=CLIMBING, dtype=HALF),
        Case(B=2, H=1, Sq=40, Sk=100, D=16, causal=False, values=CLIMBING, scale=-1.0),
        Case(B=1, H=2, Sq=40, Sk=150, D=16, causal=False, hidden=70, values="minus_inf"),
        Case(B=1, H=2, Sq=150, Sk=150, D=16, causal=True, hidden=70, values="minus_inf"),
        Case(B=1, H=2, Sq=150, Sk=150, D=16, causal=True, hidden=130, values="minus_inf", dtype=HALF),
        Case(B=2, H=3, Sq=30, Sk=40, D=32, causal=True, layout=BSHD),
        Case(B=1, H=3, Sq=130, Sk=63, D=80, causal=False, layout=BSHD, dtype=HALF),
        Case(B=2, H=3, Sq=30, Sk=41, D=32, causal=False, layout=BSHD, q_layout="contiguous"),
        Case(B=2, H=2, Sq=30, Sk=40, D=48, causal=True, layout="transposed"),
        Case(B=2, H=2, Sq=30, Sk=40, D=48, causal=True, layout="sliced", dtype=HALF),
        Case(B=2, H=2, Sq=30, Sk=40, D=48, causal=False, layout="strided"),
        Case(B=2, H=2, Sq=30, Sk=40, D=50, causal=True, layout="offset", dtype=HALF),
        Case(B=3, H=2, Sq=30, Sk=40, D=32, causal=True, layout="expanded", q_layout="contiguous"),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=True, values="large"),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=False, values="heavy"),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=True, values="heavy", scale=-1.0),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=False, values="constant"),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=True, values="integers"),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=False, values="spike"),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, causal=True, values="nan"),
        Case(B=2, H=2, Sq=20, Sk=33, D=24, causal=True, calls=2),
        Case(B=300, H=256, Sq=1, Sk=20, D=16, causal=False, gpu=True),
        Case(B=2, H=16, Sq=2000, Sk=3001, D=128, causal=True, dtype=HALF, gpu=True),
    ],
    # 2.5 MiB of scores in fp16; as much as q, 0.07 MiB, is forgiven.
    memory=Memory(
        Case(B=1, H=1, Sq=1152, Sk=1152, D=32, causal=True, dtype=HALF),
        extra=lambda q, k, scale, causal: q.nbytes,
    ),
)
