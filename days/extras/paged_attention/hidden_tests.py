"""Extra: a decoding step over a cache in pages, which a table finds, at 0.4 of a copy's rate."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.decoding import drawn
from grader.challenge.formulas.draw_one_input import counts
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, paged_attention


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, float]:
    """q, both caches, the table, lengths and the scale: `drawn`'s keys and values, laid into pages.

    Pages are taken in any order, and `spare` of the cache are nobody's. Sequences have their first
    `common` pages in common. Where `stale`, NaN lies wherever no key is. `rise` is added to a key once
    for each key in front of it, `lift` to all of them. The first `hidden` keys have a score of -inf.
    `sink` makes an attention sink of the first key: its scores are so large, and all others are 0.
    """
    q, k, v, lengths, scale = drawn(case, draw)
    page_size, needs = case.page_size, [-(-n // case.page_size) for n in counts(case.lengths)]
    pages = sum(needs) + case.get("spare", 3)
    tables = draw.integers(len(needs), case.s // page_size, low=-1, high=0, dtype=torch.int32)
    beside = "offset" if case.layout == "offset" else "contiguous"
    shape = pages, page_size, case.h_k, case.d
    caches = [draw(*shape, layout=beside, values="normal") for _ in "kv"]
    if "stale" in case:
        for cache in caches:
            cache.fill_(torch.nan)
    order, begin = draw.permutation(pages), 0
    if any(needs):
        order = (order - order[sum(needs) - 1] - 1) % pages  # the last page that is taken is the cache's last
    for i, need in enumerate(needs):
        mine = order[begin : begin + need].clone()
        mine[: case.get("common", 0)] = order[: case.get("common", 0)][:need]
        tables[i, :need] = mine
        for cache, x in zip(caches, (k, v), strict=True):
            cache[mine] = x[i, : need * page_size].unflatten(0, (need, page_size))
        begin += need
    return q, *caches, tables, lengths, scale


def at(lengths: str, s: int, d: int, h: int, h_k: int, page_size: int = 16, dtype=HALF, **more) -> Case:
    """A sequence for each length, as in 700+0+2x5, and tables with pages enough for s keys."""
    return Case(lengths=lengths, s=s, page_size=page_size, h=h, h_k=h_k, d=d, dtype=dtype, **more)


served = at("16x1+16x2731+16x5461+16x8192", 8192, 128, 32, 8, dtype=BRAIN, spare=0, gpu=True)

CASES = [
    at("16", 16, 16, 2, 1),
    at("1", 16, 16, 1, 1),
    at("5+20", 32, 16, 2, 1),
    at("5+3", 16, 32, 4, 2),
    at("0+4", 32, 16, 6, 2, page_size=32),
    at("3x0", 32, 32, 2, 1, stale=True),
    at("2x0", 0, 16, 4, 2),
    at("0x5", 16, 16, 4, 2),
    at("17+48", 48, 64, 3, 3),
    at("20+13", 32, 64, 16, 1, dtype=BRAIN),
    at("20+33", 64, 32, 12, 2, page_size=32, stale=True),
    at("20+13", 32, 32, 15, 5),
    at("1+0+2", 320, 64, 8, 4, dtype=BRAIN, stale=True),
    at("31+32+33", 64, 80, 4, 1, stale=True),
    at("63+65+64", 96, 96, 12, 2, page_size=32, dtype=BRAIN),
    at("127+129+128", 144, 128, 8, 2),
    at("255+257", 320, 256, 8, 1, dtype=BRAIN, stale=True),
    at("511+513", 544, 16, 4, 2, page_size=32),
    at("512+496", 512, 64, 6, 1, stale=True),
    at("700", 704, 24, between(5, 9), 1),
    at("1+1000", 1008, 40, 6, 1, dtype=BRAIN, stale=True),
    at("1025+0+1023+7", 1040, 64, 8, 1),
    at("3+40+11", 2048, 64, 6, 3, page_size=32),
    at("4099", 4112, 32, 8, 1),
    at("20x3", 16, 16, 2, 1),
    at("200+150+163", 208, 64, 6, 2, common=9),
    at("200+150+163", 224, 64, 6, 1, page_size=32, common=4, stale=True, dtype=BRAIN),
    # More blocks than splits, and then more groups than those.
    at("600+6x5", 608, 256, 3, 3, dtype=BRAIN),
    at("1500+1", 1504, 128, 6, 1, dtype=BRAIN),
    at("90+200", 256, 64, 8, 2, scale=0.9),
    at("90+200", 256, 64, 8, 2, scale=-0.4, dtype=BRAIN, demand="extreme_inputs"),
    at("90+200", 256, 64, 8, 2, scale=-0.9, demand="extreme_inputs"),
    at("90+200", 256, 64, 8, 2, scale=0.0, demand="extreme_inputs"),
    # Scores climb or fall from key to key: every part has another maximum.
    at("1500+800", 1504, 64, 4, 1, rise=0.006, q_values="constant"),
    at("1500+800", 1504, 64, 4, 1, rise=-0.006, q_values="constant", dtype=BRAIN),
    # Scores around -500: a maximum that starts at 0 loses them all.
    at("700+3", 704, 32, 4, 2, q_values="constant", lift=-5.0, scale=1.0),
    at("9+20", 32, 16, 24, 12),
    at("1500+1100", 1504, 64, 4, 1, hidden=1000, demand="extreme_inputs"),
    at("2048+1024", 2048, 64, 4, 1, sink=7.0),
    # A score of -5e5 alone: in a lane that has no key -10,000 lies above it. Public kernels have -1e6 there.
    at("1+9", 16, 64, 4, 2, sink=-5e5, scale=0.25, dtype=BRAIN, demand="extreme_inputs"),
    at("1+9", 16, 64, 4, 2, sink=-5e6, scale=0.25, dtype=BRAIN, demand="extreme_inputs"),
    at("300+120", 304, 64, 4, 2, layout="offset", stale=True),
    at("300+120", 304, 80, 8, 2, layout="offset", dtype=BRAIN),
    at("500+300", 512, 32, 4, 2, values="heavy", v_values="normal", scale=0.01),
    at("500+300", 512, 32, 4, 2, values="large", v_values="normal", scale=1e-9, demand="extreme_inputs"),
    at("500+300", 512, 32, 4, 2, values="constant"),
    at("400+200", 400, 32, 4, 2, values="nan", k_values="normal", v_values="normal"),
    at("400+200", 400, 32, 4, 2, q_values="normal", k_values="normal", v_values="inf"),
    at("300+289+304", 304, 64, 4, 2, calls=2),
    at("4x8000+3x100", 8000, 128, 12, 2, dtype=BRAIN, gpu=True),
    at("2x40", 48, 256, 16, 8, spare=90_000, dtype=BRAIN, huge=True),
    at("9000x1", 16, 256, 1024, 64, huge=True),
]

challenge = Challenge(
    entry="paged_attention",
    inputs=inputs,
    reference=paged_attention,
    suspects=SUSPECTS,
    no_host_reads=True,
    shown=at("17+48", 48, 64, 3, 3),
    cases=CASES,
    speed=Speed(
        served, moved=lambda q, k, v, *_: k.nbytes + v.nbytes, of_copy=0.4, rolled=(0, 1, 2), sweep=("s",)
    ),
    # Keys and values gathered into one piece would be 150 outputs.
    memory=Memory(at("2x1500", 1504, 64, 8, 2), extra=lambda q, *_: 64 * q.nbytes),
)
