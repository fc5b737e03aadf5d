"""What is wrong with a backward pass beside its values: what was kept for it, and what it did unasked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import torch

from grader.challenge.harness.compare import Finding, told
from grader.challenge.harness.trial import Trial
from grader.runner_answers import Kept

LISTED = 6  # tensors kept for the backward pass that a message names
FORGIVEN = 1 << 10  # bytes kept for the backward pass: scalars, and seeds in tensors


def saved_findings(trial: Trial, kept: Sequence[Kept]) -> list[Finding]:
    """What the forward pass keeps for the backward pass, against what the day allows."""
    if trial.challenge.gradients is None:
        return []
    free, allowed = _parameters(trial), trial.challenge.gradients.saved(*trial.arguments)
    counted = [entry for entry in kept if entry.name not in free]
    size = sum(entry.bytes for entry in counted)
    if size <= allowed * 1.05 + FORGIVEN:
        return []
    listed = sorted(counted, key=lambda entry: -entry.bytes)
    first = ", ".join(f"{entry.name} ({entry.bytes})" for entry in listed[:LISTED])
    beside = f" beside {' and '.join(sorted(spared))}" if (spared := free & {e.name for e in kept}) else ""
    more = f" and {len(listed) - LISTED} smaller ones" if len(listed) > LISTED else ""
    sentence = (
        f"The forward pass keeps {size} bytes for the backward pass{beside} where {allowed} are enough: "
        f"{first}{more}."
    )
    return [told("saved", sentence, "ctx", kept=[asdict(entry) for entry in kept], allowed=allowed)]


def unasked_findings(trial: Trial, size: int) -> list[Finding]:
    """A gradient that was computed though nobody asked for it, where the day says that none may be."""
    gradients = trial.challenge.gradients
    if gradients is None or not gradients.if_asked or trial.case.alone is None or not size:
        return []
    others = [trial.names[position] for position in gradients.of if position not in trial.of]
    alone = trial.names[trial.of[0]]
    said = (
        f"Only the gradient of {alone} is asked for here, and that of {' or '.join(others)} was computed as "
        f"well, {size} bytes of it. ctx.needs_input_grad says which are wanted."
    )
    return [told("unasked", said, "backward()", bytes=size)]


def _parameters(trial: Trial) -> set[str]:
    """Vectors that all rows of a larger argument share: the model holds them anyway."""
    tensors = {n: a for a, n in zip(trial.arguments, trial.names, strict=True) if isinstance(a, torch.Tensor)}
    most = max((tensor.dim() for tensor in tensors.values()), default=0)
    return {name for name, tensor in tensors.items() if tensor.dim() == 1 < most}
