"""Programs of one launch that meet in one place of memory, as the evaluator saw it."""

from __future__ import annotations

from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Diagnosis


def raced(trial: Trial) -> Diagnosis | None:
    """What is said of a race, if there was one."""
    return next((found.told for found in trial.findings if found.kind == "race"), None)


def too_soon(trial: Trial, *_: object) -> Diagnosis | None:
    """The rule of the diagnosis for a load of what another program stores: values are by luck then, whatever
    they look like.
    """
    met = (found for found in trial.findings if found.kind == "race" and found.facts["kind"] == "load")
    return next((found.told for found in met), None)
