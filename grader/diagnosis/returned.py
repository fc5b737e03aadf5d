"""The form of a result, before its values: what was returned, and what else the call changed."""

from __future__ import annotations

import ast
import re

from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Diagnosis, Evidence, Speech
from grader.diagnosis.source_context import function, returns

RETURNED, ALLOCATED = "what the launcher returns", "where it is allocated"
# What to do about it, and where to look, by the kind of finding.
ADVICE = {
    "arity": ("Return exactly what the signature asks for.", RETURNED),
    "type": ("Is the return missing, or of something else?", RETURNED),
    "shape": ("Allocate each output as the lesson says, and return them in its order.", ALLOCATED),
    "dtype": ("Allocate the output with the right dtype; the store converts to it.", ALLOCATED),
    "device": ("Allocate the output on the inputs' device.", ALLOCATED),
    "layout": ("Allocate it with torch.empty(shape), which takes no strides from an input.", ALLOCATED),
    "programs": ("The lesson says how many the grid must have.", "the grid"),
    "stale": (
        "Something of an earlier call is left over: a buffer or a counter that is not cleared.",
        "what the file keeps elsewhere, from call to call",
    ),
    "host": ("On a GPU that waits for all work before it: leave the values on the device.", "the launcher"),
}


def wrong_form(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a result of the wrong form."""
    if finding.kind not in ADVICE:
        return None
    entry = function(ast.parse(evidence.source), trial.challenge.entry)
    if "None where a tensor" in finding.reason and entry and not returns(entry):
        return f"{entry.name} returns nothing yet.", f"{entry.name}, from line {entry.lineno} on"
    text = finding.reason[0].upper() + finding.reason[1:]
    read = re.search(r"\.\w+\(\)$", finding.reason) if finding.kind == "host" else None
    advice, look_at = ADVICE[finding.kind]
    return f"{text}. {advice}", f"{read[0]} in the launcher" if read else look_at


def left_over(_: Trial, __: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis for what an earlier call left, where it is small in the first case."""
    later = next((trial for trial in evidence.failed if trial.findings[0].kind == "stale"), None)
    told = wrong_form(later, later.findings[0], evidence) if later else None
    return (*told, later) if later and told else None


def number(trial: Trial, finding: Finding, _: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a function that is to return a number, when no suspect gives its own."""
    if finding.kind != "scalar":
        return None
    entry = f"{trial.challenge.entry}()"
    missing = " Is the return missing?" if "is None" in finding.reason else ""
    alone = finding.reason.startswith("the result is")
    told = finding.reason.replace("the result is", f"{entry} returns")
    return f"{'' if alone else f'Of what {entry} returns, '}{told}.{missing}", f"what {entry} returns"


def changed_input(trial: Trial, finding: Finding, _: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for a call that writes to an argument."""
    if finding.kind != "input":
        return None
    label = finding.facts["tensor"]
    return f"Your kernel changed its input {label}: store to the output only.", "the pointer of tl.store"
