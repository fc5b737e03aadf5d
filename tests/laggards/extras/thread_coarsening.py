"""Extra: strips whose tiles share nothing."""

from tools.planted import Laggard

laggards = [
    # 64 x 256 in 16 turns: 64 * 16 * 2 operations for 80 elements, 26 an element, where the strip has 102.
    Laggard("a is read again for every 16 columns", swap={"BLOCK_N = width_of(a, strip)": "BLOCK_N = 16"})
]
