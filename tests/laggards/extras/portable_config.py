"""Extra: right products whose tile is that of another GPU, or of none."""

from tools.planted import Laggard

laggards = [
    # 64 operations for each element read, 16 of c a thread, and each frame is waited for: 4.3 GB asked of L2.
    Laggard(
        "the T4's tile everywhere",
        swap={"if itemsize == 2 and capability >= 80:": "if False:"},
        unseen="it is predicted at 2.6 times our time, and slow begins at three times",
    ),
    # 32 operations for each element read: 8.6 GB asked of L2, where 128 x 256 tiles ask for 1.6.
    Laggard("tiles of 32 x 32", swap={"for choice in CONFIGS:": "for choice in CONFIGS[-1:]:"}),
]
