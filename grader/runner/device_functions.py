"""Device functions a day asks for, made callable: a kernel of ours calls them and stores what they say.

The kernel says what the function answered; whether that is right is not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def _tile_map_kernel(out_ptr, num_pid_m, num_pid_n, tile: tl.constexpr, GROUP_M: tl.constexpr):
    pid = tl.program_id(0)
    pid_m, pid_n = tile(pid, num_pid_m, num_pid_n, GROUP_M)
    tl.store(out_ptr + 2 * pid, pid_m)
    tl.store(out_ptr + 2 * pid + 1, pid_n)


def _tile_map(tile: Any) -> Callable[..., torch.Tensor]:
    """`tile(pid, num_pid_m, num_pid_n, GROUP_M)` → its answers for every pid, int32 [pids, 2]."""

    def call(num_pid_m: int, num_pid_n: int, group_m: int) -> torch.Tensor:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        out = torch.empty(num_pid_m * num_pid_n, 2, dtype=torch.int32, device=device)
        _tile_map_kernel[(num_pid_m * num_pid_n,)](out, num_pid_m, num_pid_n, tile, GROUP_M=group_m)
        return out

    return call


PROBES: dict[str, Callable[[Any], Callable[..., Any]]] = {"tile_map": _tile_map}
