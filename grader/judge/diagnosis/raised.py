"""The learner's code raised: in the compiler or in a launch."""

from __future__ import annotations

import ast
import re

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.autograd import of_autograd
from grader.judge.diagnosis.evidence import Diagnosis, Evidence
from grader.judge.diagnosis.returned import gives
from grader.judge.diagnosis.sides import inner_block
from grader.judge.diagnosis.site import function
from grader.judge.diagnosis.slips import slip

# What CUDA calls it that a kernel went where no tensor is: an address of nobody's, one between two elements,
# one that is none of global memory.
STOPPED = "illegal memory access", "misaligned address", "not supported on global/shared address space"
# The compiler's words, then the interpreter's, where a dot is narrow along K alone.
NARROW = re.compile(r"M >= 1, N >= 1 and K >=|needs K >=")


def raised(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for an exception, with the learner's line."""
    if finding.kind != "error":
        return None
    fault = finding.facts
    entry = function(ast.parse(evidence.source), trial.challenge.entry)
    if not fault["line"] and "NoneType" in fault["message"] and entry and not gives(entry):
        return f"{entry.name} returns nothing yet.", f"{entry.name}, from line {entry.lineno} on"
    line = f"line {fault['line']}" if fault["line"] else ""
    if "[CUDA]: invalid argument" in fault["message"]:
        return "The grid is too large: axes 1 and 2 end at 65535 programs, axis 0 at 2³¹ - 1.", "the grid"
    if of_backward := of_autograd(fault["message"], evidence.source):
        return of_backward
    if told := slip(fault, evidence.source):
        return told.says, f"line {told.line}"
    said = finding.reason.removeprefix(f"{fault['type']}: ")
    if (
        fault["kind"] == "compile"
        and NARROW.search(said)
        and (name := inner_block(evidence.source, fault["line"]))
    ):
        return f"Triton cannot compile {line}: {said}. K is {name}.", f"where {name} is chosen"
    if fault["kind"] == "compile":
        return f"Triton cannot compile {line or 'a kernel'}: {said}", line or "the kernel"
    if fault["kind"] == "memory":
        where = f" on {line}" if line else ""
        return f"Your code ran out of memory{where}: {said}", line or "what is allocated"
    if any(word in fault["message"] for word in STOPPED):
        return (
            "The GPU stopped your kernel: it touched memory outside of every tensor. Offsets need a mask, "
            "and must not overflow int32.",
            "the mask and the offsets",
        )
    if not line:
        return f"Your code raised {fault['type']}: {said}", "what runs outside of your file's lines"
    return f"Your code raised {fault['type']} on {line}: {said}", line
