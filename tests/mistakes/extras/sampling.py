"""Extra: what goes wrong when tokens are drawn, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

CLAMPED = "wait = tl.minimum(tl.maximum(-tl.log(u), 1e-8), 100.0)"
COUNTERS = "first + start // 4 + tl.arange(0, BLOCK_N // 4)"
DRAW = f"tl.rand4x(seed, {COUNTERS})"
FIRST = "first = row * tl.cdiv(n_cols, 4)"
IDS = "ids = tl.where(score > best, cols, ids)"
LAUNCH = "        temperature,\n        seed,\n"
MASKED = 'mask=cols < n_cols, other=-float("inf")'
SCORE = "score = x.to(tl.float32) - temperature * tl.log(wait)"
START = 'best = tl.full((BLOCK_N,), -float("inf"), tl.float32)'
WALK = "for start in range(0, n_cols, BLOCK_N):"
WINNER = "winner = tl.min(tl.where(best == tl.max(best, axis=0), ids, n_cols), axis=0)"
WOVEN = "u = tl.interleave(tl.interleave(u0, u2), tl.interleave(u1, u3))"

mistakes = [
    Mistake(
        "every row draws by the same numbers",
        swap={FIRST: "first = row * 0"},
        fails="correct",
        says="the same random numbers",
    ),
    Mistake(
        "two rows share their numbers",
        swap={FIRST: "first = row // 2 * tl.cdiv(n_cols, 4)"},
        fails="correct",
        says="equal rows 1 apart draw goes together",
    ),
    Mistake(
        "every block of a row draws the same numbers",
        swap={DRAW: DRAW.replace(" + start // 4", "")},
        fails="correct",
        says="columns draw by the same random numbers",
        on_gpu="of 500 rows, not in",
    ),
    Mistake(
        "one of four numbers serves four columns",
        swap={WOVEN: "u = tl.interleave(tl.interleave(u0, u0), tl.interleave(u0, u0))"},
        fails="correct",
        says="columns draw by the same random numbers",
    ),
    Mistake(
        "no noise is added",
        swap={SCORE: "score = x.to(tl.float32)"},
        fails="correct",
        says="nothing random is added",
    ),
    Mistake(
        "the temperature is forgotten above 0",
        swap={SCORE: SCORE.replace("temperature *", "(temperature > 0).to(tl.float32) *")},
        fails="correct",
        says=("The temperature changes nothing", " rows, not in "),
    ),
    Mistake(
        "noise scaled by 1 / T",
        swap={SCORE: SCORE.replace("temperature *", "1 / tl.maximum(temperature, 1e-10) *")},
        fails="correct",
        says=("is right", "The temperature goes the wrong way"),
    ),
    Mistake(
        "logits over T, and noise times T",
        swap={SCORE: "score = x.to(tl.float32) / temperature - temperature * tl.log(wait)"},
        fails="correct",
        says="logits are divided by it",
    ),
    Mistake(
        "logits over T, which may be 0",
        swap={SCORE: "score = x.to(tl.float32) / temperature - tl.log(wait)"},
        fails="correct",
        says="At a temperature of 0 logits are divided by it",
    ),
    Mistake(
        "Gaussian noise of the same width",
        swap={
            SCORE: "score = x.to(tl.float32) + temperature * 1.2825498 * tl.randn(seed, row * n_cols + cols)"
        },
        fails="correct",
        says=("Gaussian noise, as wide as", " rows, not in "),
    ),
    Mistake(
        "Gaussian noise",
        swap={SCORE: "score = x.to(tl.float32) + temperature * tl.randn(seed, row * n_cols + cols)"},
        fails="correct",
        says=("plus Gaussian noise would come", " rows, not in "),
    ),
    Mistake(
        "one logarithm",
        swap={SCORE: "score = x.to(tl.float32) + temperature * wait"},
        fails="correct",
        says="logit - log(u)",
    ),
    Mistake(
        "one logarithm, of a number held well above 0",
        swap={
            CLAMPED: "wait = tl.minimum(tl.maximum(-tl.log(u), 1e-8), 40.0)",
            SCORE: "score = x.to(tl.float32) + temperature * wait",
        },
        fails="correct",
        says="logit - log(u)",
    ),
    Mistake(
        "places for whole runs of four alone",
        swap={FIRST: "first = row * (n_cols // 4)"},
        fails="correct",
        says="the same random numbers",
    ),
    Mistake(
        "u as it is",
        swap={SCORE: "score = x.to(tl.float32) + temperature * u"},
        fails="correct",
        says="logit + u",
    ),
    Mistake(
        "the noise is subtracted",
        swap={SCORE: SCORE.replace("- temp", "+ temp")},
        fails="correct",
        says="The noise is turned round",
    ),
    Mistake(
        "u = 0 is not thought of",
        swap={CLAMPED: "wait = tl.maximum(-tl.log(u), 1e-8)"},
        fails="correct",
        says="whose probability is",
    ),
    Mistake(
        "1 - u, and its 0 wins",
        swap={CLAMPED: "wait = -tl.log(1 - u)"},
        fails="correct",
        says="whose probability is",
    ),
    Mistake(
        "a column of -inf wins where u is 0",
        swap={CLAMPED: "wait = -tl.log(u)", SCORE: "score = x.to(tl.float32) - (temperature * tl.log(wait))"},
        fails="correct",
        says="whose probability is",
    ),
    Mistake(
        "lanes past the end hold 0",
        swap={MASKED: "mask=cols < n_cols, other=0.0"},
        fails="correct",
        says="its categories are 0 to",
    ),
    Mistake(
        "the id within its block",
        swap={IDS: "ids = tl.where(score > best, cols - start, ids)"},
        fails="correct",
        says="counted from the start of a block",
    ),
    Mistake(
        "only the first block is looked at",
        swap={WALK: "for start in range(0, BLOCK_N, BLOCK_N):"},
        fails="correct",
        says="Only the first 4096 columns",
    ),
    Mistake(
        "the last of equal logits within a lane",
        swap={IDS: "ids = tl.where(score >= best, cols, ids)"},
        fails="edges",
        says="only a larger one may replace it",
    ),
    Mistake(
        "the last of equal lanes",
        swap={WINNER: "winner = tl.max(tl.where(best == tl.max(best, axis=0), ids, 0), axis=0)"},
        fails="correct",
        says="Of equal logits the first must win",
    ),
    Mistake(
        "the lane of the maximum, not its column",
        swap={WINNER: "winner = tl.argmax(best, axis=0)"},
        fails="correct",
        says="counted from the start of a block",
    ),
    Mistake(
        "the best of negative logits starts at 0",
        swap={START: "best = tl.zeros((BLOCK_N,), tl.float32)"},
        fails="correct or edges",
        says="draws category 0",
    ),
    Mistake(
        "the row's number is added to the seed",
        swap={DRAW: "tl.rand4x(seed + row, start // 4 + tl.arange(0, BLOCK_N // 4))"},
        fails="edges",
        says="Seed + 1 draws what seed draws",
    ),
    Mistake(
        "the seed is added to the counter",
        swap={DRAW: f"tl.rand4x(0, seed + {COUNTERS})"},
        fails="edges",
        says="Seed + 1 draws what seed draws",
    ),
    Mistake(
        "the seed is a constant",
        swap={DRAW: f"tl.rand4x(7, {COUNTERS})"},
        fails="edges",
        says="does not reach",
    ),
    Mistake(
        "the seed is cut to 32 bits",
        swap={LAUNCH: LAUNCH.replace("seed,", "seed & 0xFFFFFFFF,")},
        fails="edges",
        says="upper bits",
    ),
    Mistake(
        "every call moves the seed on",
        swap={
            "import torch\nimport triton\n": "import itertools\n\nimport torch\nimport triton\n",
            "@triton.jit\n": "calls = itertools.count()\n\n\n@triton.jit\n",
            "    n_rows, n_cols =": "    seed += next(calls)\n    n_rows, n_cols =",
        },
        fails="edges",
        says="The same seed",
    ),
    Mistake(
        "rows are taken to be n_cols apart",
        swap={"logits_ptr + row * stride_m": "logits_ptr + row * n_cols"},
        fails="edges",
        says="stride",
    ),
    Mistake("ids of 32 bits", swap={"dtype=torch.int64": "dtype=torch.int32"}, fails="correct", says="int64"),
    Mistake(
        "torch takes the largest where nothing is drawn",
        swap={"    return ids": "    return ids if temperature else logits.argmax(dim=1)"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "the host asks whether a row has a finite logit",
        swap={"    n_rows, n_cols =": "    assert logits.isfinite().any().item()\n    n_rows, n_cols ="},
        fails="correct",
        says="on the host",
    ),
]
