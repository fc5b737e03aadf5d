"""Extra: right answers whose intermediate results go through memory."""

from __future__ import annotations

from tools.planted import Laggard

BEFORE = "@triton.jit\ndef loss_kernel("
FORWARD = "        loss_kernel[(n_parts,)](logits, target, part, n, *ctx.numbers,"
BACKWARD = "        backward_kernel[(triton.cdiv(n, 1024),)](\n            dmean, logits, target,"
STORED = '''@triton.jit
def stored_kernel(x_ptr, target_ptr, ce_ptr, q_ptr, power_ptr, n, gamma, BLOCK: tl.constexpr):
    """Reads 8 bytes an element, writes 12."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    t = tl.load(target_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    ce, q, power, _, _ = terms(x, t, gamma)
    tl.store(ce_ptr + offs, ce, mask=mask)
    tl.store(q_ptr + offs, q, mask=mask)
    tl.store(power_ptr + offs, power, mask=mask)


'''
SUMMED = '''@triton.jit
def sum_kernel(loss_ptr, part_ptr, n, BLOCK: tl.constexpr):
    """Reads 4 bytes an element."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part_ptr + tl.program_id(0), tl.sum(tl.load(loss_ptr + offs, mask=offs < n, other=0.0), axis=0))


'''
SCALED = '''@triton.jit
def scale_kernel(dmean_ptr, slope_ptr, dx_ptr, n, BLOCK: tl.constexpr):
    """Reads 4 bytes an element, writes 4."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    slope = tl.load(slope_ptr + offs, mask=offs < n, other=0.0)
    tl.store(dx_ptr + offs, slope * (tl.load(dmean_ptr) / n), mask=offs < n)


'''
LAUNCH = """        stored = [torch.empty(n, dtype=torch.float32, device=logits.device) for _ in range(3)]
        stored_kernel[(triton.cdiv(n, 2048),)](
            logits, target, *stored, n, ctx.numbers[2], BLOCK=2048, num_warps=4
        )
"""
LOADED = """ce = tl.load(ce_ptr + offs, mask=mask, other=0.0)
    power = tl.load(power_ptr + offs, mask=mask, other=0.0)"""
SCALE = "        scale_kernel[(triton.cdiv(n, 2048),)](dmean, stored[2], dlogits, n, BLOCK=2048)\n"

laggards = [
    # 20 bytes an element to store two factors, 16 for their product, 4 for its sum, 12 backwards: 52 for 20.
    Laggard(
        "cross-entropy and modulator go through memory on the way forward",
        swap={
            BEFORE: STORED + SUMMED + BEFORE,
            FORWARD: LAUNCH + FORWARD.replace("(logits,", "(*stored, logits,").replace("part,", "stored[1],"),
            "        mean_kernel[(1,)]": "        sum_kernel[(n_parts,)](stored[1], part, n, BLOCK=1024)\n"
            "        mean_kernel[(1,)]",
            "tl.store(part_ptr + tl.program_id(0), tl.sum(tl.where(mask, loss, 0.0), axis=0))": (
                "tl.store(part_ptr + offs, loss, mask=mask)"
            ),
            "def loss_kernel(x_ptr,": "def loss_kernel(ce_ptr, q_ptr, power_ptr, x_ptr,",
            "ce, _, power, _, _ = terms(x, t, gamma)": LOADED,
        },
    ),
    # 8 forwards; 20 to store factors, 24 for their product, 8 for the upstream gradient's: 60 for 20.
    Laggard(
        "probability and modulator go through memory on the way back",
        swap={
            BEFORE: STORED + SCALED + BEFORE,
            BACKWARD: LAUNCH + BACKWARD.replace("dmean, ", "dmean, *stored, "),
            "target, dlogits, n, *ctx.numbers, n,": "target, stored[2], n, *ctx.numbers, n,",
            "slope * (tl.load(dmean_ptr) / count)": "slope",
            "        return dlogits,": SCALE + "        return dlogits,",
            "    dmean_ptr, x_ptr, target_ptr, dx_ptr, n,": (
                "    dmean_ptr, ce_ptr, q_ptr, power_ptr, x_ptr, target_ptr, dx_ptr, n,"
            ),
            "ce, q, power, against, low = terms(x, t, gamma)": (
                f"{LOADED}\n    q = tl.load(q_ptr + offs, mask=mask, other=0.0)\n"
                "    low = tl.sigmoid(-tl.abs(x))\n    against = tl.where(x > 0, 1 - t, t)"
            ),
        },
    ),
]
