"""A process of its own for test_recheck_on_evaluator.py: has a judge without a GPU look closer at a case as a
GPU shows it, by values alone, and prints what the diagnosis says before and after, and the cause.

    python -m tests.judge.recheck_process DAY KERNEL [right [blocks]]

With `right` the GPU shows what the file does not do, with `blocks` in launches of another grid.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from grader.challenge.harness.answer_checks import find
from grader.challenge.harness.run_case import attempt
from grader.challenge.harness.runner_client import Runner
from grader.challenge.harness.trial import Trial
from grader.course import catalog
from grader.diagnosis.diagnose import diagnose
from grader.judge import recheck_on_evaluator
from grader.judge.session import Session
from grader.request import Request
from grader.runner_answers import Called, Loaded
from grader.verdict import Check
from tests.judge.parent_without_gpu import parent


def shown(session: Session, runner: Runner, spoil: bool) -> Trial:
    """The first case that fails by its values, as a GPU shows it: no address, no race."""
    as_cpu = replace(session.request, device="cpu")
    for challenge, case in session.asked.cases("correct"):
        trial = attempt(runner, challenge, case, session.names[challenge.entry], as_cpu)
        assert trial.answer is not None
        if isinstance(trial.answer.report, Called):
            launches = trial.answer.report.launches
            if "blocks" in sys.argv:
                launches = [replace(one, grid=[7, *one.grid[1:]]) for one in launches]
            trial.answer.report = replace(trial.answer.report, overruns=[], races=[], launches=launches)
        if spoil:
            trial.answer.outputs[0].fill_(7)
        trial.findings = find(trial)
        session.evidence.trials.append(trial)
        if not trial.passed:
            return trial
    raise AssertionError("no case fails by its values")


def main() -> None:
    """Prints sentence before, sentence after, cause, and how many huge cases are walked."""
    day, path, spoil = catalog.find(sys.argv[1]), Path(sys.argv[2]), "right" in sys.argv
    request = Request("grade", day.hidden_tests, path, day.provided, path.read_bytes(), "gpu", 7, 60.0)
    session = Session(request, parent())
    runner = session.evaluators.runner()
    loaded = session.load(runner)
    assert isinstance(loaded, Loaded)
    for challenge in session.challenges:
        session.names[challenge.entry] = [one.name for one in loaded.functions[challenge.entry] or []]
    trial = shown(session, runner, spoil)
    check = Check(f"correct[{session.asked.case_id((trial.challenge, trial.case))}]", "failed")
    before = diagnose(session.evidence)[0]
    cause = recheck_on_evaluator.look(session, check)
    print(json.dumps([before, diagnose(session.evidence)[0], cause, len(session.asked.walks())], default=str))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
