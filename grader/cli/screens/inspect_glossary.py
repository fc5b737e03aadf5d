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
    "in turn": "loads and products that take turns: no tile is asked for ahead",
    "atomics": "atomics that queue for one address",
    "starts": "starting its programs",
}
WORDS = (
    ("predicted", "from counts and the GPU's data sheet; a measurement differs"),
    ("memory", "what must come from or go to DRAM (HBM, in the lessons), each byte counted once"),
    (
        "asks for",
        "what all lanes of all programs load or store; a cache answers when it is asked again. "
        "~: counted for a few programs; others do more or less",
    ),
    ("bytes used", "memory moves in sectors of 32 bytes: the share of them that lanes ask for"),
    ("masked", "lanes that the mask switches off; their warp runs anyway"),
    ("limit", "what takes longest; everything else runs at the same time"),
    ("registers", "hold a thread's values, at most 255; values that do not fit are spilled to memory"),
    ("shared", "fast memory on an SM, in which the threads of a program exchange values"),
    ("occupancy", "the warps (of 32 lanes) on an SM, of those it could hold: while some wait, others work"),
    ("bytes a lane", "what one instruction moves for each lane: at most 16, from elements side by side"),
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
