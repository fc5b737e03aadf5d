"""Extra find_the_bug_layernorm: its bugs, and what goes wrong while they are mended."""

from tools.planted import Mistake

ADDED = "    tl.atomic_add(part_ptrs, dweight, mask=mask)\n"
CENTRED = "centred = tl.where(mask, x - mean, 0.0)"
DX = "(dx_hat - along_mean - x_hat * along_x_hat) * rstd"
PART = "part = torch.zeros(SLOTS"
RSTD = "rstd = 1.0 / tl.sqrt(var + eps)"

# What is swapped for what plants each; all of them together are the file that is handed out.
bugs = {
    "masked lanes become -mean and count in the variance": {CENTRED: "centred = x - mean"},
    "eps is added outside of the root": {RSTD: "rstd = 1.0 / tl.sqrt(var) + eps"},
    "rows of dy are read at the stride of x": {"row * stride_dym": "row * stride_xm"},
    "programs that share partial sums of dweight load, add and store, and lose updates": {
        ADDED: "    tl.store(part_ptrs, tl.load(part_ptrs, mask=mask) + dweight, mask=mask)\n"
    },
}

# fmt: off
mistakes = [
    Mistake("eps goes into the root of each row's sum, before the division",
            {"/ n_cols\n        rstd": "\n        rstd", RSTD: "rstd = 1.0 / tl.sqrt((var + eps) / n_cols)"},
            "is right"),
    Mistake("x_hat is masked, and the variance is not",
            {"tl.sum(centred * centred, axis=0)": "tl.sum((x - mean) * (x - mean), axis=0)"},
            ("close but not close enough", "is right")),
    Mistake("a program stores its partial sums, and the last one wins",
            {ADDED: "    tl.store(part_ptrs, dweight, mask=mask)\n"}, "A race between programs"),
    Mistake("each program adds to a row of its own, where there are no more rows",
            {"tl.program_id(0) % SLOTS * n_cols": "tl.program_id(0) * n_cols"}, "past the end"),
    Mistake("partial sums begin with what was in memory", {PART: "part = torch.empty(SLOTS"},
            "memory that nobody wrote"),
    Mistake("partial sums have x's dtype", {"n_cols, dtype=torch.float32": "n_cols, dtype=x.dtype"},
            "too low a precision"),
    Mistake("dx lacks the part along x_hat", {DX: "(dx_hat - along_mean) * rstd"}, "dx["),
    Mistake("rows of x are read at the stride of dy", {"row * stride_xm": "row * stride_dym"},
            "past the end of"),
]
