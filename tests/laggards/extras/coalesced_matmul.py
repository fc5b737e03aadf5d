"""Extra: right products whose lanes run across memory."""

from tools.planted import Laggard

laggards = [
    # 8.6 G loads of a, each a sector of 32 bytes for 4: 275 GB. The same loop along n took 2.0 ms, this 43.
    Laggard("the naive order, lanes along m", file="along_rows.py")
]
