"""Extra: right routings that sort by one program."""

from tools.planted import Laggard

laggards = [
    # Two walks along 2 million entries, 64 at a time, while the other SMs have nothing to do.
    Laggard("one program sorts all entries", file="one_program.py")
]
