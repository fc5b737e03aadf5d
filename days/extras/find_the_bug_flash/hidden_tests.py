"""Extra find_the_bug_flash: day 32's forward pass with four bugs, all of them outside of one block of 64."""

from __future__ import annotations

from grader.challenge import Bug, Case, Challenge, Claim, Memory, Speed, between
from grader.challenge.formulas.attention import by_head, forward
from grader.challenge.formulas.attention_suspects import SUSPECTS
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.qkv_layouts import at, heads
from grader.challenge.formulas.sdpa import by_any, flash, flex


def inputs(case: Case, draw) -> tuple:
    """q, k, v, scale and causal; `lift` is added to every key: with negative queries, all scores fall."""
    q = heads(case, draw, "q", case.H, case.Sq)
    k, v = (heads(case, draw, which, case.H, case.Sk) for which in ("k", "v"))
    if "lift" in case:
        k += case.lift
    return q, k, v, case.get("scale", case.D**-0.5), case.causal


big = at(4096, 4096, 128, True, B=4, H=16, dtype=HALF)

# Each leaves the demonstration's one block of 64 in one way: fewer keys, a wider head, and so on.
tail = at(64, 50, 64)
wide = at(64, 64, 128, H=1)
blocks = at(64, 128, 32)
corner = at(32, 64, 64, True)

# Fixed before anything was measured: short sequences, too, where launches weigh most.
CLAIMED = [
    at(S, S, D, causal, B=4, H=16, dtype=HALF)
    for S in (1024, 4096, 16384)
    for D in (64, 128)
    for causal in (False, True)
]
SAYS = "flash attention in Triton is comparable to optimised implementations"
CLAIMS = [
    Claim(SAYS, CLAIMED, of_torch=0.8, backend="flash", torch=by_any),
    Claim(SAYS, CLAIMED, of_torch=0.8, backend="cudnn", torch=by_any),
    Claim(SAYS, CLAIMED, of_torch=0.8, backend="flex", torch=flex),
]

BUGS = [
    Bug(
        "keys past the last one score 0 and count in the sum",
        "masked lanes that are not neutral",
        witness=tail,
    ),
    Bug(
        "columns of a head past 64 are neither read nor written",
        "a block that is capped below the size",
        witness=wide,
    ),
    Bug(
        "the output so far is rescaled by the ratio of the sums, not by that of the maxima",
        "running state rescaled by another factor",
        witness=blocks,
    ),
    Bug(
        "causal queries are counted from the first key, not from the last",
        "an alignment that Sq = Sk does not show",
        witness=corner,
    ),
]

challenge = Challenge(
    entry="flash_forward",
    inputs=inputs,
    reference=by_head(forward),
    suspects=SUSPECTS,
    bugs=BUGS,
    claims=CLAIMS,
    cases=[
        at(64, 64, 64),
        at(96, 96, 64),
        at(48, 80, 32, True),
        at(64, 64, 64, True),
        tail,
        wide,
        blocks,
        corner,
        at(1, 1, 16),
        at(0, 5, 16),
        at(4, 0, 16),
        at(31, 33, 32),
        at(between(33, 47), between(130, 143), 80, H=1),
        at(17, 70, 96),
        at(130, 20, 16, B=2),
        at(65, 65, 32, True),
        at(1, 77, 64, True),
        at(70, 20, 32, True),
        at(129, 200, 128, True, H=1),
        at(between(18, 31), between(50, 63), 32, B=2),
        at(50, 64, 64, True, B=2, H=3, dtype=HALF),
        at(70, 150, 128, True, H=1, dtype=HALF),
        at(40, 60, 64, scale=0.5, dtype=HALF),
        at(40, 90, 96, dtype=BRAIN),
        at(129, 129, 32, True, H=1, dtype=BRAIN),
        at(20, 60, 32, True, scale=-0.4, demand="extreme_inputs"),
        at(20, 60, 32, True, scale=0.0, demand="extreme_inputs"),
        at(40, 40, 64, True, order="bshd", B=2, H=3, dtype=HALF),
        at(30, 50, 32, order="bhsd_bshd_hsbd", B=3),
        at(40, 70, 80, True, H=1, layout="sliced"),
        at(40, 70, 64, layout="offset", dtype=HALF),
        at(30, 40, 32, layout="expanded", B=2),
        at(30, 200, 32, values="negative", lift=25.0, dtype=HALF),
        at(30, 50, 32, values="spike", v_values="normal", dtype=HALF),
        at(30, 50, 32, values="large", scale=1e-7, dtype=HALF),
        at(60, 90, 64, True, values="heavy", scale=-1.0, dtype=BRAIN, demand="extreme_inputs"),
        at(20, 50, 32, values="constant", v_values="normal", scale=0.02),
        at(20, 50, 32, values="nan", k_values="normal", v_values="normal"),
        at(50, 60, 32, True, calls=2),
        at(2**20 + 5, 2**20 + 5, 128, True, H=20, dtype=HALF, huge=True),
        at(2100, 2100, 80, True, H=1, layout="far", dtype=HALF, huge=True),
    ],
    speed=Speed(
        big,
        moved=lambda q, k, v, scale, causal: 2 * q.nbytes + k.nbytes + v.nbytes,
        flops=lambda q, k, v, scale, causal: 2 * q.numel() * k.shape[2],
        of_torch=0.4,
        torch=flash,
    ),
    # Room for a few more numbers a query; the scores would be 45 times as much as q.
    memory=Memory(at(1600, 1600, 16, H=1), extra=lambda q, k, v, scale, causal: 4 * q.nbytes),
)
