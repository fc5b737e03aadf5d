"""Extra: one query a sequence against a long cache, its keys split over programs, at 0.5 of a copy's rate."""

from __future__ import annotations

from grader.challenge import Case, Challenge, Speed, between
from grader.challenge.formulas.decoding import Rules, drawn
from grader.challenge.formulas.decoding_suspects import SUSPECTS
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.split_kv_suspects import of_splits


def at(lengths: str, s: int, d: int, h: int = 2, dtype=HALF, **more) -> Case:
    """One sequence for each length, as in 700+0+2x5; h heads, and room for s keys."""
    return Case(lengths=lengths, s=s, h=h, d=d, dtype=dtype, **more)


long = at("4x32768", 32768, 128, h=8, dtype=BRAIN, gpu=True)

CASES = [
    at("16", 16, 16, h=1),
    at("1", 1, 16, h=1),
    at("5+3", 8, 32),
    at("0+4", 4, 16),
    at("3x0", 20, 32, stale=True),
    at("2x0", 0, 16),
    at("0x5", 20, 16),
    at("1+0+2", between(290, 310), 64, dtype=BRAIN, stale=True),
    at("31+32+33", 40, 80, stale=True),
    at("63+65+64", 70, 96, dtype=BRAIN),
    at("96+48+160", 160, 64),
    at("127+129+128", 130, 128),
    at("255+257", 300, 256, h=1, dtype=BRAIN, stale=True),
    at("511+513", 520, 16),
    at("700", 700, 24, h=1),
    at("1+1000", 1000, 40, dtype=BRAIN, stale=True),
    at("1025+0+1023+7", 1030, 64, h=1),
    at("900+1023", 1030, 128, h=1, stale=True),
    at("3+40+11", between(1900, 2000), 64, h=1),
    at("4099", 4099, 32, h=1),
    at("9001", 9001, 16, h=1),
    at("20x3", 5, 16, h=1),
    # More blocks than splits.
    at("1500+1", 1500, 256, h=1, dtype=BRAIN),
    at("90+200", 256, 64, scale=0.9),
    at("90+200", 256, 64, scale=-0.4, dtype=BRAIN, demand="extreme_inputs"),
    at("90+200", 256, 64, scale=-0.9, demand="extreme_inputs"),
    at("90+200", 256, 64, scale=0.0, demand="extreme_inputs"),
    # Scores climb or fall from key to key: every part has another maximum.
    at("1500+800", 1500, 64, h=1, rise=0.006, q_values="constant"),
    at("1500+800", 1500, 64, h=1, rise=-0.006, q_values="constant", dtype=BRAIN),
    # Scores around -500: a maximum that starts at 0 loses them all.
    at("700+3", 700, 32, q_values="constant", lift=-5.0, scale=1.0),
    at("1500+1100", 1500, 64, h=1, hidden=1000, demand="extreme_inputs"),
    at("2048+1024", 2048, 64, h=1, sink=7.0),
    # A score of -5e5 alone: in a lane that has no key -10,000 lies above it. Public kernels have -1e6 there.
    at("1+9", 16, 64, sink=-5e5, scale=0.25, dtype=BRAIN, demand="extreme_inputs"),
    at("1+9", 16, 64, sink=-5e6, scale=0.25, dtype=BRAIN, demand="extreme_inputs"),
    at("600+250", 600, 64, order="bhsd"),
    at("600+250", 600, 64, order="bhsd_bshd", dtype=BRAIN, stale=True),
    at("600+250", 600, 64, order="sbhd_bhsd"),
    at("300+120", 300, 64, layout="sliced"),
    at("300+120", 300, 64, layout="contiguous", v_layout="sliced", dtype=BRAIN),
    at("300+120", 300, 64, k_layout="padded", stale=True),
    at("300+120", 300, 64, layout="offset", stale=True),
    at("300+120", 300, 80, layout="expanded", dtype=BRAIN),
    at("500+300", 500, 32, values="heavy", v_values="normal", scale=0.01),
    at("500+300", 500, 32, values="large", scale=1e-9, demand="extreme_inputs"),
    at("500+300", 500, 32, values="constant"),
    at("400+200", 400, 32, values="nan", k_values="normal", v_values="normal"),
    at("400+200", 400, 32, q_values="normal", k_values="normal", v_values="inf"),
    at("300+0+77", 300, 64, calls=2),
    at("4x20000+3x100", 20000, 128, h=2, dtype=BRAIN, gpu=True),
    at("2x1100001", 1_100_001, 256, h=8, dtype=BRAIN, huge=True),
    at("1300001", 1_300_001, 256, h=8, order="bhsd", huge=True),
    at("40000x1", 1, 256, h=256, huge=True),
    at("2x1100", 1100, 64, h=2, layout="far", dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="decode_attention",
    inputs=drawn,
    reference=Rules(),
    suspects={**SUSPECTS, **of_splits(32)},
    no_host_reads=True,
    shown=at("63+65+64", 70, 96, dtype=BRAIN),
    cases=CASES,
    speed=Speed(
        long, moved=lambda q, k, v, *_: k.nbytes + v.nbytes, of_copy=0.5, rolled=(0, 1, 2), sweep=("s",)
    ),
)
