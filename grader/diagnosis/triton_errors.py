"""What exceptions of Triton mean, where their own words do not say it: the slips of beginners.

A slip is told only where the exception's words and the learner's line both fit. What is in no row is shown in
its own words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.diagnosis.kernel_error_rules import KERNEL
from grader.diagnosis.launch_errors import LAUNCH
from grader.diagnosis.source_context import scene


@dataclass(frozen=True)
class Slip:
    """A slip in one sentence, and the line of the learner's file to change."""

    says: str
    line: int


def slip(fault: Mapping[str, Any], source: str) -> Slip | None:
    """The slip behind an exception; None where none is certain.

    Args:
        fault: a runner_answers.Fault as a dictionary.
        source: of the learner's file.
    """
    try:
        where = scene(ast.parse(source), fault["line"], fault["traceback"])
    except (SyntaxError, ValueError):
        return None
    words = f"{fault['type']}: " + " ".join(str(fault["message"]).split())
    for pattern, finder, says in [*LAUNCH, *KERNEL]:
        match = re.search(pattern, words)
        found = finder(where, match) if match else None
        if match and found is not None:
            named = {name: _plain(text or "") for name, text in match.groupdict().items()} | found
            return Slip(says.format(**named), found.get("line", fault["line"]))
    return None


def _plain(text: str) -> str:
    """`a block of 16 fp32` of <['16'], fp32>, and `16 × 1` of a list of constants."""
    shape = re.match(r"<?\[(.*)\](?:, (\w+)>)?$", text)
    if not shape:
        return text.replace("'", "")
    sides = " × ".join(re.findall(r"\d+", shape[1]))
    return f"a block of {sides} {shape[2]}" if shape[2] else sides
