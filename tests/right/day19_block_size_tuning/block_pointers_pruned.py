"""Linear + ReLU by block pointers, eight configs pruned by shared memory and size, a 2-D grid.

May have limits.
"""

import itertools

import torch
import triton
import triton.language as tl

configs = [
    triton.Config({"BM": bm, "BN": bn, "BK": 64}, num_stages=stages, num_warps=8 if bm * bn > 8192 else 4)
    for bm, bn, stages in itertools.product((64, 128), (64, 128), (3, 4))
] + [triton.Config({"BM": 32, "BN": 32, "BK": 32}, num_stages=3, num_warps=4)]


def early_config_prune(configs, named_args, **kwargs):
    x, m, n = named_args["X"], named_args["M"], named_args["N"]
    limit = 228 * 1024
    if x.is_cuda:
        limit = torch.cuda.get_device_properties(x.device).shared_memory_per_block_optin
    kept = []
    for config in configs:
        bm, bn, bk = config.kwargs["BM"], config.kwargs["BN"], config.kwargs["BK"]
        smem = (bm + bn) * bk * x.element_size() * config.num_stages
        if smem > limit or (x.element_size() == 4 and bm * bn > 4096):
            continue
        if bm > max(32, triton.next_power_of_2(m)) or bn > max(32, triton.next_power_of_2(n)):
            continue
        kept.append(config)
    return kept or configs[-1:]


@triton.autotune(configs, key=["M", "N", "K"], prune_configs_by={"early_config_prune": early_config_prune})
@triton.jit
def _linear_relu_fwd(
    X,
    W,
    B,
    Y,
    M,
    N,
    K,
    stride_xm,
    stride_xk,
    stride_wn,
    stride_wk,
    stride_b,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    m0 = tl.program_id(0) * BM
    n0 = tl.program_id(1) * BN
    px = tl.make_block_ptr(X, (M, K), (stride_xm, stride_xk), (m0, 0), (BM, BK), (1, 0))
    pw = tl.make_block_ptr(W, (K, N), (stride_wk, stride_wn), (0, n0), (BK, BN), (0, 1))
    pb = tl.make_block_ptr(B, (N,), (stride_b,), (n0,), (BN,), (0,))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        x = tl.load(px, boundary_check=(0, 1), padding_option="zero")
        w = tl.load(pw, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(x, w, acc, input_precision="ieee")
        px = tl.advance(px, (0, BK))
        pw = tl.advance(pw, (BK, 0))
    acc += tl.load(pb, boundary_check=(0,), padding_option="zero")[None, :].to(tl.float32)
    acc = tl.maximum(acc, 0.0, propagate_nan=tl.PropagateNan.ALL)
    py = tl.make_block_ptr(Y, (M, N), (N, 1), (m0, n0), (BM, BN), (1, 0))
    tl.store(py, acc.to(Y.dtype.element_ty), boundary_check=(0, 1))


def linear_relu(x, w, b):
    (M, K), N = x.shape, w.shape[0]
    y = x.new_empty((M, N))
    if y.numel() > 0:
        grid = lambda meta: (triton.cdiv(M, meta["BM"]), triton.cdiv(N, meta["BN"]))  # noqa: E731
        _linear_relu_fwd[grid](x, w, b, y, M, N, K, *x.stride(), *w.stride(), b.stride(0))
    return y
