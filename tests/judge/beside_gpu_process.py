"""A process of its own for checks/test_evaluated.py: what a judge beside a GPU learns of small cases from
the evaluator, and of huge ones that are walked early, without a GPU. Prints of each its sentence, `passed`,
or why it is not measured.

    python -m tests.judge.beside_gpu_process DAY KERNEL
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.challenge import Case, Challenge
from grader.course import catalog
from grader.judge.checks import huge_case_addresses, small_cases_on_evaluator
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session
from grader.request import Request
from grader.runner_answers import Loaded
from tests.judge.parent_without_gpu import parent


def main() -> None:
    """Prints what is said of each case, by its name."""
    day, path = catalog.find(sys.argv[1]), Path(sys.argv[2])
    request = Request("grade", day.hidden_tests, path, day.provided, path.read_bytes(), "gpu", 7, 60.0)
    session = Session(request, parent())
    loaded = session.load(session.evaluators.runner())
    assert isinstance(loaded, Loaded)
    for challenge in session.challenges:
        session.names[challenge.entry] = [one.name for one in loaded.functions[challenge.entry] or []]
    small_cases_on_evaluator.begin(session)
    huge_case_addresses.begin(session)
    pairs, walks = session.asked.evaluated(), session.asked.walks()
    named = {session.asked.case_id(pair, "evaluated"): pair for pair in pairs}
    told = {name: said(small_cases_on_evaluator.check, session, *pair) for name, pair in named.items()}
    told |= {session.asked.walk_id(pair): said(huge_case_addresses.check, session, *pair) for pair in walks}
    print(json.dumps(told))


def said(check: Callable[..., Any], session: Session, challenge: Challenge, case: Case) -> str:
    """What is said of one case."""
    try:
        check(session, challenge, case)
    except NotMeasured as told:
        return str(told)
    except CheckFailed as failed:
        return failed.told[0] if failed.told else str(failed)
    return "passed"


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # a thread that waits for a process holds nobody up
