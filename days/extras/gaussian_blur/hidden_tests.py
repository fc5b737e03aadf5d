"""Extra: a Gaussian blur whose edges reflect; at 0.22 of a copy that moves what both passes do."""

from __future__ import annotations

from torch import Tensor

from grader.challenge import Case, Challenge, Speed, between
from grader.challenge.formulas.dtypes import BRAIN, HALF
from grader.challenge.formulas.image_demos import house

from .suspects import SUSPECTS, blur


def inputs(case: Case, draw) -> tuple[Tensor, float, int]:
    """x, sigma and radius; with `stripes` all numbers are near that, and negative in every second row."""
    x = draw(case.h, case.w)
    if "stripes" in case:
        x += case.stripes
        x[1::2] *= -1
    return x, case.sigma, case.radius


def moved(x: Tensor, sigma: float, radius: int) -> int:
    """What two passes move: x in, fp32 out and in again, and the result out."""
    return 2 * x.nbytes + 2 * 4 * x.numel()


CASES = [
    Case(h=5, w=7, sigma=1.0, radius=2),
    Case(h=1, w=1, sigma=1.0, radius=0),
    Case(h=4, w=6, sigma=1.5, radius=0),
    Case(h=2, w=2, sigma=1.0, radius=1),
    Case(h=3, w=3, sigma=2.0, radius=2),
    Case(h=1, w=40, sigma=1.0, radius=0),
    Case(h=9, w=8, sigma=1.5, radius=3),
    Case(h=21, w=4, sigma=0.7, radius=3),
    Case(h=16, w=128, sigma=2.0, radius=5),
    Case(h=17, w=129, sigma=1.0, radius=4),
    Case(h=33, w=17, sigma=4.0, radius=16),
    Case(h=2, w=1023, sigma=1.0, radius=1),
    Case(h=3, w=1024, sigma=0.8, radius=2),
    Case(h=3, w=1025, sigma=1.2, radius=2),
    Case(h=between(35, 60), w=13, sigma=2.5, radius=6),
    Case(h=19, w=between(23, 41), sigma=1.7, radius=5),
    Case(h=31, w=37, sigma=9.0, radius=25),
    Case(h=11, w=13, sigma=0.3, radius=3),
    Case(h=11, w=13, sigma=100.0, radius=4),
    Case(h=12, w=20, sigma=2.0, radius=3, dtype=HALF),
    Case(h=17, w=70, sigma=1.5, radius=4, dtype=HALF),
    Case(h=12, w=20, sigma=2.0, radius=3, dtype=BRAIN),
    Case(h=12, w=20, sigma=1.0, radius=3, stripes=30, dtype=HALF),
    Case(h=12, w=20, sigma=1.0, radius=3, stripes=30, dtype=BRAIN),
    Case(h=12, w=21, sigma=2.0, radius=3, layout="sliced"),
    Case(h=12, w=24, sigma=2.0, radius=3, layout="padded", dtype=HALF),
    Case(h=12, w=21, sigma=2.0, radius=3, layout="offset"),
    Case(h=12, w=21, sigma=2.0, radius=3, layout="expanded"),
    Case(h=12, w=21, sigma=2.0, radius=3, values="constant"),
    Case(h=12, w=21, sigma=2.0, radius=3, values="large"),
    Case(h=12, w=21, sigma=2.0, radius=3, values="large", dtype=HALF),
    Case(h=12, w=21, sigma=2.0, radius=3, values="zeros"),
    Case(h=12, w=21, sigma=2.0, radius=3, values="nan"),
    Case(h=12, w=21, sigma=2.0, radius=3, values="inf"),
    Case(h=12, w=21, sigma=2.0, radius=3, calls=2),
    Case(h=50_001, w=50_003, sigma=1.0, radius=1, dtype=HALF, huge=True),
    Case(h=2100, w=9, sigma=1.0, radius=1, layout="far", dtype=HALF, huge=True),
]

challenge = Challenge(
    entry="gaussian_blur",
    inputs=inputs,
    reference=blur,
    suspects=SUSPECTS,
    shown=Case(h=17, w=129, sigma=1.0, radius=4),
    image=lambda: (house()[:, :, 1].float().contiguous(), 2.5, 7),
    cases=CASES,
    speed=Speed(Case(h=8192, w=8192, sigma=3.0, radius=8, gpu=True), moved=moved, of_copy=0.22, sweep=("h",)),
)
