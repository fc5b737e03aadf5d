"""Extra: a matmul whose programs compute several tiles side by side, as many as the caller says."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def strip_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    STRIP_N: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """A strip of c, BLOCK_M rows and STRIP_N columns, a program; BLOCK_N columns of it at a time."""
    # TODO 1: which rows are this program's, and where does its strip of columns begin?
    # TODO 2: go over the strip, BLOCK_N columns at a time. Most strips need one turn. Each has its own sums.
    # TODO 3: in each turn go along k, and add up in fp32. What do lanes past k have to hold?
    # TODO 4: write the columns of this turn.


def width_of(a: torch.Tensor, strip: int) -> int:
    """How many columns of a strip this GPU sums at a time."""
    # 128 x 256 sums are 128 registers of each of 256 threads; 128 x 512 would spill. Before Ampere, Triton
    # multiplies without matrix units, and factors take registers, too.
    ampere = not a.is_cuda or torch.cuda.get_device_capability(a.device) >= (8, 0)
    return min(strip, 256 if ampere else 64)


def piece_of(a: torch.Tensor, BLOCK_M: int, BLOCK_N: int) -> int:
    """How far three pieces of a and b may go along k, so that they fit into shared memory: 64 or 32."""
    frames = 3 * (BLOCK_M + BLOCK_N) * 64 * a.element_size()  # 144 KB for 128 x 256
    fits = not a.is_cuda or frames <= torch.cuda.get_device_properties(a.device).shared_memory_per_block_optin
    return 64 if fits else 32


def matmul_coarse(a: torch.Tensor, b: torch.Tensor, block: int, coarse: int) -> torch.Tensor:
    """Return a @ b as a new [m, n], for contiguous fp16 a[m, k] and b[k, n].

    A program computes `coarse` tiles of block x block side by side; block is 16, 32, 64 or 128, coarse 1, 2
    or 4.
    """
    m, n = a.shape[0], b.shape[1]
    c = torch.empty(m, n, dtype=a.dtype, device=a.device)
    # TODO 5: launch exactly one program for each strip, in pieces of width_of and piece_of.
    return c
