"""AdamW as a class with a fused step: int32 offsets, EVEN by heuristics, bias corrections as floats.

May have limits.
"""

import triton
import triton.language as tl


@triton.heuristics({"EVEN": lambda args: args["n_elements"] % args["BLOCK_SIZE"] == 0})
@triton.jit
def update_fn_kernel(
    p_ptr,
    grad_ptr,
    exp_avg_ptr,
    exp_avg_sq_ptr,
    n_elements,
    beta1,
    one_minus_beta1,
    beta2,
    one_minus_beta2,
    eps,
    decay,
    step_size,
    inv_sqrt_bc2,
    BLOCK_SIZE: tl.constexpr,
    EVEN: tl.constexpr,
):
    offs = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = None if EVEN else offs < n_elements
    p = tl.load(p_ptr + offs, mask=mask).to(tl.float32)
    grad = tl.load(grad_ptr + offs, mask=mask).to(tl.float32)
    m = tl.load(exp_avg_ptr + offs, mask=mask)
    v = tl.load(exp_avg_sq_ptr + offs, mask=mask)
    m = beta1 * m + one_minus_beta1 * grad
    v = beta2 * v + one_minus_beta2 * grad * grad
    p = p * decay - step_size * m / (tl.sqrt(v) * inv_sqrt_bc2 + eps)
    tl.store(p_ptr + offs, p.to(p_ptr.dtype.element_ty), mask=mask)
    tl.store(exp_avg_ptr + offs, m, mask=mask)
    tl.store(exp_avg_sq_ptr + offs, v, mask=mask)


class FusedAdamW:
    def __init__(self, lr, betas, eps, weight_decay):
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay

    def step(self, p, grad, exp_avg, exp_avg_sq, t):
        assert p.is_contiguous() and grad.is_contiguous()
        beta1, beta2 = self.betas
        n_elements = p.numel()
        if n_elements == 0:
            return
        grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)  # noqa: E731
        update_fn_kernel[grid](
            p,
            grad,
            exp_avg,
            exp_avg_sq,
            n_elements,
            beta1,
            1 - beta1,
            beta2,
            1 - beta2,
            self.eps,
            1 - self.lr * self.weight_decay,
            self.lr / (1 - beta1**t),
            (1 - beta2**t) ** -0.5,
            BLOCK_SIZE=1024,
        )


def adamw(param, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, step):
    FusedAdamW(lr, (beta1, beta2), eps, weight_decay).step(param, grad, exp_avg, exp_avg_sq, step)
