"""Extra: what goes wrong where kernels are put together, and what the grader must say about it."""

from tools.planted import Mistake

# Which of the two is said is decided by how far off the draw is.
VALUES = ("is right", "close but not close enough")

# fmt: off
mistakes = [
    Mistake("the weights are never updated", {"        update(master, grads": "        (master, grads"},
            "never updated"),
    Mistake("the update counts from 0", {"count(1)": "count(0)", "(step - 1)": "step"}, "ZeroDivisionError"),
    Mistake("the last norm is left out",
            {"rms_norm(x, weights[-2], EPS, 0.0), weights[-1]": "x, weights[-1]"},
            "appears to not have been used"),
    Mistake(
        "gate and up have changed places",
        {
            "swiglu(Linear.apply(h, gate), Linear.apply(h, up))": (
                "swiglu(Linear.apply(h, up), Linear.apply(h, gate))"
            )
        },
        VALUES,
    ),
    Mistake("the caller's weights are trained", {"param.clone().requires_grad_()": "param.requires_grad_()"},
            "params"),
    Mistake("torch multiplies", {"return matmul(x, w.T)": "return x @ w.T"}, "mm", fails="honest"),
    Mistake("no weight decay", {"1e-8, DECAY, step": "1e-8, 0.0, step"}, VALUES),
]
