"""Extra: what a divergence of two online softmaxes gets wrong, and what the grader must say about it."""

from __future__ import annotations

from tools.planted import Mistake

ACC = "acc = tl.where(alpha > 0, acc * alpha, 0.0) + "
BY = "by = tl.load(dmean_ptr) * temperature / n_rows"
INPUTS = "        row_kernel[(n_rows,)](\n            student,\n            teacher,\n"
LOSS = "loss = (total / sum_t - (top_t - top_s)) * rate + (tl.log(sum_s) - tl.log(sum_t))"
L_S = "l_s = l_s * tl.exp2((m_s - m_new) * scale) + "
S_LOAD = 's = tl.load(student_ptr + cols, mask=cols < n_cols, other=-float("inf"))'
SAVE = "ctx.save_for_backward(student, teacher, stats)"
STORE = "(p_s - p_t) * by"
T_LOAD = 't = tl.load(teacher_ptr + cols, mask=cols < n_cols, other=-float("inf"))'
SWAPPED = "        row_kernel[(n_rows,)](\n            teacher,\n            student,\n"
TERM = "tl.where(p > 0, p * (t - s), 0.0)"
T_MAX = "m_new = tl.maximum(m_t, tl.max(t, axis=1))"

mistakes = [
    Mistake(
        "the student's sum is not rescaled when its maximum rises",
        swap={L_S: "l_s = l_s + "},
        fails="correct or edges",
        says=("Right up to", "close but not close enough"),
    ),
    Mistake(
        "the teacher's mean is not rescaled when its maximum rises",
        swap={ACC: "acc = acc + "},
        fails="correct or edges",
        says="is right",
    ),
    Mistake(
        "the two maxima are mixed",
        swap={T_MAX: "m_new = m_s"},
        fails="correct or edges",
        says="Keep exponents from being positive",
    ),
    Mistake(
        "the divergence goes the other way",
        swap={INPUTS: SWAPPED},
        fails="correct",
        says=("close but not close enough", "is right"),
    ),
    Mistake(
        "lanes past the row hold 0",
        swap={S_LOAD: S_LOAD.replace('-float("inf")', "0.0"), T_LOAD: T_LOAD.replace('-float("inf")', "0.0")},
        fails="correct",
        says="Lanes past the row",
    ),
    Mistake(
        "what the teacher rules out is 0 times infinity",
        swap={TERM: "p * (t - s)"},
        fails="correct or edges",
        says="(-inf) - (-inf)",
    ),
    Mistake(
        "the teacher's entropy is missing",
        swap={LOSS: "loss = (total / sum_t - (top_t - top_s)) * rate + tl.log(sum_s)"},
        fails="correct",
        says="is right",
    ),
    Mistake(
        "the sign is turned round",
        swap={LOSS: f"{LOSS}\n    loss = -loss"},
        fails="correct",
        says="turned round",
    ),
    Mistake(
        "the factor is T",
        swap={"temperature**2, BLOCK_M=4096": "temperature, BLOCK_M=4096"},
        fails="correct",
        says="The factor is T: it is T²",
    ),
    Mistake(
        "T squared is left out",
        swap={"temperature**2, BLOCK_M=4096": "1.0, BLOCK_M=4096"},
        fails="correct",
        says="T² is left out",
    ),
    Mistake(
        "the mean is over all elements",
        swap={"mean_kernel[(1,)](losses, mean, n_rows,": "mean_kernel[(1,)](losses, mean, student.numel(),"},
        fails="correct",
        says="its limits are wrong",
    ),
    Mistake(
        "the loss is a sum",
        swap={"tl.sum(acc, axis=0) / n_rows * factor": "tl.sum(acc, axis=0) * factor"},
        fails="correct",
        says="sum",
    ),
    Mistake(
        "the gradient is turned round", swap={STORE: "(p_t - p_s) * by"}, fails="correct", says="turned round"
    ),
    Mistake(
        "the gradient lacks the teacher", swap={STORE: "p_s * by"}, fails="correct", says="lacks the teacher"
    ),
    Mistake(
        "the gradient takes T squared",
        swap={BY: BY.replace("temperature", "temperature * temperature")},
        fails="correct",
        says="takes T²",
    ),
    Mistake(
        "the gradient lacks T", swap={BY: BY.replace(" * temperature", "")}, fails="correct", says="lacks T"
    ),
    Mistake(
        "the upstream gradient is dropped",
        swap={BY: "by = temperature / n_rows"},
        fails="correct",
        says="upstream",
    ),
    Mistake(
        "the gradient is not divided",
        swap={BY: BY.replace(" / n_rows", "")},
        fails="correct",
        says="not divided",
    ),
    Mistake(
        "the teacher's rows are taken to lie as the student's",
        swap={"teacher_ptr += row * stride_tm": "teacher_ptr += row * stride_sm"},
        fails="correct or edges",
        says="stride",
    ),
    Mistake(
        "backward takes rows to be n_cols apart",
        swap={"teacher_ptr + row * stride_tm + cols": "teacher_ptr + row * n_cols + cols"},
        fails="correct or edges",
        says="stride",
    ),
    Mistake(
        "a softmax is kept",
        swap={SAVE: f"{SAVE}\n        ctx.softmax = torch.empty_like(student)"},
        fails="correct",
        says="keeps",
    ),
    Mistake(
        "torch finds the mean",
        swap={"        return mean\n": "        return losses.mean() * temperature**2\n"},
        fails="honest",
        says="torch",
    ),
    Mistake(
        "half done: the last kernel is missing",
        swap={},
        fails="correct",
        says="never written",
        undone=("backward_kernel",),
        so_far="losses of rows ✓ · what backward reads ✓ · mean ✓ · not started: dstudent",
    ),
    Mistake(
        "half done: the last two kernels are missing",
        swap={},
        fails="correct",
        says="never written",
        undone=(
            "mean_kernel",
            "backward_kernel",
        ),
        so_far="losses of rows ✓ · what backward reads ✓ · not started: mean, dstudent",
    ),
    Mistake(
        "the teacher's maximum starts from 0",
        swap={"m_t = tl.full((LANES,), LOWEST, tl.float32)": "m_t = tl.zeros((LANES,), tl.float32)"},
        fails="edges",
        says="What is divided by, or what a logarithm",
    ),
    Mistake(
        "the maxima start from -inf",
        swap={
            "m_s = tl.full((LANES,), LOWEST, tl": 'm_s = tl.full((LANES,), -float("inf"), tl',
            "m_t = tl.full((LANES,), LOWEST, tl": 'm_t = tl.full((LANES,), -float("inf"), tl',
        },
        fails="correct",
        says="(-inf) - (-inf) is NaN",
    ),
]
