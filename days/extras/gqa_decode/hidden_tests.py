"""Extra: a decoding step of grouped heads, each key read once for its group, at 0.5 of a copy's rate."""

from __future__ import annotations

from grader.challenge import Case, Challenge, Memory, Speed, between
from grader.challenge.formulas.decoding import Rules, drawn
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS


def at(lengths: str, s: int, d: int, h: int, h_k: int, dtype=HALF, **more) -> Case:
    """One sequence for each length, as in 700+0+2x5; h query heads, h_k key heads, and room for s keys."""
    return Case(lengths=lengths, s=s, h=h, h_k=h_k, d=d, dtype=dtype, **more)


llama = at("16x8192", 8192, 128, 64, 8, dtype=BRAIN, gpu=True)

CASES = [
    at("16", 16, 16, 2, 1),
    at("1", 1, 16, 1, 1),
    at("5+3", 8, 32, 4, 2),
    at("0+4", 4, 16, 6, 2),
    at("3x0", 20, 32, 2, 1, stale=True),
    at("2x0", 0, 16, 4, 2),
    at("0x5", 20, 16, 4, 2),
    at("20+13", 20, 64, 3, 3),
    at("20+13", 20, 64, 16, 1, dtype=BRAIN),
    at("20+13", 20, 32, 12, 2, stale=True),
    at("20+13", 20, 32, 15, 5),
    at("9+20", 20, 16, 24, 12),
    at("1+0+2", 300, 64, 8, 4, dtype=BRAIN, stale=True),
    at("31+32+33", 40, 80, 4, 1, stale=True),
    at("63+65+64", 70, 96, 12, 2, dtype=BRAIN),
    at("96+48+160", 160, 64, 4, 2),
    at("127+129+128", 130, 128, 8, 2),
    at("255+257", 300, 256, 8, 1, dtype=BRAIN, stale=True),
    at("511+513", 520, 16, 4, 2),
    at("700", 700, 24, 7, 1),
    at("1+1000", 1000, 40, 6, 1, dtype=BRAIN, stale=True),
    at("1025+0+1023+7", 1030, 64, 8, 1),
    at("3+40+11", between(1900, 2000), 64, 6, 3),
    at("4099", 4099, 32, 8, 1),
    at("20x3", 5, 16, 2, 1),
    # More blocks than splits.
    at("1500+1", 1500, 128, 6, 1, dtype=BRAIN),
    at("90+200", 256, 64, 8, 2, scale=0.9),
    at("90+200", 256, 64, 8, 2, scale=-0.4, dtype=BRAIN, demand="extreme_inputs"),
    at("90+200", 256, 64, 8, 2, scale=-0.9, demand="extreme_inputs"),
    at("90+200", 256, 64, 8, 2, scale=0.0, demand="extreme_inputs"),
    # Scores climb or fall from key to key: every part has another maximum.
    at("1500+800", 1500, 64, 4, 1, rise=0.006, q_values="constant"),
    at("1500+800", 1500, 64, 4, 1, rise=-0.006, q_values="constant", dtype=BRAIN),
    # Scores around -500: a maximum that starts at 0 loses them all.
    at("700+3", 700, 32, 4, 2, q_values="constant", lift=-5.0, scale=1.0),
    at("1500+1100", 1500, 64, 4, 1, hidden=1000, demand="extreme_inputs"),
    at("2048+1024", 2048, 64, 4, 1, sink=7.0),
    # A score of -5e5 alone: in a lane that has no key -10,000 lies above it. Public kernels have -1e6 there.
    at("1+9", 16, 64, 4, 2, sink=-5e5, scale=0.25, dtype=BRAIN, demand="extreme_inputs"),
    at("1+9", 16, 64, 4, 2, sink=-5e6, scale=0.25, dtype=BRAIN, demand="extreme_inputs"),
    at("600+250", 600, 64, 6, 2, order="bhsd"),
    at("600+250", 600, 64, 4, 2, order="bhsd_bshd", dtype=BRAIN, stale=True),
    at("600+250", 600, 64, 4, 2, order="sbhd_bhsd"),
    at("300+120", 300, 64, 4, 2, layout="sliced"),
    at("300+120", 300, 64, 4, 2, layout="contiguous", v_layout="sliced", dtype=BRAIN),
    at("300+120", 300, 64, 4, 2, k_layout="padded", stale=True),
    at("300+120", 300, 64, 4, 2, layout="offset", stale=True),
    at("300+120", 300, 80, 8, 2, layout="expanded", dtype=BRAIN),
    at("500+300", 500, 32, 4, 2, values="heavy", v_values="normal", scale=0.01),
    at("500+300", 500, 32, 4, 2, values="large", v_values="normal", scale=1e-9, demand="extreme_inputs"),
    at("500+300", 500, 32, 4, 2, values="constant"),
    at("400+200", 400, 32, 4, 2, values="nan", k_values="normal", v_values="normal"),
    at("400+200", 400, 32, 4, 2, q_values="normal", k_values="normal", v_values="inf"),
    at("300+0+77", 300, 64, 4, 2, calls=2),
    at("4x8000+3x100", 8000, 128, 12, 2, dtype=BRAIN, gpu=True),
    at("2x1100001", 1_100_001, 256, 16, 8, dtype=BRAIN, huge=True),
    at("1300001", 1_300_001, 256, 48, 8, order="bhsd", huge=True),
    at("40000x1", 1, 256, 256, 16, huge=True),
    at("2x1100", 1100, 64, 4, 2, layout="far", dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="gqa_decode",
    inputs=drawn,
    reference=Rules(),
    suspects=SUSPECTS,
    no_host_reads=True,
    shown=at("20+13", 20, 32, 12, 2, stale=True),
    cases=CASES,
    speed=Speed(
        llama, moved=lambda q, k, v, *_: k.nbytes + v.nbytes, of_copy=0.5, rolled=(0, 1, 2), sweep=("s",)
    ),
    # Keys and values written out for each query head would be 600 outputs.
    memory=Memory(at("2x1500", 1500, 64, 8, 2), extra=lambda q, *_: 64 * q.nbytes),
)
