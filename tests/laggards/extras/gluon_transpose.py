"""Extra: right transposes whose layouts move a sector for each element, or a few bytes at a time."""

from tools.planted import Laggard

UNSEEN = "its values need a GPU, and so does its time"

laggards = [
    # Neighbouring lanes store to unlike rows of y, 2 bytes each: a sector of 32 bytes for every element.
    Laggard("stored as it was read", swap={"READ, WRITE, num": "READ, READ, num"}, unseen=UNSEEN),
    # A lane has one element of a row of x, and stores it 2 bytes wide into a row of y of its own.
    Laggard("row by row", file="row_by_row.py", unseen=UNSEEN),
]
