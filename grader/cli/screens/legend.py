"""The words of `track inspect`, for someone who meets them for the first time."""

from __future__ import annotations

from grader.cli.screens.terminal import Terminal

KINDS = {"load": "loads", "store": "stores", "atomic": "updates"}
LIMITS = {
    "memory": "memory: bytes from and to DRAM",
    "L2": "L2: bytes from and to this cache",
    "one program": "one program: the busiest is done last",
    "products": "products: tl.dot, and the work in between",
    "instructions": "instructions: as many as an SM issues a clock",
    "spills": "spills: registers that go to memory and back",
    "atomics": "atomics that queue for one address",
    "starts": "starting its programs",
}
WORDS = (
    ("predicted", "from counts and the GPU's data sheet; a measurement differs"),
    ("memory", "what has to come from or go to DRAM (HBM, in the lessons) at least, once each"),
    (
        "asks for",
        "what all lanes of all programs load or store; caches serve what comes again. "
        "~: a few programs stand for all, and some do more than others",
    ),
    ("bytes used", "memory moves in sectors of 32 bytes: the share of them that lanes ask for"),
    ("masked", "lanes that the mask holds back; their warp runs all the same"),
    ("limit", "what takes longest; all else hides behind it"),
    ("registers", "hold a thread's values, at most 255; what is too much is spilled to memory"),
    ("shared", "fast memory on an SM, in which the threads of a program exchange values"),
    ("occupancy", "warps (of 32 lanes) that an SM holds, of those it could: some wait, others work"),
    ("bytes a lane", "what one instruction moves for each lane: 16 at most, of elements side by side"),
    ("matrix", "instructions of the matrix units (Tensor Cores), on which tl.dot should run"),
    ("TMA", "the unit of newer GPUs that copies whole tiles for tensor descriptors"),
)


def meaning(terminal: Terminal, command: str, explain: bool) -> None:
    """What the words mean, or the command that says it."""
    terminal.line()
    if not explain:
        terminal.command(("What these words mean: ", "dim"), command)
    else:
        terminal.table(WORDS)
