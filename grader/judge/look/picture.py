"""What the kernels of some extras make of an image: for `track show`."""

from __future__ import annotations

import base64
import contextlib
from typing import Any

import numpy as np
import torch

from grader.challenge import Challenge
from grader.challenge.cases.attempt import Attempt
from grader.challenge.cases.findings import form_findings
from grader.challenge.cases.runner_client import RunnerLost
from grader.judge.session import Session


def _image() -> torch.Tensor:
    """A sky that fades, the sun, a striped house on speckled ground: uint8 [96, 144, 3]."""
    y, x = np.mgrid[:96, :144]
    pixels = np.stack([40 + x, 90 + y, 255 - y], axis=-1)
    pixels[(x - 112) ** 2 + (y - 24) ** 2 < 300] = 255, 210, 40
    pixels[78:] = np.random.default_rng(1).integers((20, 90, 20), (90, 200, 60), (18, 144, 3))
    pixels[38:84, 20:76] = np.where(x[38:84, 20:76, None] % 8 < 3, (250, 245, 235), (190, 40, 40))
    return torch.from_numpy(pixels.astype(np.uint8))


def _palette() -> torch.Tensor:
    """The colours of a rainbow: uint8 [256, 3]."""
    turns = torch.arange(256)[:, None] / 256 + torch.arange(3) / 3
    return (128 + 127 * torch.cos(2 * torch.pi * turns)).byte()


ARGUMENTS: dict[str, Any] = {
    "grayscale": lambda: (_image(),),
    "box_blur": lambda: (_image(), 4),
    "gaussian_blur": lambda: (_image()[:, :, 1].float().contiguous(), 2.5, 7),
    "frames": lambda: (_palette(), 0, 24, 128, 192),
}


def pictured(session: Session, challenge: Challenge) -> dict[str, Any]:
    """As `picture` the image before and after, or a film; nothing where the result has not its form."""
    if challenge.entry not in ARGUMENTS:
        return {}
    arguments, names = ARGUMENTS[challenge.entry](), session.names[challenge.entry]
    one = Attempt(challenge, challenge.cases[0], names, session.request, arguments)
    with contextlib.suppress(RunnerLost):
        one.ask(session.ready_runner())
        one.read()
    if one.trial.answer is None or form_findings(one.trial):
        return {}
    before = () if challenge.entry == "frames" else arguments[:1]
    return {"picture": [_packed(image) for image in (*before, *one.trial.answer.outputs)]}


def _packed(image: torch.Tensor) -> dict[str, Any]:
    """Its bytes as text, for an event has room for no others."""
    pixels = image.float().nan_to_num().clamp(0, 255).byte()
    return {"shape": list(image.shape), "bytes": base64.b64encode(pixels.numpy().tobytes()).decode()}
