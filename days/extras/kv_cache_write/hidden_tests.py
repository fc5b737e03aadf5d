"""Extra: keys and values put into the slots of a cache, at 0.60 of a plain copy."""

from __future__ import annotations

from torch import Tensor

from grader.challenge import Case, Challenge, Own, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, written

QKV = Own("qkv")  # a part of what one product left: of a token, queries, keys and values side by side
HEADS = Own("heads")  # as [h, t, d]


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """key, value, both caches and a slot for each token, in any order.

    Every `skip`-th token has no slot, the first among them. `v_layout` and `v_values` say how value
    differs, and `times` makes key and value so much larger. As `qkv`, queries, keys and values of a token
    lie side by side; as `heads`, the tokens of a head lie together.
    """
    key, value = (_drawn(case, draw, which) for which in "kv")
    if "times" in case:
        key *= case.times
        value *= case.times
    beside = "offset" if case.layout == "offset" else "contiguous"
    caches = (
        draw(case.pages, case.page_size, case.h, case.d, layout=beside, values="normal") for _ in range(2)
    )
    n_slots = case.pages * case.page_size
    room = max(case.t, min(n_slots, 2**17))  # of a huge cache the last slots alone
    slots = draw.integers(case.t, low=-1, high=0)
    slots.copy_(draw.permutation(room)[: case.t] + (n_slots - room))
    if "skip" in case:
        slots[:: case.skip] = -1
    return key, value, *caches, slots


def _drawn(case: Case, draw, which: str) -> Tensor:
    """key or value [t, h, d]."""
    t, h, d = case.t, case.h, case.d
    layout, values = case.get(f"{which}_layout", case.layout), case.get(f"{which}_values")
    if layout == QKV:
        return draw(t, 4 * h, d, layout="contiguous", values=values)[:, 2 * h : 3 * h]
    if layout == HEADS:
        return draw(h, t, d, layout="contiguous", values=values).transpose(0, 1)
    return draw(t, h, d, layout=layout, values=values)


def plain(key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slots: Tensor) -> None:
    """torch's own indexed copies, in place as well; every token has a slot."""
    key_cache.flatten(0, 1).index_copy_(0, slots, key)
    value_cache.flatten(0, 1).index_copy_(0, slots, value)


def moved(key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slots: Tensor) -> int:
    return 2 * (key.nbytes + value.nbytes) + slots.nbytes


def at(t: int, h: int, d: int, pages: int = 5, page_size: int = 16, **more) -> Case:
    """t tokens of h heads, and a cache of so many pages."""
    return Case(t=t, h=h, d=d, pages=pages, page_size=page_size, **more)


llama = at(16384, 8, 128, pages=1024, dtype=BRAIN, gpu=True)

CASES = [
    at(8, 2, 8, pages=2, page_size=4),
    at(1, 1, 1, pages=1, page_size=1),
    at(0, 2, 8),
    at(1, 2, 8, skip=1),
    at(4, 1, 5, pages=3, page_size=2),
    at(12, 2, 8, pages=3, page_size=4, skip=2),
    at(7, 3, 20, skip=7),
    at(20, 2, 8, skip=20),
    at(9, 2, 16, skip=9),
    at(9, 2, 16, skip=1, dtype=HALF),
    at(between(66, 79), 2, 16),
    at(80, 2, 16, skip=5),
    at(40, 1, 33, pages=3, page_size=32),
    at(9, 7, 12, pages=9, page_size=1),
    at(33, 4, 24, pages=7, page_size=5, exact=True),
    at(6, 3, 80, dtype=HALF),
    at(6, 5, 96, dtype=BRAIN, skip=4),
    at(6, 8, 128, dtype=BRAIN, exact=True),
    at(3, 45, 64, pages=1),
    at(3, 17, 127, pages=1, dtype=HALF, skip=2),
    at(3, 29, 129, pages=1),
    at(2, 3, 256, pages=1, dtype=BRAIN),
    at(2, 2, 576, pages=1, dtype=BRAIN),
    at(2, 2, 1024, pages=1),
    at(130, 1, 7, pages=10, dtype=HALF, skip=7),
    at(1030, 1, 3, pages=65),
    at(10, 4, 32, layout=QKV),
    at(10, 4, 32, layout=QKV, dtype=BRAIN, skip=3),
    at(10, 4, 32, layout=HEADS),
    at(10, 6, 20, layout="contiguous", v_layout=HEADS, dtype=HALF),
    at(10, 4, 32, layout="contiguous", v_layout=QKV),
    at(10, 4, 32, layout=HEADS, v_layout="sliced", skip=4),
    at(10, 4, 32, layout="sliced", v_layout="padded", dtype=BRAIN),
    at(10, 4, 32, layout="offset"),
    at(10, 4, 32, layout="offset", dtype=HALF),
    at(10, 4, 32, layout="expanded", v_layout="contiguous"),
    at(10, 4, 32, layout="contiguous", v_layout="expanded", dtype=BRAIN),
    at(10, 4, 32, times=1e30, dtype=BRAIN, exact=True),
    at(10, 4, 32, values="large", dtype=HALF),
    at(10, 4, 32, values="inf", v_values="nan"),
    at(10, 4, 32, values="minus_inf", dtype=BRAIN, skip=3),
    at(10, 4, 32, values="zeros"),
    at(10, 4, 32, calls=2, skip=3),
    at(100_003, 2, 64, pages=7000, dtype=HALF, gpu=True, skip=3, demand="grid_axes"),
    # More tokens than a second axis takes; beyond 2**31 elements of keys, of heads, of the cache.
    at(530_001, 40, 128, pages=34_000, dtype=HALF, huge=True),
    at(530_001, 40, 128, pages=34_000, dtype=HALF, layout=HEADS, huge=True),
    at(9, 40, 128, pages=34_000, dtype=HALF, huge=True),
    at(2100, 4, 32, pages=140, layout="far", dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="kv_cache_write",
    inputs=inputs,
    reference=written,
    writes=(2, 3),
    no_host_reads=True,
    suspects=SUSPECTS,
    shown=at(12, 2, 8, pages=3, page_size=4, skip=2),
    cases=CASES,
    speed=Speed(llama, moved=moved, of_copy=0.60, torch=plain, sweep=("t", "pages")),
)
