"""Extra: right answers that store what every token could keep in registers."""

from tools.planted import Laggard

BEFORE = "@triton.jit\ndef mean_kernel("
FORWARD = "        row_kernel[(n_rows,)](\n"
DELTA = "delta = tl.load(ref_ptr + at, mask=used, other=0.0) - logp"
RATIO = "ratio = tl.exp(logp - tl.load(old_ptr + at, mask=used, other=0.0))"
STORED = '''@triton.jit
def ratio_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """exp(a - b). Reads 8 bytes a token, writes 4."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, tl.exp(a - tl.load(b_ptr + offs, mask=offs < n, other=0.0)), mask=offs < n)


@triton.jit
def copy_kernel(a_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Reads 4 bytes a token, writes 4."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(a_ptr + offs, mask=offs < n, other=0.0), mask=offs < n)


'''
LAUNCH = """        n = logp.numel()
        ratios, scores, steps = (torch.empty_like(logp) for _ in range(3))
        grid = (triton.cdiv(n, 2048),)
        ratio_kernel[grid](logp, old_logp, scores, n, BLOCK=2048)
        copy_kernel[grid](scores, ratios, n, BLOCK=2048)
        ratio_kernel[grid](ref_logp, logp, steps, n, BLOCK=2048)
"""
EXTRA = "            ratios,\n            steps,\n"

laggards = [
    # 12 + 8 + 12 bytes a token for two exponentials, 21 for the loss, 17 backwards: 70 where 30 would do.
    Laggard(
        "ratios go through memory on the way forward",
        swap={
            BEFORE: STORED + BEFORE,
            FORWARD: LAUNCH + FORWARD + EXTRA,
            "def row_kernel(\n": "def row_kernel(\n    ratio_ptr,\n    step_ptr,\n",
            f"{RATIO}\n        {DELTA}\n        _, kept": (
                f"ratio = tl.load(ratio_ptr + at, mask=used, other=0.0)\n        {DELTA}\n"
                "        step = tl.load(step_ptr + at, mask=used, other=0.0)\n        _, kept"
            ),
            "beta * (tl.exp(delta) - delta - 1)": "beta * (step - delta - 1)",
        },
    )
]
