"""One grading as the learner meets it: run and shown, written down, answered with what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from grader.cli.command_context import note, standing
from grader.cli.screens import Terminal, result
from grader.cli.screens.grading import Grading
from grader.cli.screens.progress import following, gained
from grader.cli.screens.terminal import Next, near
from grader.course.catalog import Day
from grader.course.learner import journal
from grader.course.learner.journal import Progress
from grader.course.learner.workspace import Workspace
from grader.errors import CannotGrade, pasted
from grader.verdict import Verdict

if TYPE_CHECKING:
    from grader.grading.warm_client import Warm

Device = Literal["auto", "cpu", "gpu"]

EXPLAIN = 4.0  # seconds that a learner waits for an edit that makes the file right


@dataclass(frozen=True)
class Submission:
    """What to grade.

    Attributes:
        workspace: where it is written down; None for a file that is nobody's day.
        only: the one case to try; such a grading never counts as a pass.
        strict: confine the learner's code.
        claims: hold what is claimed of such kernels against torch.
        limits: make every limit a requirement.
        explain: seconds to look for one edit that makes a file that fails right.
        timeout: seconds that the whole grading may take.
        fail_fast: end at the first check that fails.
    """

    day: Day
    path: Path
    workspace: Workspace | None = None
    device: Device = "auto"
    seed: int | None = None
    only: str | None = None
    strict: bool = False
    claims: bool = False
    limits: bool = False
    explain: float = EXPLAIN
    timeout: float | None = None
    fail_fast: bool = False


class Graded(NamedTuple):
    verdict: Verdict
    recorded: bool


def grade(submission: Submission, terminal: Terminal, warm: Warm | None = None) -> Graded:
    """Grades and shows it on `terminal`. A Ctrl-C leaves the journal as it was.

    Raises:
        BadSubmission, CannotGrade: there is no verdict.
    """
    try:
        from grader.grading import grade as engine
    except ImportError as error:
        raise CannotGrade(f"Cannot grade: {error.name or error} is not installed.", "track doctor") from error
    with Grading(terminal, submission.day) as live:
        verdict: Verdict = engine.grade(
            submission.day,
            submission.path,
            device=submission.device,
            seed=submission.seed,
            only=submission.only,
            on_event=live,
            warm=warm,
            strict=submission.strict,
            claims=submission.claims,
            limits=submission.limits,
            explain=submission.explain,
            timeout=submission.timeout,
            fail_fast=submission.fail_fast,
            given="" if submission.workspace else f" --file {pasted(near(submission.path))}",
        )
        live.finish(verdict)
    facts = journal.summary(verdict, submission.only)
    found = submission.workspace
    recorded = found is not None and note(found, "graded", submission.day, **facts)
    if submission.claims and not verdict.claims:
        terminal.line(NO_CLAIM)
    passed = _following(submission, recorded) if found else None
    options: dict[str, Any] = {"only": submission.only, "limits": submission.limits}
    if recorded:
        here = standing()
        options["gained"] = gained(here.progress, submission.day, here.journal.records)
    result.show(terminal, verdict, submission.path, passed=passed, recorded=recorded, **options)
    return Graded(verdict, recorded)


NO_CLAIM = (
    "No claim was held against torch: that takes a GPU, a kernel that passes, and an exercise that claims "
    "something, such as find_the_bug_flash."
)


def _following(submission: Submission, recorded: bool) -> Next:
    """What to do after a pass: it once more, if the journal could not take it."""
    if not recorded:
        return f"track grade {submission.day.key}", "once it can be recorded"
    progress = {**standing().progress, submission.day.key: Progress(on_cpu=True, on_gpu=True)}
    return following(progress, submission.day)
