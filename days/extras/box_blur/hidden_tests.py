"""Extra: an image blurred by the mean of each pixel's window, exact to the bit; at 0.6 of torch's speed."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.challenge import Case, Challenge, Speed, between
from grader.challenge.formulas.image_demos import house

from .suspects import SUSPECTS, box


def inputs(case: Case, draw) -> tuple[Tensor, int]:
    """image and radius; with `level` all bytes are that, as `corners` each is 0 or 255."""
    image = draw.integers(case.h, case.w, 3, low=0, high=256, dtype=torch.uint8, layout=case.layout)
    if "level" in case:
        image.fill_(case.level)
    if "corners" in case:
        image.copy_((image > 127) * 255)
    return image, case.radius


def pooled(image: Tensor, radius: int) -> Tensor:
    """torch's way: floats, channels in front, a pooling layer, and back."""
    planes = image.permute(2, 0, 1)[None].float()
    mean = F.avg_pool2d(planes, 2 * radius + 1, 1, radius, count_include_pad=False)
    return (mean + 0.5).floor().to(torch.uint8)[0].permute(1, 2, 0).contiguous()


CASES = [
    Case(h=4, w=5, radius=1),
    Case(h=1, w=1, radius=0),
    Case(h=1, w=1, radius=2),
    Case(h=0, w=4, radius=1, demand="degenerate_sizes"),
    Case(h=4, w=0, radius=1, demand="degenerate_sizes"),
    Case(h=5, w=6, radius=0),
    Case(h=2, w=3, radius=15),
    Case(h=1, w=30, radius=2),
    Case(h=30, w=1, radius=2),
    Case(h=9, w=8, radius=2),
    Case(h=7, w=11, radius=3),
    Case(h=3, w=341, radius=1),
    Case(h=3, w=342, radius=1),
    Case(h=2, w=691, radius=2),
    Case(h=31, w=9, radius=2),
    Case(h=32, w=16, radius=3),
    Case(h=33, w=10, radius=4),
    Case(h=67, w=5, radius=1),
    Case(h=between(35, 60), w=13, radius=3),
    Case(h=19, w=between(23, 41), radius=5),
    Case(h=40, w=37, radius=15),
    Case(h=40, w=37, radius=15, level=255),
    Case(h=33, w=20, radius=4, level=0),
    Case(h=12, w=21, radius=3, corners=True),
    Case(h=17, w=24, radius=2, layout="offset"),
    Case(h=11, w=16, radius=2, calls=2),
    Case(h=47_001, w=16_001, radius=1, huge=True),
]

challenge = Challenge(
    entry="box_blur",
    inputs=inputs,
    reference=box,
    suspects=SUSPECTS,
    shown=Case(h=33, w=10, radius=4),
    image=lambda: (house(), 4),
    cases=CASES,
    speed=Speed(
        Case(h=4096, w=4096, radius=3, gpu=True),
        moved=lambda image, radius: 2 * image.nbytes,
        of_copy=0.02,
        of_torch=0.6,
        torch=pooled,
        sweep=("h",),
    ),
)
