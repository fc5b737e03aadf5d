"""How a check ends that does not pass."""

from __future__ import annotations

from typing import Any

from grader.verdict import Outcome


class CheckFailed(Exception):
    """A check did not pass.

    Args:
        outcome: failed, slow, inconclusive, crashed or timeout.
        cause: the facts, for the check's record.
        told: the sentence and the thing to look at, where the check itself knows them.
    """

    def __init__(self, outcome: Outcome, cause: dict[str, Any], told: tuple[str, str] | None = None) -> None:
        super().__init__(cause.get("reason", outcome))
        self.outcome, self.cause, self.told = outcome, cause, told


def torch_worked(operator: str) -> CheckFailed:
    """What is right at the sizes of cases is done at full size by torch."""
    said = f"At full size torch did part of the work: {operator} ran outside of your kernel."
    return CheckFailed("failed", {"reason": said}, (said, f"the torch call behind {operator}"))


class NotMeasured(Exception):
    """A check has no meaning here, and says why."""
