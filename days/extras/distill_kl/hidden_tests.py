"""Extra: the divergence of a student from its teacher, both passes at 0.5 of a plain copy."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Gradients, Piece, Speed, between
from grader.challenge.formulas.draw_one_input import tensor
from grader.challenge.formulas.dtypes import BRAIN, HALF

from .suspects import SUSPECTS, distilled


def inputs(case: Case, draw) -> tuple[Tensor, Tensor, float]:
    """student, teacher and temperature; `near` has the student know nearly what the teacher knows.

    Where they are `ruled` out, both or the teacher alone have -inf in every third column, or both in
    the first half.
    """
    student, teacher = (tensor(case, draw, which, case.m, case.v) for which in "st")
    if "near" in case:
        student.mul_(case.near).add_(teacher)
    columns = slice(0, case.v // 2) if case.get("ruled") == "half" else slice(1, None, 3)
    if "ruled" in case:
        teacher[:, columns] = -torch.inf
    if case.get("ruled") in ("both", "half"):
        student[:, columns] = -torch.inf
    return student, teacher, case.get("temperature", 2.0)


def reference(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """In fp32 or wider. torch's kl_div is NaN where the teacher has -inf."""
    wide = torch.promote_types(student.dtype, torch.float32)
    return distilled(student.to(wide), teacher.to(wide), temperature)


def kept(student: Tensor, teacher: Tensor, _) -> int:
    return 2 * student.numel() * student.element_size() + 16 * len(student)


wide = Case(m=4096, v=32000, dtype=BRAIN, gpu=True)

CASES = [
    Case(m=3, v=8),
    Case(m=1, v=50),
    Case(m=0, v=8),
    Case(m=20, v=33),
    Case(m=20, v=33, temperature=1.0),
    Case(m=20, v=33, temperature=0.5),
    Case(m=20, v=33, temperature=5.0),
    Case(m=5, v=7),
    Case(m=5, v=127),
    Case(m=5, v=128),
    Case(m=5, v=129, temperature=1.0),
    Case(m=4, v=1025),
    Case(m=3, v=between(4097, 5000)),
    Case(m=2, v=20011),
    Case(m=260, v=9),
    Case(m=9, v=60, near=0.1),
    Case(m=16, v=500, dtype=HALF),
    Case(m=48, v=496, dtype=HALF),
    Case(m=96, v=480, dtype=HALF),
    Case(m=16, v=500, dtype=BRAIN),
    Case(m=16, v=500, dtype=BRAIN, temperature=4.0),
    Case(m=9, v=70, layout="sliced", t_layout="contiguous"),
    Case(m=9, v=70, layout="contiguous", t_layout="sliced", dtype=HALF),
    Case(m=9, v=72, layout="padded", dtype=HALF),
    Case(m=9, v=70, layout="offset", dtype=BRAIN),
    Case(m=9, v=70, layout="expanded", t_layout="sliced"),
    Case(m=3, v=20011, values="rising", t_values="normal"),
    Case(m=3, v=9001, values="normal", t_values="rising"),
    Case(m=9, v=781, values="negative"),
    Case(m=9, v=300, values="low", t_values="heavy"),
    Case(m=9, v=300, values="heavy", t_values="low"),
    Case(m=3, v=9001, ruled="half"),
    Case(m=9, v=300, values="heavy"),
    Case(m=9, v=300, values="large", dtype=BRAIN),
    Case(m=9, v=300, values="large", t_values="normal", dtype=BRAIN),
    Case(m=9, v=300, values="normal", ruled="both", t_values="negative"),
    Case(m=9, v=300, values="negative", ruled="teacher"),
    Case(m=9, v=300, values="some_minus_inf", t_values="normal"),
    Case(m=9, v=300, values="inf", t_values="normal"),
    Case(m=9, v=300, values="nan", t_values="normal"),
    Case(m=9, v=300, values="normal", t_values="nan"),
    Case(m=9, v=70, calls=2),
    Case(m=17_001, v=131_075, dtype=BRAIN, huge=True),
    Case(m=70_001, v=1027, dtype=BRAIN, huge=True),
    Case(m=2100, v=70, layout="far", dtype=HALF, huge=True),
    # Large enough that a fixed number of programs has several tiles each.
    Case(m=4301, v=5),
]

challenge = Challenge(
    entry="distill_kl",
    inputs=inputs,
    reference=reference,
    no_host_reads=True,
    gradients=Gradients(of=(0,), saved=kept),
    suspects=SUSPECTS,
    shown=Case(m=20, v=33),
    pieces=(  # the results are the loss and the gradient of the student
        Piece("losses of rows", "row_kernel", results=(0,)),
        Piece("what backward reads", "row_kernel", results=(1,)),
        Piece("mean", "mean_kernel", results=(0,)),
        Piece("dstudent", "backward_kernel", results=(1,)),
    ),
    cases=CASES,
    speed=Speed(wide, moved=lambda student, *_: 5 * student.nbytes, of_copy=0.50, part="both"),
)
