"""Extra: right answers that start a program for two elements."""

from tools.planted import Laggard

laggards = [
    # (Without a GPU they are larger.)
    Laggard(
        "a program for every pair of elements",
        swap={
            "BLOCK_D = min(triton.next_power_of_2(width), 1024)": "BLOCK_D = 2 if on_gpu else 1024",
            "BLOCK_T = 4096 // BLOCK_D": "BLOCK_T = 1 if on_gpu else 4",
            "def tiles(n_tokens: int, width: int)": "def tiles(n_tokens: int, width: int, on_gpu: bool)",
            "grid, shape = tiles(ids.numel(), width)\n        forward": (
                "grid, shape = tiles(ids.numel(), width, ids.is_cuda)\n        forward"
            ),
            "grid, shape = tiles(ids.numel(), width)\n        sides": (
                "grid, shape = tiles(ids.numel(), width, ids.is_cuda)\n        sides"
            ),
        },
    )
]
