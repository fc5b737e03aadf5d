"""Loads and stores on 1-D blocks, the tile turned over by reshape and permute; wide tiles, 8 warps."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, M, N, sm, sn, tiles_m, BM: tl.constexpr, BN: tl.constexpr):
    tile = tl.program_id(axis=0)
    top = (tile % tiles_m).to(tl.int64) * BM
    left = (tile // tiles_m).to(tl.int64) * BN
    lane = tl.arange(0, BM * BN)
    i, j = top + lane // BN, left + lane % BN
    x = tl.load(x_ptr + i * sm + j * sn, mask=(i < M) & (j < N))
    turned = tl.reshape(tl.permute(tl.reshape(x, (BM, BN)), (1, 0)), (BM * BN,))
    i, j = top + lane % BM, left + lane // BM
    tl.store(y_ptr + j * M + i, turned, mask=(i < M) & (j < N))


def transpose(x: torch.Tensor) -> torch.Tensor:
    M, N = x.size()
    y = torch.zeros((N, M), dtype=x.dtype, device=x.device)
    BM, BN = 32, 128
    tiles_m = triton.cdiv(M, BM)
    kernel[lambda meta: (tiles_m * triton.cdiv(N, BN), 1, 1)](
        x, y, M, N, x.stride(0), x.stride(1), tiles_m, BM=BM, BN=BN, num_warps=8
    )
    return y
