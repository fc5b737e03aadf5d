"""Extra: what goes wrong where kernels are put together, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

# Which of the two is said is decided by how far off the draw is.
VALUES = ("is right", "close but not close enough")

mistakes: list[Mistake] = [
    Mistake(
        "the weights are never updated",
        swap={"        update(master, grads": "        (master, grads"},
        fails="correct",
        says="never updated",
    ),
    Mistake(
        "the update counts from 0",
        swap={"count(1)": "count(0)", "(step - 1)": "step"},
        fails="correct",
        says="ZeroDivisionError",
    ),
    Mistake(
        "the last norm is left out",
        swap={"rms_norm(x, weights[-2], EPS, 0.0), weights[-1]": "x, weights[-1]"},
        fails="correct",
        says="appears to not have been used",
    ),
    Mistake(
        "attention sees the future", swap={"d**-0.5, True": "d**-0.5, False"}, fails="correct", says=VALUES
    ),
    Mistake(
        "q and k are not rotated",
        swap={"    q, k = rope(q, k, *tables, positions, False)\n": ""},
        fails="correct",
        says=VALUES,
    ),
    Mistake(
        "attention is not added to x",
        swap={"x = x + Linear.apply(found": "x = Linear.apply(found"},
        fails="correct",
        says=VALUES,
    ),
    Mistake(
        "gate and up have changed places",
        swap={
            "swiglu(Linear.apply(h, gate), Linear.apply(h, up))": (
                "swiglu(Linear.apply(h, up), Linear.apply(h, gate))"
            )
        },
        fails="correct",
        says=VALUES,
    ),
    Mistake(
        "the targets are the tokens themselves",
        swap={"tokens[:, 1:].reshape(-1)": "tokens[:, :-1].reshape(-1)"},
        fails="correct",
        says=VALUES,
    ),
    Mistake(
        "ids that are not contiguous",
        swap={"tokens[:, :-1].contiguous()": "tokens[:, :-1]"},
        fails="correct",
        says=VALUES,
    ),
    Mistake(
        "every step sees the first batch",
        swap={"tokens[(step - 1) % len(tokens)]": "tokens[0]"},
        fails="correct",
        says=VALUES,
    ),
    Mistake(
        "the caller's weights are trained",
        swap={"param.clone().requires_grad_()": "param.requires_grad_()"},
        fails="correct",
        says="params",
    ),
    Mistake("torch multiplies", swap={"return matmul(x, w.T)": "return x @ w.T"}, fails="honest", says="mm"),
    Mistake(
        "the betas have changed places",
        swap={"*BETAS, 1e-8": "*BETAS[::-1], 1e-8"},
        fails="correct",
        says=VALUES,
    ),
    Mistake("no weight decay", swap={"1e-8, DECAY, step": "1e-8, 0.0, step"}, fails="correct", says=VALUES),
    Mistake(
        "heads are put beside each other as they lie",
        swap={"found.transpose(1, 2).reshape(x.shape)": "found.reshape(x.shape)"},
        fails="correct",
        says=VALUES,
    ),
]
