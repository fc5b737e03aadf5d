"""What a kernel makes of an image, by matplotlib; or a film, by the Pillow that comes with it."""

from __future__ import annotations

import base64
import importlib
import io
from typing import Any

import numpy as np

from grader.course.setup.doctor import PIP
from grader.errors import TrackError

SIGNATURE = "track show"  # in all that we make


def draw(images: list[Any]) -> bytes:
    """A picture of images as the judge packed them: of two before and after, of one a film of 256 colours.

    Raises:
        TrackError: matplotlib is missing.
    """
    arrays = [np.frombuffer(base64.b64decode(one["bytes"]), np.uint8).reshape(one["shape"]) for one in images]
    drawn = io.BytesIO()
    try:
        if len(arrays) == 1:
            pillow: Any = importlib.import_module("PIL.Image")
            first, *others = [pillow.fromarray(frame).quantize(256, dither=0) for frame in arrays[0]]
            rest = {"append_images": others, "duration": 80, "loop": 0, "comment": SIGNATURE.encode()}
            first.save(drawn, "GIF", save_all=True, **rest)
            return drawn.getvalue()
        figure: Any = importlib.import_module("matplotlib.figure").Figure((9, 3.4), layout="constrained")
    except ImportError:
        raise TrackError("This is drawn by matplotlib, which is missing.", f"{PIP} matplotlib") from None
    for axes, image, title in zip(figure.subplots(1, 2), arrays, ("before", "after"), strict=True):
        axes.imshow(image, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        axes.set(title=title, xticks=[], yticks=[])
    figure.savefig(drawn, format="png", metadata={"Software": SIGNATURE})
    return drawn.getvalue()
