"""Extra: right answers whose intermediate results go through memory."""

from tools.planted import Laggard

BEFORE = "@triton.jit\ndef loss_kernel("
FORWARD = "        loss_kernel[(n_parts,)](logits, target, part, n, *ctx.numbers,"
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
LAUNCH = """        stored = [torch.empty(n, dtype=torch.float32, device=logits.device) for _ in range(3)]
        stored_kernel[(triton.cdiv(n, 2048),)](
            logits, target, *stored, n, ctx.numbers[2], BLOCK=2048, num_warps=4
        )
"""
LOADED = """ce = tl.load(ce_ptr + offs, mask=mask, other=0.0)
    power = tl.load(power_ptr + offs, mask=mask, other=0.0)"""

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
    )
]
