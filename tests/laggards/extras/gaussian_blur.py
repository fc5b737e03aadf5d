"""Extra: right answers that do not take the weights apart, or go down the columns one by one."""

from tools.planted import Laggard

laggards = [
    # 289 loads and products an element for a radius of 8, not 34.
    Laggard("(2 * radius + 1)**2 products an element", file="whole_window.py"),
    # The 32 lanes of a warp read 4 bytes each in 32 rows: 1024 bytes of sectors for 128.
    Laggard(
        "a program of the second pass has one column",
        swap={"BLOCK_M, BLOCK_N = 16, 128": "BLOCK_M, BLOCK_N = 1024, 1"},
    ),
]
