"""Extra: what a chunked loss gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ADD_DX = "add(torch.mm(logits, weight[chunk]), total, dx if chunk.stop == n_classes else total)"
COUNT = "count += counts.to(tl.int32)"
GRAD = "(p - tl.where(cols + first == target, 1.0, 0.0)) * scale"
LOAD = 'mask=cols < n_cols, other=-float("inf")'
LSE = "tl.store(lse_ptr + rows, m + log_l, mask="
LOGITS = "            logits = torch.mm(x, weight[chunk].t())\n            chunk_loss_kernel"
RESCALED = "l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + "
SAVE = "ctx.save_for_backward(x, weight, target, lse, count)"
SCALE = "scale = tl.load(dloss_ptr) / tl.load(count_ptr)"
WANTS = "wants_x, wants_weight = ctx.needs_input_grad[:2]"
WIDTH = "width = triton.cdiv(n_classes, 24 * 64) * 64"
ZEROS = "        tl.store(logits_ptrs, tl.zeros((BLOCK_N,), tl.float32), mask=mask)\n"

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
        says="sum of the losses",
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
        "ignored rows keep their logits in the place of a gradient",
        swap={f"    else:\n{ZEROS}": ""},
        fails="correct",
        says="where 0 is right",
    ),
    Mistake(
        "the sum so far is not rescaled when the maximum rises",
        swap={RESCALED: "l_i += "},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "lanes past the chunk hold 0",
        swap={LOAD: "mask=cols < n_cols, other=0.0"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "each chunk begins anew",
        swap={
            "m_i = tl.load(max_ptr + row)": "m_i = LOWEST + 0.0",
            "l_i = tl.load(sum_ptr + row)": "l_i = 0.0",
        },
        fails="correct",
        says="is right",
    ),
    Mistake(
        "a chunk's maximum takes the place of the one before",
        swap={"m_new = tl.maximum(m_i, tl.max(x, axis=0))": "m_new = tl.max(x, axis=0)"},
        fails="correct",
        says="Keep exponents from being positive",
    ),
    Mistake(
        "dx is added up in its own dtype",
        swap={"torch.zeros(x.shape, dtype=torch.float32, device=x.device)": "torch.zeros_like(x)"},
        fails="correct",
        says="half precision is too low",
    ),
    Mistake(
        "the target is looked for in every chunk alike",
        swap={"at = target - first": "at = target"},
        fails="correct",
        says="mean_kernel reads aim_ptr",
    ),
    Mistake(
        "the logsumexps of the first rows alone are kept",
        swap={f"{LSE}counts)": f"{LSE}counts & (rows < 4))"},
        fails="correct",
        says="chunk_grad_kernel reads lse_ptr",
    ),
    Mistake(
        "the sums are kept by nobody",
        swap={"        tl.store(sum_ptr + row, l_i)\n": ""},
        fails="correct",
        says="log(0) is -inf",
    ),
    Mistake(
        "rows of a chunk are taken to be one longer",
        swap={"logits_ptr += row * n_cols": "logits_ptr += row * (n_cols + 1)"},
        fails="correct",
        says="past the end of",
    ),
    Mistake(
        "the gradient forgets where its chunk begins",
        swap={GRAD: GRAD.replace("cols + first", "cols")},
        fails="correct",
        says=("Right up to v", "lacks the target", "In the gradient of x: At ["),
    ),
    Mistake(
        "the gradient is softmax alone", swap={GRAD: "p * scale"}, fails="correct", says="lacks the target"
    ),
    Mistake(
        "the gradient is turned round",
        swap={GRAD: GRAD.replace("(p -", "(-p +")},
        fails="correct",
        says="turned round",
    ),
    Mistake(
        "dx is the last chunk's",
        swap={ADD_DX: "add(torch.mm(logits, weight[chunk]), None, dx)"},
        fails="correct",
        says="Right up to v",
    ),
    Mistake(
        "the last chunk is left out",
        swap={
            "for first in range(0, n_classes, width)": "for first in range(0, n_classes - width + 1, width)"
        },
        fails="correct",
        says="mean_kernel reads aim_ptr",
    ),
    Mistake(
        "the logits are whole",
        swap={WIDTH: "width = n_classes"},
        fails="memory",
        says="with its backward pass",
    ),
    Mistake(
        "a chunk is an eighth of all, and its products come on top",
        swap={WIDTH: "width = triton.cdiv(n_classes, 8 * 64) * 64"},
        fails="limit",
        says="beyond its outputs at its peak",
        cpu=True,  # torch's allocator may round up by more on a GPU
    ),
    Mistake(
        "the chunks are kept for the backward pass",
        swap={
            SAVE: f"{SAVE}\n        ctx.kept = kept",
            LOGITS: LOGITS.replace("[chunk].t())\n", "[chunk].t())\n            kept.append(logits)\n"),
            "        start_kernel[(": "        kept = []\n        start_kernel[(",
        },
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "both gradients are computed, whichever is asked for",
        swap={WANTS: "wants_x, wants_weight = True, True"},
        fails="edges",
        says="was computed as well",
    ),
    Mistake(
        "each gradient is computed if the other is asked for",
        swap={WANTS: "wants_weight, wants_x = ctx.needs_input_grad[:2]"},
        fails="edges",
        says="gradient of x is None",
    ),
    Mistake(
        "the count is read on the host",
        swap={SAVE: f"{SAVE}\n        ctx.number = count.item()"},
        fails="correct",
        says="item",
    ),
    Mistake(
        "torch adds something to the loss",
        swap={"        return mean\n": "        return mean + 0\n"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "dweight is not for the chunk's rows",
        swap={"dweight[chunk])": "dweight[: chunk.stop - chunk.start])"},
        fails="correct",
        says="never written",
    ),
    Mistake(
        "the maximum starts from 0",
        swap={"tl.full((BLOCK_M,), LOWEST, tl.float32)": "tl.zeros((BLOCK_M,), tl.float32)"},
        fails="correct",
        says="log(0) is -inf",
    ),
]
