"""Day 28: attention without a tensor of Sq x Sk, and the bytes that such a tensor would cost."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from grader.challenge import Case, Challenge, Memory, Speed

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
        # Scores up to 10⁷, multiples of 2¹⁴ so that no sum of products rounds; or a few hundred.
        drawn["values"] = "integers" if "whole" in sizes and which != "v" else "normal"
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


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, float]:
    """q, k, v and scale; `gain` multiplies q and k, `rising` sorts the keys: scores grow, or fall."""
    q, k, v = (heads(case, draw, n, which) for n, which in ((case.Sq, "q"), (case.Sk, "k"), (case.Sk, "v")))
    if case.values == "negative":
        q.round_()  # so that no sum of products rounds, however large
    for x in (q, k):
        if "gain" in case and x.numel():
            x *= case.gain
    if "rising" in case:
        q.copy_(q.abs())
        k.copy_(k.sort(dim=2, descending=case.rising < 0).values)
    if "lookup" in case:
        as_dictionary(q, k)
    return q, k, v, case.get("scale", case.D**-0.5)


def attention(q, k, v, scale) -> torch.Tensor:
    return torch.softmax(q @ k.mT * scale, -1) @ v


def causal(q, k, v, scale) -> torch.Tensor:
    later = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).triu(1)
    return torch.softmax((q @ k.mT * scale).masked_fill(later, -torch.inf), -1) @ v


def undivided(q, k, v, scale) -> torch.Tensor:
    scores = q @ k.mT * scale
    return torch.exp(scores - scores.amax(-1, keepdim=True)) @ v


def math_backend(q, k, v, scale) -> torch.Tensor:
    """torch's attention by three steps; left to itself it would pick a fused kernel."""
    with sdpa_kernel(SDPBackend.MATH):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=scale)


def first_heads(x: torch.Tensor) -> torch.Tensor:
    return x[:, :1].expand(x.shape)


def with_strides_of(other: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """A contiguous x as it looks through the strides of another tensor; zeros where those lead out of it."""
    last = sum((size - 1) * step for size, step in zip(x.shape, other.stride(), strict=True))
    inside = x.is_contiguous() and 0 <= last < x.numel()
    return x.as_strided(x.shape, other.stride()) if inside else torch.zeros_like(x)


def whole_blocks(block: int) -> Callable[..., torch.Tensor]:
    """Attention that leaves out the last keys, unless they fill a block."""

    def wrong(q, k, v, scale) -> torch.Tensor:
        end = k.shape[2] // block * block
        return attention(q, k[:, :, :end], v[:, :, :end], scale) if end else NOTHING

    return wrong


def first_values(block: int) -> Callable[..., torch.Tensor]:
    """Attention whose every block of keys is given the values of the first."""
    return lambda q, k, v, scale: attention(q, k, v[:, :, torch.arange(k.shape[2]) % block], scale)


def last_values(block: int) -> Callable[..., torch.Tensor]:
    """Attention whose weighted sum is that of the last block of keys alone."""

    def wrong(q, k, v, scale) -> torch.Tensor:
        start = (k.shape[2] - 1) // block * block
        return torch.softmax(q @ k.mT * scale, -1)[..., start:] @ v[:, :, start:]

    return wrong


SCALE = "Scores are q · k · scale, with the scale once."

suspects = {
    f"The scale is missing. {SCALE}": lambda q, k, v, scale: attention(q, k, v, 1.0),
    f"The scale is applied twice. {SCALE}": lambda q, k, v, scale: attention(q, k, v, scale * scale),
    f"Scores are divided by the scale. {SCALE}": lambda q, k, v, scale: attention(q, k, v, 1 / scale),
    "The weights are not divided by their sum.": undivided,
    "There is no softmax: the scores themselves weigh v.": lambda q, k, v, scale: (q @ k.mT * scale) @ v,
    "The softmax runs over the queries: each query's weights, over the keys, must sum to 1.": (
        lambda q, k, v, scale: torch.softmax(q @ k.mT * scale, -2) @ v
    ),
    "The mask is causal, and today every query sees every key.": causal,
    "Every head reads the keys of head 0: add the head's stride.": lambda q, k, v, scale: attention(
        q, first_heads(k), v, scale
    ),
    "The keys are read with the strides of the queries: k has its own.": lambda q, k, v, scale: attention(
        q, with_strides_of(q, k), v, scale
    ),
    "Every head reads the values of head 0: add the head's stride.": lambda q, k, v, scale: attention(
        q, k, first_heads(v), scale
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
    **{
        f"Only the last block of {n} keys reaches the result: add to the accumulator.": last_values(n)
        for n in BLOCKS
    },
    "The keys are added up where the values belong.": lambda q, k, v, scale: attention(q, k, k, scale),
}


def attention_bytes(S: int, D: int, itemsize: int) -> int:
    return itemsize * (4 * S * D + 4 * S * S)


byte_suspects = {
    "The bytes are counted in elements: multiply by itemsize.": lambda S, D, itemsize: 4 * S * D + 4 * S * S,
    "Scores and weights are S x S both, and each is written once and read once: count four passes.": (
        lambda S, D, itemsize: itemsize * (4 * S * D + 2 * S * S)
    ),
    "Scores and weights are written and then read again: count the reads too.": (
        lambda S, D, itemsize: itemsize * (4 * S * D + S * S)
    ),
    "q, k, v and o have S x D elements each, and must be counted too.": (
        lambda S, D, itemsize: itemsize * 4 * S * S
    ),
    "Only q, k, v and o are counted: scores and weights pass through memory as well.": (
        lambda S, D, itemsize: itemsize * 4 * S * D
    ),
    "o is written: count four tensors of S x D.": lambda S, D, itemsize: itemsize * (3 * S * D + 4 * S * S),
}

big = Case(B=4, H=16, Sq=2048, Sk=2048, D=128, dtype=HALF)

attend = Challenge(
    entry="attention",
    inputs=inputs,
    reference=attention,
    suspects=suspects,
    cases=[
        Case(B=1, H=1, Sq=16, Sk=16, D=16),
        Case(B=1, H=1, Sq=1, Sk=1, D=16),
        Case(B=0, H=2, Sq=5, Sk=5, D=16),
        Case(B=2, H=3, Sq=0, Sk=5, D=16),
        Case(B=2, H=3, Sq=5, Sk=7, D=20),
        Case(B=3, H=2, Sq=7, Sk=5, D=24),
        Case(B=1, H=2, Sq=9, Sk=31, D=32),
        Case(B=1, H=2, Sq=9, Sk=32, D=32),
        Case(B=1, H=2, Sq=9, Sk=33, D=32),
        Case(B=1, H=1, Sq=63, Sk=65, D=64),
        Case(B=1, H=1, Sq=64, Sk=64, D=80),
        Case(B=1, H=2, Sq=31, Sk=33, D=96),
        Case(B=1, H=1, Sq=17, Sk=129, D=128),
        Case(B=1, H=1, Sq=129, Sk=17, D=40),
        Case(B=1, H=2, Sq=1, Sk=130, D=64),
        Case(B=1, H=1, Sq=2, Sk=1025, D=16),
        Case(B=1, H=1, Sq=40, Sk=40, D=16, scale=1.0),
        Case(B=1, H=1, Sq=20, Sk=70, D=32, scale=-0.5),
        Case(B=1, H=2, Sq=40, Sk=70, D=64, dtype=HALF),
        Case(B=1, H=2, Sq=150, Sk=40, D=80, dtype=HALF),
        Case(B=1, H=1, Sq=5, Sk=2048, D=32, dtype=HALF),
        Case(B=2, H=2, Sq=300, Sk=2047, D=128, dtype=HALF, gpu=True),
        Case(B=1, H=2, Sq=40, Sk=70, D=96, dtype=BRAIN),
        Case(B=1, H=1, Sq=50, Sk=150, D=128, dtype=BRAIN),
        Case(B=2, H=3, Sq=10, Sk=14, D=32, bshd=True),
        Case(B=2, H=2, Sq=14, Sk=80, D=80, bshd=True, dtype=HALF),
        Case(B=2, H=3, Sq=10, Sk=14, D=32, one_head=True),
        Case(B=1, H=2, Sq=20, Sk=200, D=32, values="large", rising=1, gain=4.0, dtype=HALF),
        Case(B=1, H=2, Sq=20, Sk=200, D=32, values="large", rising=-1, gain=4.0, dtype=HALF),
        Case(B=2, H=2, Sq=10, Sk=14, D=24, layout="sliced"),
        Case(B=2, H=2, Sq=12, Sk=70, D=80, layout="sliced", dtype=BRAIN),
        Case(B=2, H=2, Sq=10, Sk=14, D=32, layout="transposed"),
        Case(B=2, H=2, Sq=10, Sk=14, D=32, k_layout="transposed", dtype=HALF),
        Case(B=2, H=2, Sq=10, Sk=40, D=32, q_layout="sliced", v_layout="strided"),
        Case(B=2, H=2, Sq=10, Sk=14, D=32, layout="strided", k_layout="contiguous"),
        Case(B=3, H=2, Sq=8, Sk=9, D=32, layout="expanded"),
        Case(B=2, H=2, Sq=9, Sk=11, D=48, layout="offset", dtype=HALF),
        Case(
            B=1,
            H=2,
            Sq=30,
            Sk=70,
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
        Case(B=1, H=2, Sq=20, Sk=70, D=16, values="large", whole=True, gain=128.0, scale=0.25),
        Case(B=1, H=2, Sq=20, Sk=90, D=16, values="large", whole=True, gain=128.0, scale=0.25, dtype=HALF),
        Case(B=1, H=2, Sq=20, Sk=33, D=32, values="constant", v_values="normal"),
        Case(
            B=1,
            H=2,
            Sq=30,
            Sk=33,
            D=32,
            values="negative",
            k_values="constant",
            v_values="normal",
            gain=24.0,  # scores around -17,000: far below any mask that is merely small
            dtype=BRAIN,
        ),
        Case(B=1, H=2, Sq=20, Sk=33, D=32, values="heavy", dtype=HALF),
        Case(B=1, H=2, Sq=20, Sk=33, D=32, values="normal", v_values="spike"),
        Case(B=1, H=2, Sq=20, Sk=33, D=32, values="normal", q_values="nan"),
        Case(B=1, H=2, Sq=20, Sk=33, D=32, values="normal", v_values="nan"),
        Case(B=1, H=2, Sq=20, Sk=70, D=32, calls=2),
    ],
    speed=Speed(
        big,
        moved=lambda q, k, v, scale: 2 * q.nbytes + k.nbytes + v.nbytes,
        flops=lambda q, k, v, scale: 4 * q.numel() * k.shape[2],
        of_torch=1.5,
        torch=math_backend,
    ),
    # Room for some statistics of every query, and none for scores, which are 2.6 MB.
    memory=Memory(
        Case(B=1, H=1, Sq=1024, Sk=1280, D=16, dtype=HALF), extra=lambda q, k, v, scale: 8 * q.numel()
    ),
)

count = Challenge(
    entry="attention_bytes",
    inputs=lambda case, draw: (case.S, case.D, case.itemsize),
    reference=attention_bytes,
    suspects=byte_suspects,
    cases=[
        Case(S=1, D=1, itemsize=1),
        Case(S=2, D=3, itemsize=4),
        Case(S=64, D=64, itemsize=2),
        Case(S=1000, D=80, itemsize=2),
        Case(S=2048, D=128, itemsize=2),
        Case(S=4096, D=64, itemsize=4),
        Case(S=1 << 20, D=128, itemsize=2),
    ],
)

challenge = (attend, count)
