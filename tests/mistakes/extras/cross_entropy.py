"""Extra: what a fused cross-entropy gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

AIM = "aim = tl.where(cols == target, 1 - smoothing, 0.0) + smoothing / n_cols"
AIMED = "aim = (1 - smoothing) * x_target + smoothing * (tl.sum(total, axis=0) / n_cols)"
BACK = "        tl.store(dlogits_ptrs, tl.zeros((BLOCK_N,), tl.float32), mask=mask)\n"
COUNT = "count += (target != ignore_index).to(tl.int32)"
LOAD = 'mask=cols < n_cols, other=-float("inf")'
RESCALED = "l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + tl.sum(p, axis=0)"
ROW = "row = tl.program_id({}).to(tl.int64)"
SAVE = "ctx.save_for_backward(logits, target, maxima, sums, count)"
SCALE = "scale = tl.load(dloss_ptr) / tl.load(count_ptr)"

mistakes = [
    Mistake(
        "the sum is divided by all rows",
        swap={COUNT: "count += (rows < n_rows).to(tl.int32)"},
        fails="correct",
        says="divided by all rows",
    ),
    Mistake(
        "the loss is a sum",
        swap={"tl.sum(loss, axis=0) / n_valid": "tl.sum(loss, axis=0)"},
        fails="correct",
        says="sum",
    ),
    Mistake(
        "ignored rows get a gradient",
        swap={BACK: "        tl.store(dlogits_ptrs, tl.zeros((BLOCK_N,), tl.float32) + 1e-3, mask=mask)\n"},
        fails="correct",
        says="close but not close enough",
    ),
    Mistake(
        "ignored rows get none, not even 0",
        swap={f"    else:\n{BACK}": ""},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the upstream gradient is dropped",
        swap={SCALE: "scale = 1 / tl.load(count_ptr)"},
        fails="correct",
        says="upstream gradient is dropped",
    ),
    Mistake(
        "the gradient is not divided by the count",
        swap={SCALE: "scale = tl.load(dloss_ptr)"},
        fails="correct",
        says="not divided",
    ),
    Mistake(
        "the sum so far is not rescaled when the maximum rises",
        swap={RESCALED: "l_i += tl.sum(p, axis=0)"},
        fails="correct or edges",
        says="is right",
    ),
    Mistake(
        "lanes past the row hold 0",
        swap={LOAD: "mask=cols < n_cols, other=0.0"},
        fails="correct",
        says="Lanes past the row",
    ),
    Mistake(
        "lanes past the row take part in the smoothing",
        swap={"tl.sum(tl.where(cols < n_cols, x, 0.0), axis=0)": "tl.sum(x, axis=0)"},
        fails="correct",
        says="which masked lanes of that load hold",
    ),
    Mistake(
        "the gradient forgets the smoothing",
        swap={AIM: "aim = tl.where(cols == target, 1.0, 0.0)"},
        fails="correct",
        says="gradient forgets label_smoothing",
    ),
    Mistake(
        "the target keeps its whole 1 beside the smoothing",
        swap={AIM: AIM.replace("1 - smoothing", "1.0")},
        fails="correct",
        says="a whole 1",
    ),
    Mistake(
        "the loss forgets the smoothing",
        swap={AIMED: "aim = x_target"},
        fails="correct",
        says="loss forgets label_smoothing",
    ),
    Mistake(
        "the gradient is softmax alone",
        swap={AIM: "aim = smoothing / n_cols"},
        fails="correct",
        says="lacks the target",
    ),
    Mistake(
        "rows are taken to be n_cols apart",
        swap={"logits_ptr += row * stride_m": "logits_ptr += row * n_cols"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "backward takes rows to be n_cols apart",
        swap={"logits_ptr + row * stride_m + cols": "logits_ptr + row * n_cols + cols"},
        fails="edges",
        says="stride",
    ),
    Mistake(
        "the count is read on the host",
        swap={SAVE: f"{SAVE}\n        ctx.number = count.item()"},
        fails="correct",
        says="item",
    ),
    Mistake(
        "softmax is kept",
        swap={SAVE: f"{SAVE}\n        ctx.softmax = torch.empty_like(logits)"},
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "torch finds the mean",
        swap={"        return mean\n": "        return losses.sum() / count\n"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "half done: the losses of rows alone",
        swap={},
        fails="correct",
        says="never written",
        undone=("mean_kernel", "backward_kernel"),
        so_far="losses of rows ✓ · what backward reads ✓ · not started: mean, count, dlogits",
    ),
    Mistake(
        "half done: the forward pass alone",
        swap={},
        fails="correct",
        says="never written",
        undone=("backward_kernel",),
        so_far="losses of rows ✓ · what backward reads ✓ · mean ✓ · count ✓ · not started: dlogits",
    ),
    Mistake(
        "a running maximum of nothing but -inf",
        swap={"(LANES,), LOWEST": '(LANES,), -float("inf")'},
        fails="correct or edges",
        says="NaN",
    ),
    Mistake(
        "rows lie along the second axis of the grid",
        swap={
            f"{ROW.format(0)}\n    target": f"{ROW.format(1)}\n    target",
            "row_loss_kernel[(n_rows,)]": "row_loss_kernel[(1, n_rows)]",
        },
        fails="limit",
        says="65535",
    ),
    Mistake(
        "the maximum starts from 0",
        swap={"m_i = tl.full((LANES,), LOWEST, tl.float32)": "m_i = tl.zeros((LANES,), tl.float32)"},
        fails="correct",
        says="What is divided by, or what a logarithm",
    ),
]
