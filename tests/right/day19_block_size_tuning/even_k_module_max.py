"""Linear + ReLU as an nn.Module: EVEN_K below the tuner, int32, plain tl.maximum."""

import torch
import triton
import triton.language as tl


def _config(m, n, k, stages, warps):
    return triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_stages=stages, num_warps=warps)


CONFIGS = [
    _config(128, 256, 64, 3, 8),
    _config(256, 128, 64, 3, 8),
    _config(128, 128, 64, 3, 8),
    _config(128, 64, 64, 4, 4),
    _config(64, 64, 64, 4, 4),
    _config(32, 32, 64, 4, 4),
]


def prune(configs, nargs, **kwargs):
    most = max(16 * 64, 4 * nargs["M"] * nargs["N"])
    if nargs["x_ptr"].dtype == torch.float32:
        most = min(most, 64 * 64)
    return [c for c in configs if c.kwargs["BLOCK_M"] * c.kwargs["BLOCK_N"] <= most] or [configs[-1]]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"], prune_configs_by={"early_config_prune": prune})
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
@triton.jit
def _fused_linear(
    x_ptr,
    w_ptr,
    bias_ptr,
    y_ptr,
    M,
    N,
    K,
    stride_xm,
    stride_xk,
    stride_wn,
    stride_wk,
    stride_b,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    pid = tl.program_id(0)
    pid_m, pid_n = tl.swizzle2d(
        pid // tl.cdiv(N, BLOCK_N), pid % tl.cdiv(N, BLOCK_N), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), 8
    )
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    x_ptr += (rm % M)[:, None] * stride_xm + rk[None, :] * stride_xk
    w_ptr += (rn % N)[None, :] * stride_wn + rk[:, None] * stride_wk
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(K, 0, -BLOCK_K):
        if EVEN_K:
            x = tl.load(x_ptr)
            w = tl.load(w_ptr)
        else:
            x = tl.load(x_ptr, mask=rk[None, :] < k, other=0.0)
            w = tl.load(w_ptr, mask=rk[:, None] < k, other=0.0)
        acc += tl.dot(x, w, input_precision="ieee")
        x_ptr += BLOCK_K * stride_xk
        w_ptr += BLOCK_K * stride_wk
    bias = tl.load(bias_ptr + rn * stride_b, mask=rn < N, other=0.0)
    out = tl.maximum(acc + bias[None, :], 0.0)
    tl.store(y_ptr + rm[:, None] * N + rn[None, :], out, mask=(rm < M)[:, None] & (rn < N)[None, :])


class LinearReLU(torch.nn.Module):
    def forward(self, x, weight, bias):
        K = x.shape[-1]
        if x.dim() > 2:
            x = x.view(-1, K)
        M, N = x.shape[0], weight.shape[0]
        y = torch.empty((M, N), dtype=x.dtype, device=x.device)
        if M * N == 0:
            return y

        def grid(META):
            return (triton.cdiv(M, META["BLOCK_M"]) * triton.cdiv(N, META["BLOCK_N"]),)

        _fused_linear[grid](x, weight, bias, y, M, N, K, *x.stride(), *weight.stride(), bias.stride(0))
        return y


linear_relu = LinearReLU()
