"""Extra write_the_test: what a test forgets or asks for in vain, and what the grader must say about it."""

from tools.planted import Mistake

SHAPES = "((0, 8), (1, 1), (5, 1), (3, 127), (3, 129), (2, 4099), (1, 16384), (1500, 3))"
REFUSED = "A right candidate is refused"

# fmt: off
mistakes = [
    Mistake("few shapes are tried", {SHAPES: "((3, 127), (3, 128), (3, 129))"}, "rows of one element"),
    Mistake("equal bits are asked for", {"off <= relative * wanted + smallest": "off == 0"}, REFUSED),
    Mistake("fp32 alone is tried, and never many rows",
            {"(torch.float32, torch.float16, torch.bfloat16)": "(torch.float32,)", ", (1500, 3))": ")"},
            "the number of rows"),
    Mistake("neither layouts nor the input nor what was returned earlier are looked at",
            {" or not y.is_contiguous()": "",
             "not torch.equal(x.nan_to_num(7.0), before.nan_to_num(7.0)) or ": "",
             "return all(close(y, x) for y, x in earlier)": "return True"},
            ("earlier calls", "what becomes of x", "how x lies in memory")),
    Mistake("the result is a tensor",
            {"return all(close(y, x) for y, x in earlier)": "return torch.tensor(True)"}, "a bool"),
    Mistake("the test itself raises", {"before = x.clone()": "before = x.klone()"}, "klone"),
    Mistake("whatever comes is right", {"    earlier = []": "    return True\n    earlier = []"},
            "taken for"),
]
