"""Extra: right answers that multiply what nobody sees, or load everything for a handful of queries."""

from tools.planted import Laggard

laggards = [
    # Half of the products are of keys that come later than every query of the block.
    Laggard("no block of keys is skipped", swap={"tl.minimum(S, start_m + BLOCK_M)": "S"}),
    # 16 queries for each turned key: 8 times the loads of k, v and both tables.
    Laggard("tiles of 16 queries", swap={"= 128, 64, 8\n": "= 16, 64, 4\n"}),
]
