"""The check of how often kernels are compiled over some calls; shown as one of the edges."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from grader.challenge import Challenge
from grader.challenge.harness.runner_client import RunnerLost
from grader.judge.background_compile import question, surveyed
from grader.judge.failures import NotMeasured, failed
from grader.judge.session import Session

Recipe = dict[str, Any]


def check(session: Session, challenge: Challenge) -> None:
    """Make the calls and count.

    Raises:
        CheckFailed: the first kernel that is compiled too often, and for what.
        NotMeasured: what a call launches is not known.
    """
    wanted = challenge.compilations
    assert wanted is not None
    session.all_compiled()
    questions = [question(session, challenge, case) for case in wanted.cases]
    try:
        made = [recipe for _, recipe in surveyed(session, questions)]
    except RunnerLost as lost:
        raise NotMeasured(f"compilations are not counted: {lost.reason}") from None
    unknown = next((recipe["unknown"] for recipe in made if "unknown" in recipe), "" if made else "no launch")
    if unknown:
        raise NotMeasured(f"compilations are not counted: {unknown}")
    # Launches alike are compiled once.
    found = list({json.dumps([one["kernel"], one["alike"], one["options"]]): one for one in made}.values())
    for name in dict.fromkeys(recipe["kernel"] for recipe in found):
        own = [recipe for recipe in found if recipe["kernel"] == name]
        if len(own) > wanted.most:
            calls = len(wanted.cases)
            count = f"Over {calls} calls {name} is compiled {len(own)} times; {wanted.most} are enough."
            sentence = f"{count} {_why(own)}"
            look_at = f"the parameters of {name}, line {own[0]['line']}"
            raise failed(sentence, look_at, line=own[0]["line"], compilations=len(own))


def _why(recipes: Sequence[Recipe]) -> str:
    """What tells these compilations of one kernel apart: of what varies, that of which there is most."""
    given = [{**recipe["arguments"], **recipe["options"]} for recipe in recipes]
    told = [{**recipe["alike"], **recipe["options"]} for recipe in recipes]
    kinds = {name: len({each.get(name) for each in told}) for each in told for name in each}
    most = max(kinds.values(), default=1)
    varied = [name for name, count in kinds.items() if count == most > 1]
    reasons = {name: _reason(name, [each.get(name) for each in given], recipes[0]) for name in varied}
    if not reasons:
        return "What differs between them is not known."
    first = next(iter(reasons.values()))
    return first.format(" and ".join(f"`{name}`" for name, reason in reasons.items() if reason == first))


def _reason(name: str, words: list[Any], recipe: Recipe) -> str:
    """Why values of this parameter are compiled apart."""
    if name in recipe["constants"]:
        return "As tl.constexpr each value of {} is compiled anew."
    if name in recipe["options"]:
        return "The option {} differs, and each is compiled for."
    if all(type(word) is int for word in words):
        return (
            "Of the integer {} Triton asks whether it is 1, and whether 16 divides it, and compiles for each."
        )
    dtypes = {word.get("dtype") if isinstance(word, dict) else None for word in words}
    if None in dtypes:
        return "The type of {} differs, and each is compiled for."
    if len(dtypes) > 1:
        return "The dtype of {} differs, and each is compiled for."
    return "Whether {} begins at a multiple of 16 bytes differs, and both are compiled for."
