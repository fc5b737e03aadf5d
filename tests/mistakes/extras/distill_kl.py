"""Extra: what a divergence of two online softmaxes gets wrong, and what the grader must say about it."""

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

# fmt: off
mistakes = [
    Mistake("the student's sum is not rescaled when its maximum rises", {L_S: "l_s = l_s + "},
            ("Right up to", "close but not close enough"), fails="correct or edges"),
    Mistake("the teacher's mean is not rescaled when its maximum rises", {ACC: "acc = acc + "}, "is right",
            fails="correct or edges"),
    Mistake("the two maxima are mixed", {T_MAX: "m_new = m_s"}, "Keep exponents from being positive",
            fails="correct or edges"),
    Mistake("the divergence goes the other way", {INPUTS: SWAPPED},
            ("close but not close enough", "is right")),
    Mistake("lanes past the row hold 0",
            {S_LOAD: S_LOAD.replace('-float("inf")', "0.0"), T_LOAD: T_LOAD.replace('-float("inf")', "0.0")},
            "Lanes past the row"),
    Mistake("what the teacher rules out is 0 times infinity", {TERM: "p * (t - s)"}, "(-inf) - (-inf)",
            fails="correct or edges"),
    Mistake("the teacher's entropy is missing",
            {LOSS: "loss = (total / sum_t - (top_t - top_s)) * rate + tl.log(sum_s)"}, "is right"),
    Mistake("the sign is turned round", {LOSS: f"{LOSS}\n    loss = -loss"}, "turned round"),
    Mistake("the factor is T", {"temperature**2, BLOCK_M=4096": "temperature, BLOCK_M=4096"},
            "The factor is T: it is T²"),
    Mistake("T squared is left out", {"temperature**2, BLOCK_M=4096": "1.0, BLOCK_M=4096"}, "T² is left out"),
    Mistake("the mean is over all elements",
            {"mean_kernel[(1,)](losses, mean, n_rows,": "mean_kernel[(1,)](losses, mean, student.numel(),"},
            "its limits are wrong"),
    Mistake("the loss is a sum", {"tl.sum(acc, axis=0) / n_rows * factor": "tl.sum(acc, axis=0) * factor"},
            "sum"),
    Mistake("the gradient lacks the teacher", {STORE: "p_s * by"}, "lacks the teacher"),
    Mistake("the gradient takes T squared", {BY: BY.replace("temperature", "temperature * temperature")},
            "takes T²"),
    Mistake("the gradient lacks T", {BY: BY.replace(" * temperature", "")}, "lacks T"),
    Mistake("the upstream gradient is dropped", {BY: "by = temperature / n_rows"}, "upstream"),
    Mistake("the gradient is not divided", {BY: BY.replace(" / n_rows", "")}, "not divided"),
    Mistake("the teacher's rows are taken to lie as the student's",
            {"teacher_ptr += row * stride_tm": "teacher_ptr += row * stride_sm"}, "stride",
            fails="correct or edges"),
    Mistake("a softmax is kept", {SAVE: f"{SAVE}\n        ctx.softmax = torch.empty_like(student)"}, "keeps"),
    Mistake("half done: the last kernel is missing", {}, "never written", undone=("backward_kernel",),
            so_far="losses of rows ✓ · what backward reads ✓ · mean ✓ · not started: dstudent"),
    Mistake("half done: the last two kernels are missing", {}, "never written",
            undone=("mean_kernel", "backward_kernel"),
            so_far="losses of rows ✓ · what backward reads ✓ · not started: mean, dstudent"),
    Mistake("the teacher's maximum starts from 0",
            {"m_t = tl.full((LANES,), LOWEST, tl.float32)": "m_t = tl.zeros((LANES,), tl.float32)"},
            "What is divided by, or what a logarithm", fails="edges"),
    Mistake("the maxima start from -inf",
            {"m_s = tl.full((LANES,), LOWEST, tl": 'm_s = tl.full((LANES,), -float("inf"), tl',
             "m_t = tl.full((LANES,), LOWEST, tl": 'm_t = tl.full((LANES,), -float("inf"), tl'},
            "(-inf) - (-inf) is NaN"),
]
