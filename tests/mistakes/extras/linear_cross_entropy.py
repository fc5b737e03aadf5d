"""Extra: what a chunked loss gets wrong, and what the grader must say about it."""

from tools.planted import Mistake

ADD_DX = "add(torch.mm(logits, weight[chunk]), total, dx if chunk.stop == n_classes else total)"
COUNT = "count += counts.to(tl.int32)"
GRAD = "(p - tl.where(cols + first == target, 1.0, 0.0)) * scale"
LSE = "tl.store(lse_ptr + rows, m + log_l, mask="
LOGITS = "            logits = torch.mm(x, weight[chunk].t())\n            chunk_loss_kernel"
RESCALED = "l_i = l_i * tl.exp2((m_i - m_new) * LOG2_E) + "
SAVE = "ctx.save_for_backward(x, weight, target, lse, count)"
SCALE = "scale = tl.load(dloss_ptr) / tl.load(count_ptr)"
WANTS = "wants_x, wants_weight = ctx.needs_input_grad[:2]"
WIDTH = "width = triton.cdiv(n_classes, 24 * 64) * 64"
ZEROS = "        tl.store(logits_ptrs, tl.zeros((BLOCK_N,), tl.float32), mask=mask)\n"

# fmt: off
mistakes = [
    Mistake("the sum is divided by all rows", {COUNT: "count += (rows < n_rows).to(tl.int32)"},
            "divided by all rows"),
    Mistake("the loss is a sum", {"tl.sum(loss, axis=0) / n_valid": "tl.sum(loss, axis=0)"},
            "sum of the losses"),
    Mistake("the upstream gradient is dropped", {SCALE: "scale = 1 / tl.load(count_ptr)"},
            "upstream gradient is dropped"),
    Mistake("the gradient is not divided by the count", {SCALE: "scale = tl.load(dloss_ptr)"}, "not divided"),
    Mistake("ignored rows keep their logits in the place of a gradient", {f"    else:\n{ZEROS}": ""},
            "where 0 is right"),
    Mistake("the sum so far is not rescaled when the maximum rises", {RESCALED: "l_i += "}, "is right"),
    Mistake("a chunk's maximum takes the place of the one before",
            {"m_new = tl.maximum(m_i, tl.max(x, axis=0))": "m_new = tl.max(x, axis=0)"},
            "Keep exponents from being positive"),
    Mistake("dx is added up in its own dtype",
            {"torch.zeros(x.shape, dtype=torch.float32, device=x.device)": "torch.zeros_like(x)"},
            "too low a precision"),
    Mistake("the target is looked for in every chunk alike", {"at = target - first": "at = target"},
            "mean_kernel reads aim_ptr"),
    Mistake("the logsumexps of the first rows alone are kept",
            {f"{LSE}counts)": f"{LSE}counts & (rows < 4))"}, "chunk_grad_kernel reads lse_ptr"),
    Mistake("the sums are kept by nobody", {"        tl.store(sum_ptr + row, l_i)\n": ""}, "log(0) is -inf"),
    Mistake("rows of a chunk are taken to be one longer",
            {"logits_ptr += row * n_cols": "logits_ptr += row * (n_cols + 1)"}, "past the end of"),
    Mistake("the gradient forgets where its chunk begins", {GRAD: GRAD.replace("cols + first", "cols")},
            ("Right up to v", "lacks the target", "In the gradient of x: At [")),
    Mistake("the gradient is softmax alone", {GRAD: "p * scale"}, "lacks the target"),
    Mistake("the gradient is turned round", {GRAD: GRAD.replace("(p -", "(-p +")}, "turned round"),
    Mistake("dx is the last chunk's", {ADD_DX: "add(torch.mm(logits, weight[chunk]), None, dx)"},
            "Right up to v"),
    Mistake("the logits are whole", {WIDTH: "width = n_classes"}, "with its backward pass", fails="memory"),
    Mistake(
        "a chunk is an eighth of all, and its products come on top",
        {WIDTH: "width = triton.cdiv(n_classes, 8 * 64) * 64"},
        "beyond its outputs at its peak",
        fails="limit",
        cpu=True,  # torch's allocator may round up by more on a GPU
    ),
    Mistake("the chunks are kept for the backward pass",
            {SAVE: f"{SAVE}\n        ctx.kept = kept",
             LOGITS: LOGITS.replace("[chunk].t())\n", "[chunk].t())\n            kept.append(logits)\n"),
             "        start_kernel[(": "        kept = []\n        start_kernel[("}, "keeps"),
    Mistake("both gradients are computed, whichever is asked for",
            {WANTS: "wants_x, wants_weight = True, True"}, "was computed as well", fails="edges"),
    Mistake("each gradient is computed if the other is asked for",
            {WANTS: "wants_weight, wants_x = ctx.needs_input_grad[:2]"}, "gradient of x is None",
            fails="edges"),
    Mistake("the count is read on the host", {SAVE: f"{SAVE}\n        ctx.number = count.item()"}, "item"),
    Mistake("dweight is not for the chunk's rows",
            {"dweight[chunk])": "dweight[: chunk.stop - chunk.start])"}, "never written"),
]
