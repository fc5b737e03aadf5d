"""The first check: does the file import, and is the function there?"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence

from grader.challenge import Challenge
from grader.challenge.harness.trial import draw
from grader.course.catalog import Day
from grader.course.entry_functions import askers, entries
from grader.diagnosis.source_context import jitted
from grader.judge.failures import CheckFailed, failed, raised
from grader.judge.session import Session
from grader.runner_answers import Failed, Parameter

Functions = dict[str, list[Parameter] | None]


def check(session: Session) -> None:
    """Load the file in a runner and hold its functions against every part of the challenge.

    Raises:
        CheckFailed: with the learner's line, or what is missing.
    """
    runner = session.runner or session.fresh_runner()
    loaded = session.load(runner)
    if isinstance(loaded, Failed):
        fault = loaded.fault
        how = "ran out of memory" if fault.kind == "memory" else f"raised {fault.type}: {fault.first_line}"
        where = f"line {fault.line}" if fault.line else "your file"
        raise raised(fault, session.evidence.source, f"Your file does not import: {where} {how}")
    if loaded.replaced:
        raise failed(*replaced(loaded.replaced[0]))
    for challenge in session.challenges:
        parameters = _entry(challenge, loaded.functions, session)
        wanted = draw(challenge, challenge.cases[0], session.request.seed, "cpu")
        pid = 1 if challenge.probe else 0  # a device function takes the program's number first
        session.names[challenge.entry] = _names(challenge, parameters, len(wanted) + pid)[pid:]


def replaced(name: str) -> tuple[str, str]:
    """What is said of a file that gives another meaning to a name that is not its own."""
    sentence = f"Your file replaces {name}: that is not its own, and the grader needs it as it is."
    return sentence, f"what your file does to {name}"


def _entry(challenge: Challenge, functions: Functions, session: Session) -> list[Parameter] | None:
    if challenge.entry in functions:
        return functions[challenge.entry]
    found = ", ".join(sorted(name for name in functions if not name.startswith("_"))) or "no functions"
    sentence = f"Your file defines no function {challenge.entry}(); it defines {found}."
    every = [node for node in ast.parse(session.evidence.source).body if isinstance(node, ast.FunctionDef)]
    # A kernel where one is asked for, and else none.
    names = [node.name for node in every if jitted(node) == bool(challenge.probe)]
    near = difflib.get_close_matches(challenge.entry, names, n=1)
    begun = any(part.entry in functions for part in session.challenges)
    others = [] if near or begun else askers(functions)
    if others:
        cause = {"reason": sentence, "asked_by": [day.key for day in others]}
        raise CheckFailed("failed", cause, (f"{sentence} {_asking(others)}", ""))
    nearest = near[0] if near else names[0] if len(names) == 1 else ""
    told = (f"{sentence} Is {nearest}() meant?", f"{nearest}()") if nearest else (sentence, "")
    raise CheckFailed("failed", {"reason": sentence}, told)


def _asking(days: Sequence[Day]) -> str:
    """`Day 13 and day 14 ask for softmax().`"""
    names = " and ".join(f"{day.kind} {day.key}" for day in days)
    asked = " and ".join(f"{name}()" for name in sorted(entries(days[0])))
    return f"{names.capitalize()} ask{'s' if len(days) == 1 else ''} for {asked}."


def _names(challenge: Challenge, parameters: list[Parameter] | None, wanted: int) -> list[str]:
    if parameters is None:
        return [f"argument {index}" for index in range(wanted)]
    required = sum(parameter.required for parameter in parameters)
    if required <= wanted <= len(parameters):
        return [parameter.name for parameter in parameters]
    listed = ", ".join(parameter.name for parameter in parameters)
    sentence = (
        f"{challenge.entry}({listed}) is called with {wanted} positional arguments; it takes "
        f"{len(parameters)}."
    )
    raise failed(sentence, f"{challenge.entry}()")
