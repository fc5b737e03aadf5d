"""Extra: right answers that store every third byte of a sector, or start a program for a handful of bytes."""

from tools.planted import Laggard

laggards = [
    # Every sector is written three times, a third of it at a time, and has left L2 in between.
    Laggard("a launch for each channel, which stores every third byte", file="channels.py"),
    # 1.6 million programs, each of four warps, of which three have nothing to do.
    Laggard("32 bytes a program", swap={"BLOCK = 2048": "BLOCK = 32"}),
]
