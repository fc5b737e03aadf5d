"""Day 27: attention in three steps, scores, softmax and weighted sum, with and without a causal mask."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge import Case, Challenge

NOTHING = torch.tensor(torch.inf)  # no guess: it is the result of nobody
BLOCKS = (16, 32, 64, 128)  # that a learner may go along the keys in
HALF, BRAIN = torch.float16, torch.bfloat16


def heads(case: Case, draw, length: int, which: str) -> torch.Tensor:
    """q, k or v: [B, H, length, D].

    `q_layout`, `k_values` and the like say how one of them differs from the case. With `bshd` it lies in
    memory as [B, length, H, D]; with `one_head` all heads of k and v are the same memory.
    """
    sizes = case
    drawn = {"layout": sizes.get(f"{which}_layout"), "values": sizes.get(f"{which}_values")}
    if case.values == "large" and not drawn["values"]:
        # Scores of up to 10⁷, and yet no sum of their products rounds: multiples of 2¹⁴.
        drawn["values"] = "normal" if which == "v" else "integers"
    if "bshd" in sizes:
        return draw(case.B, length, case.H, case.D, **drawn).transpose(1, 2)
    if "one_head" in sizes and which != "q":
        return draw(case.B, 1, length, case.D, **drawn).expand(case.B, case.H, length, case.D)
    return draw(case.B, case.H, length, case.D, **drawn)


def as_dictionary(q: torch.Tensor, k: torch.Tensor) -> None:
    """Key j becomes the binary digits of j as ±1, every query one of the keys: weights of exactly 0 and 1."""
    digits = torch.arange(k.shape[2])[:, None] >> torch.arange(k.shape[3]) & 1
    asked = (7 * torch.arange(q.shape[2]) + 3) % k.shape[2]
    k.copy_((2 * digits - 1).expand(k.shape))
    q.copy_((2 * digits - 1)[asked].expand(q.shape))


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, float, bool]:
    """q, k, v, scale and causal; `gain` multiplies q and k, `lookup` makes of them a dictionary."""
    q, k, v = (heads(case, draw, n, which) for n, which in ((case.Sq, "q"), (case.Sk, "k"), (case.Sk, "v")))
    if case.values == "negative":
        q.round_()  # so that no sum of products rounds, however large
    for x in (q, k):
        if "gain" in case and x.numel():
            x *= case.gain
    if "lookup" in case:
        as_dictionary(q, k)
    return q, k, v, case.get("scale", case.D**-0.5), case.get("causal", False)


def visible(q: torch.Tensor, k: torch.Tensor, causal: bool, last: int | None = None) -> torch.Tensor:
    """Which keys each query sees, [Sq, Sk]: query i those up to i + last, or all."""
    every = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device)
    return every.tril(k.shape[2] - q.shape[2] if last is None else last) if causal else every


def softmax(scores: torch.Tensor, seen: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Over the keys that are seen; all 0 where that is none."""
    p = torch.softmax(scores.masked_fill(~seen, -torch.inf), dim)
    return p.masked_fill(~seen.any(dim, keepdim=True), 0.0)


def attention(q, k, v, scale, causal) -> torch.Tensor:
    return softmax(q @ k.mT * scale, visible(q, k, causal)) @ v


def slipped(by: int) -> Callable[..., torch.Tensor]:
    """Attention whose causal mask ends `by` keys further than it should."""
    return lambda q, k, v, scale, causal: (
        softmax(q @ k.mT * scale, visible(q, k, causal, k.shape[2] - q.shape[2] + by)) @ v
    )


def hidden_late(q, k, v, scale, causal) -> torch.Tensor:
    return (torch.softmax(q @ k.mT * scale, -1) * visible(q, k, causal)) @ v


def hidden_by_zero(q, k, v, scale, causal) -> torch.Tensor:
    return torch.softmax(q @ k.mT * scale * visible(q, k, causal), -1) @ v


def hidden_by_a_number(q, k, v, scale, causal) -> torch.Tensor:
    return torch.softmax((q @ k.mT * scale).masked_fill(~visible(q, k, causal), -1e9), -1) @ v


def unguarded(q, k, v, scale, causal) -> torch.Tensor:
    return torch.softmax((q @ k.mT * scale).masked_fill(~visible(q, k, causal), -torch.inf), -1) @ v


def rounded_scores(q, k, v, scale, causal) -> torch.Tensor:
    return softmax((q @ k.mT * scale).half().double(), visible(q, k, causal)) @ v


def no_maximum(q, k, v, scale, causal) -> torch.Tensor:
    e = torch.exp((q @ k.mT * scale).masked_fill(~visible(q, k, causal), -torch.inf).float()).double()
    total = e.sum(-1, keepdim=True)
    return (e / total.masked_fill(total == 0, 1.0)) @ v


def undivided(q, k, v, scale, causal) -> torch.Tensor:
    scores = (q @ k.mT * scale).masked_fill(~visible(q, k, causal), -torch.inf)
    return torch.exp(scores - scores.amax(-1, keepdim=True).clamp(min=-1e30)) @ v


def first_heads(x: torch.Tensor) -> torch.Tensor:
    return x[:, :1].expand(x.shape)


def with_strides_of(other: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """A contiguous x as it looks through the strides of another tensor; zeros where those lead out of it."""
    last = sum((size - 1) * step for size, step in zip(x.shape, other.stride(), strict=True))
    inside = x.is_contiguous() and 0 <= last < x.numel()
    return x.as_strided(x.shape, other.stride()) if inside else torch.zeros_like(x)


def whole_blocks(block: int) -> Callable[..., torch.Tensor]:
    """Attention whose weighted sum ends with the last whole block of keys."""

    def wrong(q, k, v, scale, causal) -> torch.Tensor:
        end = k.shape[2] // block * block
        return softmax(q @ k.mT * scale, visible(q, k, causal))[..., :end] @ v[:, :, :end] if end else NOTHING

    return wrong


def first_values(block: int) -> Callable[..., torch.Tensor]:
    """Attention whose every block of keys is given the values of the first."""
    return lambda q, k, v, scale, causal: attention(
        q, k, v[:, :, torch.arange(k.shape[2]) % block], scale, causal
    )


SCALE = "Scores are q · k · scale, with the scale once."
MASK = "The causal mask is off: query i sees keys up to i + Sk - Sq."
NONE = "A query that sees no key must give 0."

suspects = {
    f"The scale is missing. {SCALE}": lambda q, k, v, scale, causal: attention(q, k, v, 1.0, causal),
    f"The scale is applied twice. {SCALE}": lambda q, k, v, scale, causal: attention(
        q, k, v, scale * scale, causal
    ),
    f"Scores are divided by the scale. {SCALE}": lambda q, k, v, scale, causal: attention(
        q, k, v, 1 / scale, causal
    ),
    "causal is ignored: later keys take part.": lambda q, k, v, scale, causal: attention(
        q, k, v, scale, False
    ),
    "Keys are hidden even where causal is False.": lambda q, k, v, scale, causal: attention(
        q, k, v, scale, True
    ),
    f"{MASK} Yours is aligned at the top left, keys up to i.": lambda q, k, v, scale, causal: (
        softmax(q @ k.mT * scale, visible(q, k, causal, 0)) @ v
    ),
    f"{MASK} Yours shifts the other way, by Sq - Sk.": lambda q, k, v, scale, causal: (
        softmax(q @ k.mT * scale, visible(q, k, causal, q.shape[2] - k.shape[2])) @ v
    ),
    f"{MASK} Yours ends one key early: a query sees its own key too.": slipped(-1),
    f"{MASK} Yours goes one key too far.": slipped(1),
    f"{MASK} Yours hides the keys before and shows those after.": lambda q, k, v, scale, causal: (
        softmax(q @ k.mT * scale, ~visible(q, k, causal, k.shape[2] - q.shape[2] - 1) | (not causal)) @ v
    ),
    "The mask comes after the softmax: hidden keys still count in its sum. Hide the scores, with -inf.": (
        hidden_late
    ),
    "Hidden keys have a score of 0, and exp(0) is 1: they take part. Hide them with -inf.": hidden_by_zero,
    f"{NONE} Yours gives a mean of v: if all scores are the same large negative number, all count alike.": (
        hidden_by_a_number
    ),
    f"{NONE} Yours gives NaN: -inf - (-inf), or 0 / 0.": unguarded,
    "The scores overflow: past 65504 fp16 has only Inf. Keep them in fp32, whatever the dtype of q.": (
        rounded_scores
    ),
    "Large scores overflow: exp() of them is Inf, and Inf / Inf is NaN. Subtract the row's maximum first.": (
        no_maximum
    ),
    "The weights are not divided by their sum.": undivided,
    "There is no softmax: the scores themselves weigh v.": lambda q, k, v, scale, causal: (
        (q @ k.mT * scale * visible(q, k, causal)) @ v
    ),
    "The softmax runs over the queries: each row of scores, over the keys, must sum to 1.": (
        lambda q, k, v, scale, causal: softmax(q @ k.mT * scale, visible(q, k, causal), -2) @ v
    ),
    "Every head reads the keys of head 0: add the head's stride.": lambda q, k, v, scale, causal: attention(
        q, first_heads(k), v, scale, causal
    ),
    "The keys are read with the strides of the queries: k has its own.": lambda q, k, v, scale, causal: (
        attention(q, with_strides_of(q, k), v, scale, causal)
    ),
    "Every head reads the values of head 0: add the head's stride.": lambda q, k, v, scale, causal: attention(
        q, k, first_heads(v), scale, causal
    ),
    "Every head reads the queries of head 0: add the head's stride.": lambda q, k, v, scale, causal: (
        attention(first_heads(q), k, v, scale, causal)
    ),
    **{
        f"The last, partial block of keys is left out, if blocks are {n}: go on while a key is left.": (
            whole_blocks(n)
        )
        for n in BLOCKS
    },
    **{
        f"Every block of {n} weights meets the first {n} values: move the pointer on.": first_values(n)
        for n in BLOCKS
    },
    "The keys are added up where the values belong.": lambda q, k, v, scale, causal: attention(
        q, k, k, scale, causal
    ),
}

challenge = Challenge(
    entry="attention",
    inputs=inputs,
    reference=attention,
    suspects=suspects,
    cases=[
        Case(B=1, H=1, Sq=16, Sk=16, D=16),
        Case(B=1, H=1, Sq=16, Sk=16, D=16, causal=True),
        Case(B=1, H=1, Sq=1, Sk=1, D=16),
        Case(B=0, H=2, Sq=5, Sk=5, D=16),
        Case(B=2, H=3, Sq=0, Sk=5, D=16, causal=True),
        Case(B=2, H=3, Sq=5, Sk=7, D=20),
        Case(B=3, H=2, Sq=7, Sk=5, D=24, causal=True),
        Case(B=2, H=3, Sq=5, Sk=12, D=16, causal=True),
        Case(B=1, H=2, Sq=20, Sk=9, D=32, causal=True),
        Case(B=1, H=1, Sq=63, Sk=65, D=64),
        Case(B=1, H=1, Sq=65, Sk=63, D=64, causal=True),
        Case(B=1, H=1, Sq=64, Sk=64, D=80, causal=True),
        Case(B=1, H=2, Sq=31, Sk=33, D=96),
        Case(B=1, H=1, Sq=17, Sk=129, D=128),
        Case(B=1, H=1, Sq=129, Sk=17, D=40),
        Case(B=1, H=2, Sq=1, Sk=130, D=64, causal=True),
        Case(B=1, H=1, Sq=3, Sk=1025, D=16),
        Case(B=1, H=1, Sq=37, Sk=97, D=48, causal=True),
        Case(B=1, H=2, Sq=40, Sk=40, D=16, scale=1.0),
        Case(B=1, H=1, Sq=20, Sk=30, D=32, scale=-0.5, causal=True),
        Case(B=1, H=2, Sq=40, Sk=70, D=64, dtype=HALF),
        Case(B=1, H=2, Sq=70, Sk=40, D=80, dtype=HALF, causal=True),
        Case(B=1, H=1, Sq=20, Sk=600, D=32, dtype=HALF),
        Case(B=1, H=2, Sq=40, Sk=70, D=96, dtype=BRAIN, causal=True),
        Case(B=1, H=1, Sq=50, Sk=50, D=128, dtype=BRAIN),
        Case(B=2, H=3, Sq=10, Sk=14, D=32, bshd=True),
        Case(B=2, H=2, Sq=14, Sk=20, D=80, bshd=True, dtype=HALF, causal=True),
        Case(B=2, H=3, Sq=10, Sk=14, D=32, one_head=True),
        Case(B=2, H=2, Sq=10, Sk=14, D=24, layout="sliced"),
        Case(B=2, H=2, Sq=12, Sk=12, D=80, layout="sliced", dtype=BRAIN, causal=True),
        Case(B=2, H=2, Sq=10, Sk=14, D=32, layout="transposed"),
        Case(B=2, H=2, Sq=10, Sk=14, D=32, k_layout="transposed", dtype=HALF),
        Case(B=2, H=2, Sq=10, Sk=14, D=32, q_layout="sliced", v_layout="strided"),
        Case(B=2, H=2, Sq=10, Sk=14, D=32, layout="strided", k_layout="contiguous", causal=True),
        Case(B=3, H=2, Sq=8, Sk=9, D=32, layout="expanded"),
        Case(B=2, H=2, Sq=9, Sk=11, D=48, layout="offset", dtype=HALF),
        Case(
            B=1,
            H=2,
            Sq=30,
            Sk=40,
            D=16,
            values="large",
            v_values="integers",
            scale=64.0,
            lookup=True,
            exact=True,
        ),
        Case(
            B=1,
            H=1,
            Sq=20,
            Sk=90,
            D=80,
            values="large",
            v_values="integers",
            scale=64.0,
            lookup=True,
            exact=True,
            dtype=HALF,
        ),
        Case(B=1, H=2, Sq=20, Sk=40, D=16, values="large", gain=128.0, scale=0.25),
        Case(B=1, H=2, Sq=20, Sk=40, D=16, values="large", gain=128.0, scale=0.25, dtype=HALF),
        Case(B=1, H=2, Sq=20, Sk=33, D=32, values="constant", v_values="normal"),
        Case(
            B=1,
            H=2,
            Sq=20,
            Sk=33,
            D=32,
            values="negative",
            k_values="constant",
            v_values="normal",
            gain=128.0,
        ),
        Case(B=1, H=2, Sq=20, Sk=33, D=32, values="heavy", dtype=HALF, causal=True),
        Case(B=1, H=2, Sq=20, Sk=33, D=32, values="normal", v_values="spike"),
        Case(B=1, H=2, Sq=20, Sk=33, D=32, values="normal", q_values="nan"),
        Case(B=1, H=2, Sq=20, Sk=33, D=32, values="normal", v_values="nan"),
        Case(B=1, H=2, Sq=20, Sk=30, D=32, calls=2, causal=True),
    ],
)
