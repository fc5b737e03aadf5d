"""What the words of a case's name mean: a day's own as its `inputs` says, others as case.py does."""

from __future__ import annotations

import inspect
import re

from grader.challenge import Case, Challenge
from grader.challenge.case import LAYOUTS, SEVERAL, VALUES

KINDS = {"layout": LAYOUTS, "values": VALUES}
# Of cases that are tried in another way.
WAYS = {
    "walked": "too large to run: where a few of its programs load and store is followed, and no value",
    "staged": "the launcher is told that its tensors lie on a GPU",
    "evaluated": "run once more without the GPU, where each address is seen",
}


def meanings(challenge: Challenge, case: Case, way: str = "") -> dict[str, str]:
    """Of each word that is explained somewhere what it means; sizes that the lesson has are not.

    Args:
        way: walked, staged, evaluated or none of these.
    """
    found = {}
    for name, value in case.sizes.items():
        which, _, kind = name.rpartition("_")
        if kind in KINDS and which:
            known = KINDS[kind].get(value)
            found[f"{name}={value}"] = f"{which}: {known}" if known else _of_a_kind(value, challenge)
        else:
            found[name] = _of_a_size(name, challenge) or (
                _of_a_size(kind, challenge) if kind == "order" else ""
            )
    found |= _beside_sizes(challenge, case) | ({way: WAYS[way]} if way else {})
    return {word: meaning for word, meaning in found.items() if meaning}


def _beside_sizes(challenge: Challenge, case: Case) -> dict[str, str]:
    """Layout, values, calls, and the gradients that come in or are asked for."""
    found = {
        word: _of_a_kind(word, challenge) or KINDS[kind].get(word, "")
        for kind, word, usual in (("layout", case.layout, "contiguous"), ("values", case.values, "normal"))
        if word != usual
    }
    if case.calls > 1:
        found[f"{case.calls}_calls"] = "called on other contents before"
    if case.upstream != "contiguous":
        lies = SEVERAL.get(case.upstream) or f"the gradient that comes in: {LAYOUTS[case.upstream]}"
        found[f"upstream_{case.upstream}"] = lies
    if case.alone is not None:
        found[f"alone_{case.alone}"] = "of one argument alone, counted from 0, the gradient is asked for"
    return found


def _of_a_size(name: str, challenge: Challenge) -> str:
    return _clauses(rf"`{re.escape(name)}\b", challenge)


def _of_a_kind(word: str, challenge: Challenge) -> str:
    """Of a layout or kind of values, which may be quoted, or spelt as the name of a constant."""
    return _clauses(rf"[`\"]{re.escape(word)}\b|\b{re.escape(word.upper())}\b", challenge)


def _clauses(pattern: str, challenge: Challenge) -> str:
    """What the docstring of a challenge's `inputs` says where it has that."""
    text = " ".join((inspect.getdoc(challenge.inputs) or "").split())
    clauses = [each.rstrip(".;") for each in re.split(r"(?<=[.;])\s+", text)]
    return "; ".join(each for each in clauses if re.search(pattern, each))
