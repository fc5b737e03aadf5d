"""Autotuned by the length: what the tuner tries is no launch of the call; pruned, and EVEN by a heuristic."""

import torch
import triton
import triton.language as tl


def configs():
    return [triton.Config({"BLOCK": b}, num_warps=w) for b in (512, 1024, 4096) for w in (4, 8)]


def fitting(configs, named_args, **_):
    return [config for config in configs if config.kwargs["BLOCK"] <= max(named_args["n"], 512)]


@triton.autotune(
    configs=configs(),
    key=["n"],
    prune_configs_by={"early_config_prune": fitting},
    restore_value=["out"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def kernel(alpha, x, y, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)
        if EVEN:
            tl.store(out + i, alpha * tl.load(x + i) + tl.load(y + i))
        else:
            inside = i < n
            tl.store(out + i, alpha * tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


def axpy(alpha, x, y, num_programs):
    out = torch.empty_like(x)
    kernel[(num_programs,)](alpha, x, y, out, x.numel())
    return out
