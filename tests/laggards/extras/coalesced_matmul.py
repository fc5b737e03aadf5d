"""Extra: right products whose lanes run across memory."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # 8.6 G loads of a, each a sector of 32 bytes for 4: 275 GB. The same loop along n took 2.0 ms, this 43.
    Laggard("the naive order, lanes along m", file="along_rows.py"),
    # 4.2 M programs, each with 2048 sectors of b for 2048 elements: 275 GB again.
    Laggard("one element of c a program", file="one_element.py"),
]
