"""Extra: an image in grey, exact to the bit, at 0.25 of a plain copy of 4 bytes a pixel."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from grader.challenge import Case, Challenge, Own, Speed, between
from grader.challenge.formulas.image_demos import house

CROP = Own("crop")  # like image[:, :w]: rows lie 5 pixels further apart than they are long
RGBA = Own("rgba")  # like image[..., :3] of four channels: pixels lie 4 bytes apart
TURNED = Own("turned")  # like image.transpose(0, 1): the pixels of a column lie close together
THINNED = Own("thinned")  # like image[::2, ::2]: every second pixel of every second row
REPEATED = Own("repeated")  # one row, expanded: its stride is 0


def image_of(case: Case, draw) -> Tensor:
    """Bytes [h, w, 3] in the case's layout."""
    h, w = case.h, case.w

    def of(*shape: int, layout: str = "contiguous") -> Tensor:
        return draw.integers(*shape, low=0, high=256, dtype=torch.uint8, layout=layout)

    made: dict[str, Callable[[], Tensor]] = {
        CROP: lambda: of(h, w + 5, 3)[:, :w],
        RGBA: lambda: of(h, w, 4)[..., :3],
        TURNED: lambda: of(w, h, 3).transpose(0, 1),
        THINNED: lambda: of(2 * h, 2 * w, 3)[::2, ::2],
        REPEATED: lambda: of(1, w, 3).expand(h, w, 3),
    }
    return made[case.layout]() if case.layout in made else of(h, w, 3, layout=case.layout)


def inputs(case: Case, draw) -> tuple[Tensor]:
    """image; with `level` all bytes are that, as `corners` each is 0 or 255, as `only` one channel is lit.

    Where CROP, rows lie 5 pixels further apart than they are long. Where RGBA, pixels lie 4 bytes apart.
    Where TURNED, the pixels of a column lie close together. Where THINNED, it is every second pixel of every
    second row of an image. Where REPEATED, all rows are one in memory.
    """
    image = image_of(case, draw)
    if "level" in case:
        image.fill_(case.level)
    if "corners" in case:
        image.copy_((image > 127) * 255)
    if "only" in case:
        image.mul_(torch.arange(3, device=image.device) == case.only)
    return (image,)


def mixed(image: Tensor, weights: tuple[int, int, int], half: int = 128) -> Tensor:
    """The weighted sum of the channels in 256ths, with `half` for rounding; as a byte, which may wrap."""
    red, green, blue = image.long().unbind(-1)
    return ((weights[0] * red + weights[1] * green + weights[2] * blue + half) >> 8).to(torch.uint8)


def grey(image: Tensor) -> Tensor:
    return mixed(image, (77, 150, 29))


def planar(image: Tensor) -> Tensor:
    """Someone who takes the bytes for [3, h, w]."""
    h, w, _ = image.shape
    return grey(image.reshape(3, h, w).movedim(0, -1))


def wrapped(image: Tensor) -> Tensor:
    """Someone whose products and sums stay bytes, and are shifted as such."""
    red, green, blue = image.long().unbind(-1)
    return (((77 * red & 255) + (150 * green & 255) + (29 * blue & 255) + 128 & 255) >> 8).to(torch.uint8)


def eager(image: Tensor) -> Tensor:
    """torch's own way: three planes in int32, weighted and added."""
    red, green, blue = image.int().unbind(-1)
    return ((77 * red + 150 * green + 29 * blue + 128) >> 8).to(torch.uint8)


big = Case(h=8192, w=8192, dtype=torch.uint8, gpu=True)


def at(h: int, w: int, **more) -> Case:
    return Case(h=h, w=w, dtype=torch.uint8, **more)


CASES = [
    at(3, 5),
    at(1, 1),
    at(0, 5),
    at(5, 0),
    at(1, 40),
    at(40, 1),
    at(7, 64),
    at(33, 17),
    at(6, 41),
    at(12, 80),
    at(1, 1100),
    at(2, 1023),
    at(2, 1024),
    at(2, 1025),
    at(3, 2047),
    at(2, 2048),
    at(between(11, 29), between(31, 97)),
    at(131, 61),
    at(3, 3089),
    at(9, 50, corners=True),
    at(9, 50, only=0),
    at(9, 50, only=1),
    at(9, 50, only=2),
    at(5, 30, level=0),
    at(5, 30, level=255),
    at(5, 30, level=1),
    at(6, 41, layout=CROP),
    at(2, 1030, layout=CROP),
    at(6, 41, layout=RGBA),
    at(6, 41, layout=TURNED),
    at(6, 41, layout=THINNED),
    at(6, 41, layout=REPEATED),
    at(6, 41, layout="offset"),
    at(6, 41, layout="sliced"),
    at(6, 41, calls=2),
    at(70_001, 3, gpu=True, demand="grid_axes"),
    at(70_009, 20_011, huge=True),
]

challenge = Challenge(
    entry="grayscale",
    inputs=inputs,
    reference=grey,
    cases=CASES,
    shown=at(6, 41),
    image=lambda: (house(),),
    suspects={
        "The half that rounds is not added before the shift: the result is rounded down.": lambda image: (
            mixed(image, (77, 150, 29), half=0)
        ),
        "The channels are taken for blue, green, red: red is the first byte of a pixel.": lambda image: mixed(
            image, (29, 150, 77)
        ),
        "The image is taken for three planes: the three bytes of a pixel lie side by side.": planar,
        "The products wrap around: bytes that are multiplied stay bytes, so widen them first.": wrapped,
        "All channels have the same weight: each has its own.": lambda image: (image.long().sum(-1) // 3).to(
            torch.uint8
        ),
    },
    speed=Speed(big, moved=lambda image: 4 * image.numel() // 3, of_copy=0.25, torch=eager, sweep=("h", "w")),
)
