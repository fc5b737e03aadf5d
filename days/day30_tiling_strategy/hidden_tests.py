"""Day 30: (q kᵀ · scale) v without a matrix of scores."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.challenge import Case, Challenge, Memory, Own

BSHD = Own("bshd")
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
    return draw(case.B, case.H, length, case.D, layout=layout, values=values)


def inputs(case: Case, draw) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, float]:
    """q, k, v and the scale, 1/√D unless given. With `swing` sums run far out, then most of the way back."""
    q = tensor(case, draw, "q", case.Sq)
    k, v = tensor(case, draw, "k", case.Sk), tensor(case, draw, "v", case.Sk)
    if case.get("swing"):
        v[:, :, case.Sk // 2 :] *= -0.75
    return q, k, v, case.get("scale", case.D**-0.5)


def product(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    return (q @ k.mT * scale) @ v


Wrong = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, float], torch.Tensor]


def of_keys(k_rows: Callable[[int], torch.Tensor], v_rows: Callable[[int], torch.Tensor]) -> Wrong:
    """The product of someone who takes these rows of k and these of v; each is asked with Sk."""
    return lambda q, k, v, scale: product(
        q, k[..., k_rows(k.shape[2]), :], v[..., v_rows(k.shape[2]), :], scale
    )


def of_tiles(block: int) -> dict[str, Wrong]:
    """What goes wrong from the second tile of keys on, for a kernel that takes so many at a time."""

    def last(length: int) -> torch.Tensor:
        return torch.arange(max(length - 1, 0) // block * block, length)

    def whole(length: int) -> torch.Tensor:
        return torch.arange(length // block * block)

    def first_again(length: int) -> torch.Tensor:
        return torch.arange(length) % block

    def doubled(length: int) -> torch.Tensor:
        """How often a key counts if each tile doubles what the tiles before gave."""
        tile = torch.arange(length) // block
        return 2.0 ** ((length - 1) // block - tile)

    return {
        f"Only the last tile of {block} keys counts: add its product to the sum of the tiles before.": (
            of_keys(last, last)
        ),
        f"Only the first {block} keys count: the others need more turns of the loop.": of_keys(
            lambda length: torch.arange(min(block, length)), lambda length: torch.arange(min(block, length))
        ),
        f"The sum so far is added twice with each tile of {block} keys: by tl.dot, and once more by +=.": (
            lambda q, k, v, scale: product(q, k, v * doubled(k.shape[2])[:, None].to(v), scale)
        ),
        f"The last, partial tile of keys is left out: only whole tiles of {block} count.": of_keys(
            whole, whole
        ),
        f"k stands still: each tile of {block} values is weighed with the scores of the first keys.": of_keys(
            first_again, torch.arange
        ),
        f"v stands still: the scores of each tile of {block} keys weigh the first values.": of_keys(
            torch.arange, first_again
        ),
    }


def of_dims(width: int) -> Wrong:
    return lambda q, k, v, scale: product(q[..., :width], k[..., :width], v, scale)


def as_q(q: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Contiguous x for someone who finds its heads with the strides of q; zeros where that leaves it."""
    strides = (*q.stride()[:2], *x.stride()[2:])
    last = sum((size - 1) * stride for size, stride in zip(x.shape, strides, strict=True))
    inside = x.is_contiguous() and q.is_contiguous() and 0 <= last < x.numel()
    return x.as_strided(x.shape, strides) if inside else torch.zeros_like(x)


def as_bshd(o: torch.Tensor) -> torch.Tensor:
    """What stands in o if it is written with the heads of a token side by side."""
    return o.transpose(1, 2).contiguous().view(o.shape)


suspects: dict[str, Wrong] = {
    "The scale is missing: the scores are multiplied by it before they meet v.": (
        lambda q, k, v, scale: (q @ k.mT) @ v
    ),
    "The scale is applied twice: once to q or to the scores is enough.": (
        lambda q, k, v, scale: product(q, k, v, scale * scale)
    ),
    "The scores are divided by the scale: multiply.": lambda q, k, v, scale: product(q, k, v, 1 / scale),
    "A softmax is taken of the scores: today there is none.": (
        lambda q, k, v, scale: torch.softmax(q @ k.mT * scale, dim=-1) @ v
    ),
    "Every head reads the keys of head 0: their pointers need the head's stride.": (
        lambda q, k, v, scale: product(q, k[:, :1], v, scale)
    ),
    "Every head reads the values of head 0: their pointers need the head's stride.": (
        lambda q, k, v, scale: product(q, k, v[:, :1], scale)
    ),
    "Every sequence reads the keys of sequence 0: their pointers need the batch stride.": (
        lambda q, k, v, scale: product(q, k[:1], v, scale)
    ),
    "Every sequence reads the values of sequence 0: their pointers need the batch stride.": (
        lambda q, k, v, scale: product(q, k, v[:1], scale)
    ),
    "The heads of k are found with the strides of q: k has its own, and so has v.": (
        lambda q, k, v, scale: product(q, as_q(q, k), v, scale)
    ),
    "The heads of v are found with the strides of q: v has its own, and so has k.": (
        lambda q, k, v, scale: product(q, k, as_q(q, v), scale)
    ),
    "The result is written as [B, S, H, D], the heads of a token side by side: it is [B, H, Sq, D].": (
        lambda q, k, v, scale: as_bshd(product(q, k, v, scale))
    ),
    "The keys come one later than their values, or one earlier: the offsets of k and v differ.": (
        lambda q, k, v, scale: product(q, k.roll(1, dims=2), v, scale)
    ),
    "Only the first Sq keys count: the loop over keys ends at Sk.": (
        lambda q, k, v, scale: product(q, k[:, :, : q.shape[2]], v[:, :, : q.shape[2]], scale)
    ),
    **{f"Only the first {w} dimensions of q and k enter the scores.": of_dims(w) for w in (16, 32, 64)},
    **{told: wrong for block in (128, 64, 32, 16) for told, wrong in of_tiles(block).items()},
}

challenge = Challenge(
    entry="tiled_attention_scores",
    inputs=inputs,
    reference=product,
    suspects=suspects,
    cases=[
        Case(B=1, H=1, Sq=16, Sk=16, D=16),
        Case(B=2, H=3, Sq=9, Sk=12, D=16),
        Case(B=0, H=2, Sq=8, Sk=8, D=16),
        Case(B=2, H=3, Sq=0, Sk=70, D=64),
        Case(B=2, H=3, Sq=60, Sk=0, D=64),
        Case(B=1, H=2, Sq=15, Sk=31, D=33),
        Case(B=3, H=2, Sq=17, Sk=16, D=7),
        Case(B=1, H=1, Sq=1, Sk=130, D=64),
        Case(B=1, H=2, Sq=63, Sk=15, D=64),
        Case(B=1, H=2, Sq=64, Sk=16, D=64),
        Case(B=2, H=1, Sq=65, Sk=17, D=64),
        Case(B=1, H=2, Sq=20, Sk=100, D=80),
        Case(B=2, H=1, Sq=100, Sk=37, D=96),
        Case(B=1, H=1, Sq=40, Sk=61, D=128),
        Case(B=2, H=2, Sq=33, Sk=45, D=100),
        Case(B=1, H=2, Sq=31, Sk=30, D=20, scale=-0.7),
        Case(B=1, H=2, Sq=127, Sk=63, D=64, dtype=HALF),
        Case(B=2, H=1, Sq=128, Sk=64, D=128, dtype=HALF),
        Case(B=1, H=2, Sq=129, Sk=65, D=80, dtype=HALF),
        Case(B=1, H=2, Sq=50, Sk=129, D=96, dtype=BRAIN),
        Case(B=2, H=1, Sq=70, Sk=63, D=128, dtype=BRAIN),
        Case(B=1, H=1, Sq=20, Sk=1000, D=64, dtype=HALF, values="negative", swing=True),
        Case(B=1, H=1, Sq=1, Sk=1, D=64, values="negative"),
        Case(B=2, H=2, Sq=30, Sk=1, D=9, values="negative"),
        Case(B=1, H=2, Sq=9, Sk=30, D=1, values="negative"),
        Case(B=2, H=2, Sq=30, Sk=40, D=32, layout=BSHD),
        Case(B=1, H=3, Sq=130, Sk=65, D=80, layout=BSHD, dtype=HALF),
        Case(B=2, H=2, Sq=30, Sk=31, D=32, layout=BSHD, q_layout="contiguous"),
        Case(B=2, H=2, Sq=30, Sk=17, D=32, layout=BSHD, v_layout="contiguous"),
        Case(B=2, H=2, Sq=30, Sk=40, D=48, layout="transposed"),
        Case(B=2, H=2, Sq=30, Sk=40, D=48, layout="sliced", dtype=HALF),
        Case(B=2, H=2, Sq=30, Sk=40, D=48, layout="strided"),
        Case(B=2, H=2, Sq=30, Sk=40, D=50, layout="offset", dtype=HALF),
        Case(B=3, H=2, Sq=30, Sk=20, D=32, layout="expanded", q_layout="contiguous"),
        Case(B=2, H=2, Sq=33, Sk=47, D=20, scale=0.5, values="integers", exact=True),
        Case(B=2, H=2, Sq=33, Sk=27, D=16, scale=-1.0, values="integers", dtype=HALF, exact=True),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, values="large"),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, values="heavy"),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, values="constant", q_values="normal", v_values="normal"),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, values="spike"),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, values="inf", q_values="normal", v_values="normal"),
        Case(B=1, H=2, Sq=20, Sk=50, D=24, values="nan"),
        Case(B=2, H=2, Sq=20, Sk=33, D=24, calls=2),
        Case(B=300, H=256, Sq=1, Sk=20, D=16, gpu=True),
        Case(B=2, H=16, Sq=2000, Sk=3001, D=128, dtype=HALF, gpu=True),
    ],
    # 2.5 MiB of scores; as much as q again, 0.07 MiB, is forgiven.
    memory=Memory(Case(B=1, H=1, Sq=1152, Sk=1152, D=32, dtype=HALF), extra=lambda q, k, v, scale: q.nbytes),
)
