"""All four vectors in one argument, a tuple; a walk with tl.num_programs, and nothing specialised."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n", "lr", "wd"])
def kernel(tensors, n, lr, b1, b2, one_b1, one_b2, eps, wd, c1, c2, BLOCK: tl.constexpr):
    p_ptr, g_ptr, m_ptr, v_ptr = tensors
    for block in tl.range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        i = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        ok = i < n
        p = tl.load(p_ptr + i, ok, 0.0).to(tl.float32)
        g = tl.load(g_ptr + i, ok, 0.0).to(tl.float32)
        m = tl.load(m_ptr + i, ok, 0.0)
        v = tl.load(v_ptr + i, ok, 0.0)
        m = m + (g - m) * one_b1
        v = v * b2 + one_b2 * (g * g)
        p = p - p * (lr * wd)
        step = (m / c1) / (tl.sqrt(v / c2) + eps)
        tl.store(p_ptr + i, p - lr * step, ok)
        tl.store(m_ptr + i, m, ok)
        tl.store(v_ptr + i, v, ok)


def adamw(param, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, step):
    n = param.numel()
    if n == 0:
        return
    programs = min(triton.cdiv(n, 1024), 8 * 264)
    kernel[(programs,)](
        (param, grad, exp_avg, exp_avg_sq),
        n,
        lr,
        beta1,
        beta2,
        1 - beta1,
        1 - beta2,
        eps,
        weight_decay,
        1 - beta1**step,
        1 - beta2**step,
        BLOCK=1024,
    )
