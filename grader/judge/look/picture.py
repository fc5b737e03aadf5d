"""What the kernels of some extras make of an image: for `track show`."""

from __future__ import annotations

import base64
from typing import Any

import torch

from grader.challenge import Challenge
from grader.challenge.cases.attempt import attempt
from grader.challenge.cases.findings import form_findings
from grader.challenge.cases.runner_client import RunnerLost
from grader.judge.session import Session


def pictured(session: Session, challenge: Challenge) -> dict[str, Any]:
    """As `picture` the image before and after, or a film; nothing where the result has not its form."""
    if challenge.image is None:
        return {}
    arguments, names = challenge.image(), session.names[challenge.entry]
    try:
        trial = attempt(
            session.ready_runner(), challenge, challenge.cases[0], names, session.request, arguments
        )
    except RunnerLost:
        return {}
    if trial.answer is None or form_findings(trial):
        return {}
    (result,) = trial.answer.outputs
    images = [result] if result.dim() == 4 else [arguments[0], result]
    return {"picture": [_packed(image) for image in images]}


def _packed(image: torch.Tensor) -> dict[str, Any]:
    """Its bytes as text, for an event has room for no others."""
    pixels = image.float().nan_to_num().clamp(0, 255).byte()
    return {"shape": list(image.shape), "bytes": base64.b64encode(pixels.numpy().tobytes()).decode()}
