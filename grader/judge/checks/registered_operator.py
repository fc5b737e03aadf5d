"""The check of an operator that is registered with torch, by torch's own tests; shown as one of the edges."""

from __future__ import annotations

import re
from typing import Any

from grader.challenge import Case, Challenge
from grader.challenge.harness.argument_serialization import pack_arguments
from grader.challenge.harness.oracle import gradient_positions
from grader.challenge.harness.trial import draw
from grader.judge.failures import failed
from grader.judge.session import Session
from grader.runner_answers import Registered

# What is meant by words of torch's that do not say it.
MEANS = {
    "must not also be an input": "it returns an argument. It is to return new tensors, or None.",
    "data pointer|data is NULL|Pointer argument": "a kernel was launched on fake tensors. They hold no data: "
    "each launch goes through `wrap_triton`, in the backward pass too, and torch only notes it down.",
}


def check(session: Session, challenge: Challenge) -> None:
    """Have torch test the operator on a few cases.

    Raises:
        CheckFailed: the first test that fails, or the runner was lost.
    """
    for case in _few(challenge):
        arguments = draw(challenge, case, session.request.seed, session.device)
        specs, blobs = pack_arguments(arguments, session.names[challenge.entry][: len(arguments)])
        command: dict[str, Any] = {"do": "operator", "entry": challenge.entry, "arguments": specs}
        command |= {"operator": challenge.operator, "of": gradient_positions(challenge, arguments)}
        found, _ = session.ask(case, command, Registered, blobs)
        if found.failed:
            said = (found.message.splitlines() or [""])[0]
            means = next((mean for words, mean in MEANS.items() if re.search(words, found.message)), said)
            sentence = f"{challenge.operator} fails {found.failed}: {means}"
            look_at = f"how {challenge.operator} is registered{_line(session, challenge)}"
            raise failed(sentence, look_at, test=found.failed, says=found.message)


def _line(session: Session, challenge: Challenge) -> str:
    """`: line 48`, where the file has the operator's name; empty where it has not."""
    before, found, _ = session.evidence.source.partition(f'"{challenge.operator}"')
    return f": line {before.count(chr(10)) + 1}" if found else ""


def _few(challenge: Challenge) -> list[Case]:
    """The first case, an empty one, and one whose tensors do not lie in one piece."""
    cases = [case for case in challenge.cases if not (case.gpu or case.huge)]
    empty = [case for case in cases if any(type(size) is int and not size for size in case.sizes.values())]
    scattered = [case for case in cases if case.layout not in ("contiguous", "offset")]
    return [*cases[:1], *empty[:1], *scattered[:1]]
