"""Extra: what a fused AdamW gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

G = "g = tl.load(grad_ptr + offs, mask=mask, other=0.0).to(tl.float32)\n"
M = "m = beta1 * m + share1 * g"
MOVED = "rate * (m / (tl.sqrt(v) * correction + eps))"
P = f"p = p * decay - {MOVED}"
STORE_M = "tl.store(exp_avg_ptr + offs, m, mask=mask)"
STORE_P = "tl.store(param_ptr + offs, p, mask=mask)"
STORE_V = "tl.store(exp_avg_sq_ptr + offs, v, mask=mask)"
V = "v = beta2 * v + share2 * g * g"

# fmt: off
mistakes = [
    Mistake("weight decay is added to the gradient",
            {G: f"{G}    g += decay * p\n", "1 - lr * weight_decay": "weight_decay",
             P: P.replace(" * decay", "")}, "an L2 term"),
    Mistake("weight decay is left out", {"p * decay": "p"}, "Weight decay is left out"),
    Mistake("weight decay lacks lr", {"1 - lr * weight_decay": "1 - weight_decay"}, "lacks lr"),
    Mistake("there is no bias correction",
            {"lr / (1 - beta1**step)": "lr", "1 / math.sqrt(1 - beta2**step)": "1.0"},
            "bias corrections are missing"),
    Mistake("exp_avg_sq is not corrected", {"1 / math.sqrt(1 - beta2**step)": "1.0"},
            "exp_avg_sq lacks its bias correction"),
    Mistake("the step is counted from 0",
            {"beta1**step": "beta1 ** (step - 1)", "beta2**step": "beta2 ** (step - 1)"}, "counted from 0"),
    Mistake("eps is added inside of the root",
            {"tl.sqrt(v) * correction + eps": "tl.sqrt(v * correction * correction + eps)"},
            "inside of the root"),
    Mistake("eps is corrected, too", {"tl.sqrt(v) * correction + eps": "(tl.sqrt(v) + eps) * correction"},
            "added last"),
    Mistake("the gradient is not squared", {V: "v = beta2 * v + share2 * g"}, "not its square"),
    Mistake("exp_avg takes in the whole gradient", {M: "m = beta1 * m + g"}, "whole gradient"),
    Mistake("param moves uphill", {"p * decay - rate": "p * decay + rate"}, "uphill"),
    Mistake("1 - beta is taken in the kernel",
            {M: "m = beta1 * m + (1 - beta1) * g", V: "v = beta2 * v + (1 - beta2) * g * g"},
            "1 − beta was taken in fp32"),
    Mistake("param is not stored", {f"    {STORE_P}\n": ""}, "param is after the call what it was before"),
    Mistake("exp_avg is not stored", {f"    {STORE_M}\n": ""},
            "exp_avg is after the call what it was before"),
    Mistake("the states are rounded to param's dtype",
            {STORE_M: "tl.store(exp_avg_ptr + offs, m.to(param_ptr.dtype.element_ty), mask=mask)",
             STORE_V: "tl.store(exp_avg_sq_ptr + offs, v.to(param_ptr.dtype.element_ty), mask=mask)"},
            "Every element is a number of"),
    Mistake("grad is decayed where it lies",
            {G: f"{G}    tl.store(grad_ptr + offs, g + (1 - decay) * p, mask=mask)\n"},
            "changed its input grad"),
    Mistake("a new param is returned",
            {"    n = param.numel()\n": "    param = torch.empty_like(param)\n    n = param.numel()\n",
             "        num_warps=4,\n    )\n": "        num_warps=4,\n    )\n    return param\n"},
            "where nothing is asked for"),
    Mistake("the last block is left out", {"triton.cdiv(n, BLOCK)": "n // BLOCK"}, "Round up"),
    Mistake("the stores have no mask", {STORE_P: "tl.store(param_ptr + offs, p)"}, "Unmasked store"),
    Mistake("rate is a tl.constexpr",
            {"    rate,\n    correction,\n": "    rate: tl.constexpr,\n    correction: tl.constexpr,\n"},
            "As tl.constexpr each value of `rate` and `correction`", fails="edges"),
    Mistake("the step is read from the device",
            {"    BLOCK = 1024\n": "    BLOCK = 1024\n    if n and grad[0].item() == 0:\n        n = n\n"},
            "item"),
    Mistake("torch shrinks param first",
            {"    n = param.numel()\n": "    n = param.numel()\n    param.mul_(1 - lr * weight_decay)\n",
             "p * decay": "p"}, "mul_ ran outside of your kernel", fails="correct or honest"),
    Mistake("the second state is kept above a floor",
            {MOVED: "rate * (m / (tl.sqrt(tl.maximum(v, 1e-12)) * correction + eps))"},
            "exp_avg and exp_avg_sq: right in every case"),
    Mistake("the decay comes after the step", {P: f"p = (p - {MOVED}) * decay"}, "comes after the step"),
    Mistake("the second correction counts from 0", {"1 - beta2**step": "1 - beta2 ** max(step - 1, 1)"},
            "in exp_avg_sq's bias correction"),
]
