"""Extra find_the_bug_flash: its bugs, and what goes wrong while they are mended."""

from tools.planted import Mistake

ACC = "acc * alpha[:, None]"
BLOCK_D = "BLOCK_D = triton.next_power_of_2(D)"
CAUSAL = "offs_m[:, None] + Sk - Sq"
DIVIDED = "tl.where(l_i == 0, 1.0, l_i)[:, None]"
END = "start_m + BLOCK_M + Sk - Sq"
TAIL = """\
        # Rows past the last key were loaded as 0, and so their scores are 0: no key may look like that.
        qk = tl.where((offs_n < Sk - start_n)[None, :], qk, -float("inf"))
"""

# What is swapped for what plants each; all of them together are the file that is handed out.
bugs = {
    "keys past the last one score 0 and count in the sum": {TAIL: ""},
    "columns of a head past 64 are neither read nor written": {
        "    # A head is taken whole, in a block that is a power of two.\n": "",
        BLOCK_D: "BLOCK_D = min(triton.next_power_of_2(D), 64)",
    },
    "the output so far is rescaled by the ratio of the sums, not by that of the maxima": {
        ACC: "acc * (l_i / l_new)[:, None]"
    },
    "causal queries are counted from the first key, not from the last": {
        END: "start_m + BLOCK_M",
        CAUSAL: "offs_m[:, None]",
    },
}

# fmt: off
mistakes = [
    Mistake("keys past the last one are hidden from the maximum, and not from the sum",
            {'Sk - start_n)[None, :], qk, -float("inf"))': "Sk - start_n)[None, :], qk, 0.0)"}, "is right"),
    Mistake("the diagonal moves, and the loop still ends where it did", {END: "start_m + BLOCK_M"},
            "the loop ends with key i"),
    Mistake("the loop goes on, and the diagonal stays where it was", {CAUSAL: "offs_m[:, None]"}, "top left"),
    Mistake("the diagonal moves the wrong way", {CAUSAL: "offs_m[:, None] + Sq - Sk"}, "wrong way round"),
    Mistake("acc is not rescaled at all", {ACC: "acc"}, "acc is not rescaled"),
    Mistake("heads of 128 are taken whole, and all others with them",
            {BLOCK_D: "BLOCK_D = 128", "(offs_d < D)[None, :], other": "(offs_d >= 0)[None, :], other"},
            "past the end of q"),
    Mistake("rows that see no key are divided by 0", {DIVIDED: "l_i[:, None]"}, "0 / 0"),
    Mistake("the maximum starts at -inf", {"(BLOCK_M,), LOWEST, tl": '(BLOCK_M,), -float("inf"), tl'},
            "see no key"),
]
