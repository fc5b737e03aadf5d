"""Day 29: what a merge of partial softmaxes gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ALPHA1 = "alpha1 = tl.exp(m1 - shift)"
ALPHA2 = "alpha2 = tl.exp(m2 - shift)"
ALLOCATION = "o = torch.empty(n_rows, D, dtype=torch.float32, device=o1.device)"
COUNT = "itemsize * S * D * (2 + 2 * tiles)"
GRID = "(triton.cdiv(n_rows, BLOCK_M),)"
SUM = "l1 * alpha1 + l2 * alpha2"
MASK = "mask = rows[:, None] & (offs_d < D)[None, :]"
OUTPUT = "o = o1 * alpha1[:, None] + o2 * alpha2[:, None]"
RETURN = "return m_i, l_i, o"
SHIFT = 'tl.where(m == -float("inf"), 0.0, m)'

# fmt: off
mistakes = [
    Mistake("a part that is empty on both sides gives NaN", {SHIFT: "m"}, "(-inf) - (-inf)", fails="edges"),
    Mistake("the factors come from a quotient of exponentials",
            {ALPHA1: "alpha1 = tl.exp(m1) / tl.exp(shift)"},
            ("What is divided by, or what a logarithm", "Keep exponents from being positive"), fails="edges"),
    Mistake("only the first part is rescaled", {ALPHA2: "alpha2 = tl.exp(m2 - m2)"},
            "Only part 1 is rescaled"),
    Mistake("only the second part is rescaled, as if the new keys always had the larger maximum",
            {ALPHA1: "alpha1 = tl.exp(m1 - m1)"}, "Only part 2 is rescaled"),
    Mistake("neither part is rescaled", {SUM: "l1 + l2", OUTPUT: "o = o1 + o2"}, "Neither part is rescaled"),
    Mistake("l is rescaled and o is not", {OUTPUT: "o = o1 + o2"}, "l is rescaled and o is"),
    Mistake("o is rescaled and l is not", {SUM: "l1 + l2"}, "o is rescaled and l is"),
    Mistake("the factors are upside down",
            {ALPHA1: "alpha1 = tl.exp(shift - m1)", ALPHA2: "alpha2 = tl.exp(shift - m2)"},
            "factors are upside down"),
    Mistake("one of the factors is upside down", {ALPHA2: "alpha2 = tl.exp(shift - m2)"},
            "factor of part 2 is upside down"),
    Mistake("programs are counted as if each took eight rows", {GRID: "(triton.cdiv(n_rows, 8),)"},
            "never written", at="triton.cdiv(n_rows, 8)"),
    Mistake("the factors have changed places",
            {ALPHA1: "alpha1 = tl.exp(m2 - shift)", ALPHA2: "alpha2 = tl.exp(m1 - shift)"}, "changed places"),
    Mistake("the second maximum is taken for the larger one", {"tl.maximum(m1, m2)": "m2"},
            "larger of the two"),
    Mistake("exp2 takes the place of exp as it is",
            {ALPHA1: ALPHA1.replace("exp", "exp2"), ALPHA2: ALPHA2.replace("exp", "exp2")}, "log2(e)"),
    Mistake("o is divided by l", {OUTPUT: f"{OUTPUT}\n    o = o / ({SUM})[:, None]"}, "divided"),
    Mistake("the mask forgets the columns", {MASK: "mask = rows[:, None] & (offs_d < BLOCK_D)[None, :]"},
            "past the end of"),
    Mistake("the mask forgets the rows", {MASK: "mask = (offs_m >= 0)[:, None] & (offs_d < D)[None, :]"},
            "every lane through"),
    Mistake("the store of m has no mask",
            {"tl.store(m_ptr + offs_m, m, mask=rows)": "tl.store(m_ptr + offs_m, m)"}, "Unmasked store"),
    Mistake("o has at most 64 columns", {"triton.next_power_of_2(D)": "64"}, "never written"),
    Mistake("o2 is read with the row stride of o1",
            {"offs_m[:, None] * stride_o2m": "offs_m[:, None] * stride_o1m"}, "stride", fails="edges"),
    Mistake("the result overwrites o1", {ALLOCATION: "o = o1"}, "input o1"),
    Mistake("o comes first", {RETURN: "return o, m_i, l_i"}, "return them in its order"),
    Mistake("only o is returned", {RETURN: "return o"}, "3 outputs"),
    Mistake(
        "torch finds the maxima",
        {"m_i = torch.empty(n_rows, dtype=torch.float32, device=o1.device)": "m_i = torch.maximum(m1, m2)"},
        "torch",
        fails="honest",
    ),
    Mistake("the last, partial tile of queries is not counted",
            {"tiles = triton.cdiv(S, block_m)": "tiles = S // block_m"}, "round up"),
    Mistake("elements are counted, not bytes", {COUNT: "S * D * (2 + 2 * tiles)"}, "itemsize"),
    Mistake("K and V are counted as one", {COUNT: "itemsize * S * D * (2 + tiles)"}, "two matrices"),
    Mistake("K and V are counted once for all tiles", {COUNT: "itemsize * S * D * 4"},
            "every tile of queries"),
    Mistake("the bytes are printed, not returned", {f"return {COUNT}": f"print({COUNT})"}, "is right"),
]
