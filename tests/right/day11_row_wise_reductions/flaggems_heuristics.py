"""Row statistics with tile heuristics as in operator libraries: 2-D tiles, a loop over columns, int32."""

import torch
import triton
import triton.language as tl


def heur_block_n(args):
    return min(triton.next_power_of_2(args["N"]), 4096)


def heur_block_m(args):
    return max(4096 // triton.next_power_of_2(args["N"]), 1)


@triton.heuristics({"BLOCK_N": heur_block_n, "BLOCK_M": heur_block_m})
@triton.jit
def row_stats_kernel(
    inp, mean, out_value, out_index, M, N, stride_m, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    pid_m = tl.program_id(0)
    m_offset = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    row_mask = m_offset < M
    acc = tl.zeros([BLOCK_M], dtype=tl.float32)
    max_values = tl.full([BLOCK_M], dtype=tl.float32, value=float("-inf"))
    argmax_values = tl.full([BLOCK_M], dtype=tl.int32, value=0)
    for start_n in range(0, N, BLOCK_N):
        n_offset = start_n + tl.arange(0, BLOCK_N)
        offset = m_offset[:, None] * stride_m + n_offset[None, :]
        mask = row_mask[:, None] & (n_offset[None, :] < N)
        vals = tl.load(inp + offset, mask=mask, other=-float("inf")).to(tl.float32)
        acc += tl.sum(tl.where(mask, vals, 0.0), axis=1)
        local_max, local_argmax = tl.max(vals, 1, return_indices=True, return_indices_tie_break_left=True)
        update = local_max > max_values
        max_values = tl.where(update, local_max, max_values)
        argmax_values = tl.where(update, start_n + local_argmax, argmax_values)
    tl.store(mean + m_offset, acc / N, mask=row_mask)
    tl.store(out_value + m_offset, max_values, mask=row_mask)
    tl.store(out_index + m_offset, argmax_values, mask=row_mask)


def row_stats(x):
    M, N = x.shape
    mean = torch.empty((M,), dtype=torch.float32, device=x.device)
    out_value = torch.empty((M,), dtype=x.dtype, device=x.device)
    out_index = torch.empty((M,), dtype=torch.int64, device=x.device)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]),)  # noqa: E731
    row_stats_kernel[grid](x, mean, out_value, out_index, M, N, x.stride(0), num_warps=8)
    return mean, out_value, out_index
