"""Extra: what goes wrong when tokens are drawn, and what the grader must say about it."""

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

# fmt: off
mistakes = [
    Mistake("every row draws by the same numbers", {FIRST: "first = row * 0"}, "the same random numbers"),
    Mistake("two rows share their numbers", {FIRST: "first = row // 2 * tl.cdiv(n_cols, 4)"},
            "equal rows 1 apart draw goes together"),
    Mistake("every block of a row draws the same numbers", {DRAW: DRAW.replace(" + start // 4", "")},
            "columns draw by the same random numbers", on_gpu="of 500 rows, not in"),
    Mistake("one of four numbers serves four columns",
            {WOVEN: "u = tl.interleave(tl.interleave(u0, u0), tl.interleave(u0, u0))"},
            "columns draw by the same random numbers"),
    Mistake("no noise is added", {SCORE: "score = x.to(tl.float32)"}, "nothing random is added"),
    Mistake("the temperature is forgotten above 0",
            {SCORE: SCORE.replace("temperature *", "(temperature > 0).to(tl.float32) *")},
            ("The temperature changes nothing", " rows, not in ")),
    Mistake("noise scaled by 1 / T",
            {SCORE: SCORE.replace("temperature *", "1 / tl.maximum(temperature, 1e-10) *")},
            ("is right", "The temperature goes the wrong way")),
    Mistake("logits over T, and noise times T",
            {SCORE: "score = x.to(tl.float32) / temperature - temperature * tl.log(wait)"},
            "logits are divided by it"),
    Mistake("logits over T, which may be 0", {SCORE: "score = x.to(tl.float32) / temperature - tl.log(wait)"},
            "At a temperature of 0 logits are divided by it"),
    Mistake(
        "Gaussian noise of the same width",
        {SCORE: "score = x.to(tl.float32) + temperature * 1.2825498 * tl.randn(seed, row * n_cols + cols)"},
        ("Gaussian noise, as wide as", " rows, not in "),
    ),
    Mistake("Gaussian noise",
            {SCORE: "score = x.to(tl.float32) + temperature * tl.randn(seed, row * n_cols + cols)"},
            ("plus Gaussian noise would come", " rows, not in ")),
    Mistake("one logarithm", {SCORE: "score = x.to(tl.float32) + temperature * wait"}, "logit - log(u)"),
    Mistake("u as it is", {SCORE: "score = x.to(tl.float32) + temperature * u"}, "logit + u"),
    Mistake("the noise is subtracted", {SCORE: SCORE.replace("- temp", "+ temp")},
            "The noise is turned round"),
    Mistake("1 - u, and its 0 wins", {CLAMPED: "wait = -tl.log(1 - u)"}, "whose probability is"),
    Mistake("lanes past the end hold 0", {MASKED: "mask=cols < n_cols, other=0.0"},
            "its categories are 0 to"),
    Mistake("the id within its block", {IDS: "ids = tl.where(score > best, cols - start, ids)"},
            "counted from the start of a block"),
    Mistake("only the first block is looked at", {WALK: "for start in range(0, BLOCK_N, BLOCK_N):"},
            "Only the first 4096 columns"),
    Mistake("the last of equal logits within a lane", {IDS: "ids = tl.where(score >= best, cols, ids)"},
            "only a larger one may replace it", fails="edges"),
    Mistake("the last of equal lanes",
            {WINNER: "winner = tl.max(tl.where(best == tl.max(best, axis=0), ids, 0), axis=0)"},
            "Of equal logits the first must win"),
    Mistake("the best of negative logits starts at 0", {START: "best = tl.zeros((BLOCK_N,), tl.float32)"},
            "draws category 0", fails="correct or edges"),
    Mistake("the row's number is added to the seed",
            {DRAW: "tl.rand4x(seed + row, start // 4 + tl.arange(0, BLOCK_N // 4))"},
            "Seed + 1 draws what seed draws", fails="edges"),
    Mistake("the seed is a constant", {DRAW: f"tl.rand4x(7, {COUNTERS})"}, "does not reach", fails="edges"),
    Mistake("the seed is cut to 32 bits", {LAUNCH: LAUNCH.replace("seed,", "seed & 0xFFFFFFFF,")},
            "upper bits", fails="edges"),
    Mistake("every call moves the seed on",
            {"import torch\nimport triton\n": "import itertools\n\nimport torch\nimport triton\n",
             "@triton.jit\n": "calls = itertools.count()\n\n\n@triton.jit\n",
             "    n_rows, n_cols =": "    seed += next(calls)\n    n_rows, n_cols ="}, "The same seed",
            fails="edges"),
    Mistake("rows are taken to be n_cols apart", {"logits_ptr + row * stride_m": "logits_ptr + row * n_cols"},
            "stride", fails="edges"),
    Mistake("ids of 32 bits", {"dtype=torch.int64": "dtype=torch.int32"}, "int64"),
]
