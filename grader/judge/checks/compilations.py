"""The check of how often kernels are compiled over some calls; shown as one of the edges."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from grader.challenge import Challenge
from grader.challenge.cases.runner_client import RunnerLost
from grader.judge.compile_check import question, surveyed
from grader.judge.failures import CheckFailed, NotMeasured
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
    found = list({json.dumps(one): one for one in made}.values())  # launches alike are compiled once
    for name in dict.fromkeys(recipe["kernel"] for recipe in found):
        own = [recipe for recipe in found if recipe["kernel"] == name]
        if len(own) > wanted.most:
            calls = len(wanted.cases)
            count = f"Over {calls} calls {name} is compiled {len(own)} times; {wanted.most} are enough."
            sentence = f"{count} {_why(own)}"
            cause = {"reason": sentence, "line": own[0]["line"], "compilations": len(own)}
            raise CheckFailed("failed", cause, (sentence, f"the parameters of {name}, line {own[0]['line']}"))


def _why(recipes: Sequence[Recipe]) -> str:
    """What tells these compilations of one kernel apart: of what varies, that of which there is most."""
    given = [{**recipe["options"], **recipe["arguments"]} for recipe in recipes]
    kinds = {name: len({json.dumps(each.get(name)) for each in given}) for each in given for name in each}
    most = max(kinds.values(), default=1)
    varied = [name for name, count in kinds.items() if count == most > 1]
    words = {name: [each.get(name) for each in given] for name in varied}
    for holds, says in REASONS:
        names = [name for name in varied if holds(name, words[name], recipes[0])]
        if names:
            return says.format(" and ".join(f"`{name}`" for name in names))
    return "What differs between them is not known."


def _tensors(words: list[Any]) -> bool:
    return all(isinstance(word, dict) and "dtype" in word for word in words)


# Whether it is so of a parameter, from its name, what it was in each compilation, and one of the recipes.
REASONS: Sequence[tuple[Callable[[str, list[Any], Recipe], bool], str]] = (
    (
        lambda name, _, recipe: name in recipe["constants"],
        "As tl.constexpr each value of {} is compiled anew.",
    ),
    (lambda name, _, recipe: name in recipe["options"], "The option {} differs, and each is compiled for."),
    (
        lambda _, words, __: all(type(word) is int for word in words),
        "Of the integer {} Triton asks whether it is 1, and whether 16 divides it, and compiles for each.",
    ),
    (
        lambda _, words, __: _tensors(words) and len({word["dtype"] for word in words}) > 1,
        "The dtype of {} differs, and each is compiled for.",
    ),
    (
        lambda _, words, __: _tensors(words),
        "Whether {} begins at a multiple of 16 bytes differs, and both are compiled for.",
    ),
    (lambda *_: True, "The type of {} differs, and each is compiled for."),
)
