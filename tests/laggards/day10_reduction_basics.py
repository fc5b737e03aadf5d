"""Day 10: right sums by one SM of a whole GPU, or by a queue for one address."""

from tools.planted import Laggard

laggards = [
    # One program reads 512 MB through one SM.
    Laggard("one program walks along the whole vector", file="one_program.py"),
    # A launch a halving: 2**27 elements are read once, but written and read again in full by every stage.
    Laggard("the vector is folded in half until one element is left", file="halving.py"),
]
