"""Day 29: what a merge of partial softmaxes gets wrong, and what the grader must say about it."""

from __future__ import annotations

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

mistakes = [
    Mistake(
        "a part that is empty on both sides gives NaN",
        swap={SHIFT: "m"},
        fails="edges",
        says="(-inf) - (-inf)",
    ),
    Mistake(
        "the factors come from a quotient of exponentials",
        swap={ALPHA1: "alpha1 = tl.exp(m1) / tl.exp(shift)"},
        fails="edges",
        says=("What is divided by, or what a logarithm", "Keep exponents from being positive"),
    ),
    Mistake(
        "only the first part is rescaled",
        swap={ALPHA2: "alpha2 = tl.exp(m2 - m2)"},
        fails="correct",
        says="Only part 1 is rescaled",
    ),
    Mistake(
        "only the second part is rescaled, as if the new keys always had the larger maximum",
        swap={ALPHA1: "alpha1 = tl.exp(m1 - m1)"},
        fails="correct",
        says="Only part 2 is rescaled",
    ),
    Mistake(
        "neither part is rescaled",
        swap={SUM: "l1 + l2", OUTPUT: "o = o1 + o2"},
        fails="correct",
        says="Neither part is rescaled",
    ),
    Mistake(
        "l is rescaled and o is not",
        swap={OUTPUT: "o = o1 + o2"},
        fails="correct",
        says="l is rescaled and o is",
    ),
    Mistake(
        "o is rescaled and l is not", swap={SUM: "l1 + l2"}, fails="correct", says="o is rescaled and l is"
    ),
    Mistake(
        "the factors are upside down",
        swap={ALPHA1: "alpha1 = tl.exp(shift - m1)", ALPHA2: "alpha2 = tl.exp(shift - m2)"},
        fails="correct",
        says="factors are upside down",
    ),
    Mistake(
        "one of the factors is upside down",
        swap={ALPHA2: "alpha2 = tl.exp(shift - m2)"},
        fails="correct",
        says="factor of part 2 is upside down",
    ),
    Mistake(
        "programs are counted as if each took eight rows",
        swap={GRID: "(triton.cdiv(n_rows, 8),)"},
        fails="correct",
        says="never written",
        at="triton.cdiv(n_rows, 8)",
    ),
    Mistake(
        "the factors have changed places",
        swap={ALPHA1: "alpha1 = tl.exp(m2 - shift)", ALPHA2: "alpha2 = tl.exp(m1 - shift)"},
        fails="correct",
        says="changed places",
    ),
    Mistake(
        "the second maximum is taken for the larger one",
        swap={"tl.maximum(m1, m2)": "m2"},
        fails="correct",
        says="larger of the two",
    ),
    Mistake(
        "exp2 takes the place of exp as it is",
        swap={ALPHA1: ALPHA1.replace("exp", "exp2"), ALPHA2: ALPHA2.replace("exp", "exp2")},
        fails="correct",
        says="log2(e)",
    ),
    Mistake(
        "o is divided by l",
        swap={OUTPUT: f"{OUTPUT}\n    o = o / ({SUM})[:, None]"},
        fails="correct",
        says="divided",
    ),
    Mistake(
        "the mask forgets the columns",
        swap={MASK: "mask = rows[:, None] & (offs_d < BLOCK_D)[None, :]"},
        fails="correct",
        says="past the end of",
    ),
    Mistake(
        "the mask forgets the rows",
        swap={MASK: "mask = (offs_m >= 0)[:, None] & (offs_d < D)[None, :]"},
        fails="correct",
        says="every lane through",
    ),
    Mistake(
        "the store of m has no mask",
        swap={"tl.store(m_ptr + offs_m, m, mask=rows)": "tl.store(m_ptr + offs_m, m)"},
        fails="correct",
        says="Unmasked store",
    ),
    Mistake(
        "the last, partial tile of rows gets no program",
        swap={GRID: "(n_rows // BLOCK_M,)"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "o has at most 64 columns",
        swap={"triton.next_power_of_2(D)": "64"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "o2 is read with the row stride of o1",
        swap={"offs_m[:, None] * stride_o2m": "offs_m[:, None] * stride_o1m"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "rows of o are taken to be D apart",
        swap={
            "offs_m[:, None] * stride_o1m": "offs_m[:, None] * D",
            "offs_m[:, None] * stride_o2m": "offs_m[:, None] * D",
        },
        fails="edges",
        says="stride",
    ),
    Mistake("the result overwrites o1", swap={ALLOCATION: "o = o1"}, fails="correct", says="input o1"),
    Mistake(
        "o comes first", swap={RETURN: "return o, m_i, l_i"}, fails="correct", says="return them in its order"
    ),
    Mistake("only o is returned", swap={RETURN: "return o"}, fails="correct", says="3 outputs"),
    Mistake(
        "torch finds the maxima",
        swap={
            "m_i = torch.empty(n_rows, dtype=torch.float32, device=o1.device)": "m_i = torch.maximum(m1, m2)"
        },
        fails="honest",
        says="torch",
    ),
    Mistake(
        "the last, partial tile of queries is not counted",
        swap={"tiles = triton.cdiv(S, block_m)": "tiles = S // block_m"},
        fails="correct",
        says="round up",
    ),
    Mistake(
        "elements are counted, not bytes",
        swap={COUNT: "S * D * (2 + 2 * tiles)"},
        fails="correct",
        says="itemsize",
    ),
    Mistake(
        "K and V are counted as one",
        swap={COUNT: "itemsize * S * D * (2 + tiles)"},
        fails="correct",
        says="two matrices",
    ),
    Mistake(
        "K and V are counted once for all tiles",
        swap={COUNT: "itemsize * S * D * 4"},
        fails="correct",
        says="every tile of queries",
    ),
    Mistake(
        "the bytes are printed, not returned",
        swap={f"return {COUNT}": f"print({COUNT})"},
        fails="correct",
        says="is right",
    ),
]
