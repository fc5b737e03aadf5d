"""GEMV by persistent programs over row blocks, a plain class as launcher, tl.range, int32 offsets."""

import torch
import triton
import triton.language as tl


@triton.jit
def _dot_rows(a_ptr, x_ptr, rows, row_mask, N, sm, sn, sx, BM: tl.constexpr, BN: tl.constexpr):
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, N, BN):
        cols = k + tl.arange(0, BN)
        mask = cols < N
        x = tl.load(x_ptr + cols * sx, mask=mask, other=0.0).to(tl.float32)
        a = tl.load(
            a_ptr + rows[:, None] * sm + cols[None, :] * sn, mask=row_mask[:, None] & mask[None, :], other=0.0
        )
        acc = tl.fma(a.to(tl.float32), tl.broadcast_to(x[None, :], (BM, BN)), acc)
    return tl.sum(acc, axis=1)


@triton.jit
def gemv_persistent(a_ptr, x_ptr, y_ptr, M, N, sm, sn, sx, BM: tl.constexpr, BN: tl.constexpr):
    num_tiles = tl.cdiv(M, BM)
    for tile in tl.range(tl.program_id(0), num_tiles, tl.num_programs(0)):
        rows = tile * BM + tl.arange(0, BM)
        mask = rows < M
        y = _dot_rows(a_ptr, x_ptr, rows, mask, N, sm, sn, sx, BM, BN)
        tl.store(y_ptr + rows, y.to(y_ptr.dtype.element_ty), mask=mask)


class Gemv:
    tiles = {"row": (2, 2048), "col": (128, 32)}

    @staticmethod
    def programs(device):
        sms = torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 64
        return 8 * sms

    def __call__(self, a, x):
        M, N = a.shape
        y = torch.empty(M, dtype=a.dtype, device=a.device)
        if M == 0:
            return y
        BM, BN = self.tiles["row" if a.stride(1) <= a.stride(0) else "col"]
        grid = (min(self.programs(a.device), triton.cdiv(M, BM)),)
        gemv_persistent[grid](a, x, y, M, N, *a.stride(), x.stride(0), BM=BM, BN=BN, num_warps=4)
        return y


matvec = Gemv()
