"""Extra: right answers whose programs read too much, or wait for too little at a time."""

from __future__ import annotations

from tools.planted import Laggard

laggards = [
    # 16 programs a row, each of which reads all of it: 16 times the bytes.
    Laggard("every chunk's program reads the whole row", file="whole_rows.py"),
    # 64 bytes under way at a time in each of 4224 programs: far less than it takes to hide the wait.
    Laggard(
        "a warp a chunk, 32 columns a turn",
        swap={"min(max(chunk, 4), 8192)": "min(max(chunk, 4), 32)"},
    ),
]
