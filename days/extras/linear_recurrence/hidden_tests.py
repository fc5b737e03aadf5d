"""Extra: a linear recurrence over time and its gradients, at 0.35 of a plain copy."""

from __future__ import annotations

from torch import Tensor

from grader.challenge import Case, Challenge, Gradients, Own, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.tensor_storage import span

from .suspects import SUSPECTS, with_gradients

TIME = Own("time_first")  # in memory [t, B, d]


def inputs(case: Case, draw) -> tuple[Tensor, Tensor]:
    """a in [−1, 1] and b; `decay` says what a is, `b_layout` how b lies unlike it.

    Where TIME_FIRST, memory has steps before sequences.
    As `expanded`, all sequences are one in memory; as `broadcast`, all channels are.
    """
    a = _drawn(case, draw, case.layout, _decay(case.get("decay", "near_one")))
    return a, _drawn(case, draw, case.get("b_layout", case.layout))


def _decay(kind: str):
    """What makes normal numbers a's, in place."""

    def resets(a: Tensor) -> None:
        """A new text begins every seven steps."""
        a.add_(3).sigmoid_()
        a[:, ::7] = 0

    return {
        "near_one": lambda a: a.add_(3).sigmoid_(),
        "signed": lambda a: a.tanh_(),
        "resets": resets,
        "zero": lambda a: a.zero_(),
        "one": lambda a: a.fill_(1),
    }[kind]


def _drawn(case: Case, draw, layout: str, change=lambda x: None) -> Tensor:
    """[B, t, d]."""
    shape = case.B, case.t, case.d
    if layout == TIME:
        x = draw(case.t, case.B, case.d, layout="contiguous").transpose(0, 1)
    elif layout in ("expanded", "broadcast"):
        once = (1, case.t, case.d) if layout == "expanded" else (case.B, case.t, 1)
        x = draw(*once, layout="contiguous")
    else:
        x = draw(*shape, layout=layout)
    change(x)
    return x.expand(shape)


def kept(a: Tensor, b: Tensor) -> int:
    """a, with the gaps between its rows, and h."""
    h = a.numel() * a.element_size()
    return max(span(a), h) + h


def at(B: int, t: int, d: int, **more) -> Case:
    """B sequences of t steps, d channels each."""
    return Case(B=B, t=t, d=d, **more)


CASES = [
    at(1, 4, 2),
    at(1, 1, 1),
    at(0, 3, 2),
    at(2, 0, 3),
    at(3, 2, 5),
    at(2, 63, 33),
    at(1, 64, 32),
    at(1, 65, 31),
    at(1, 128, 64),
    at(2, between(129, 160), between(34, 60)),
    at(1, 1023, 3),
    at(1, 2049, 1),
    at(3, 300, 7),
    at(1, 300, 130, dtype=HALF),
    at(2, 100, 161, dtype=BRAIN),
    at(2, 150, 33, decay="signed"),
    at(2, 150, 33, decay="resets"),
    at(2, 150, 33, decay="zero"),
    at(1, 20_011, 1, decay="one"),
    at(1, 700, 32, decay="one", values="integers"),
    at(2, 150, 33, layout="sliced"),
    at(2, 150, 33, layout="contiguous", b_layout="transposed"),
    at(2, 70, 150, layout="transposed", b_layout="strided", dtype=HALF),
    at(3, 100, 33, layout=TIME, b_layout=TIME),
    at(3, 100, 33, layout="expanded", b_layout="contiguous"),
    at(2, 70, 160, layout="broadcast", b_layout="contiguous", dtype=BRAIN),
    at(2, 100, 33, layout="offset"),
    at(2, 100, 33, values="large", decay="resets"),
    at(2, 100, 33, values="heavy"),
    at(2, 90, 33, upstream="sliced"),
    at(2, 70, 140, upstream="transposed", dtype=HALF),
    at(2, 90, 33, upstream="scalar"),
    at(2, 90, 33, alone=0),
    at(2, 90, 33, alone=1),
    at(2, 150, 33, calls=2),
    at(2, 600_011, 2049, dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="scan",
    inputs=inputs,
    reference=with_gradients(),  # which keeps a rounded h, as kernels do
    reduces=lambda case: case.t,
    gradients=Gradients(of=(0, 1), saved=kept),
    suspects=SUSPECTS,
    shown=at(1, 64, 32),
    cases=CASES,
    speed=Speed(at(8, 4096, 2048, gpu=True), moved=lambda a, b: 3 * b.nbytes, of_copy=0.35, sweep=("t", "d")),
)
