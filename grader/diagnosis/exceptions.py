"""The learner's code raised: in the compiler, in a launch, in autograd."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Diagnosis, Evidence
from grader.diagnosis.source_context import function, returns, spelled
from grader.diagnosis.triton_errors import slip

# What CUDA calls it that a kernel went where no tensor is: an address of nobody's, one between two elements,
# one that is none of global memory.
STOPPED = "illegal memory access", "misaligned address", "not supported on global/shared address space"
# What autograd says of the values of a backward().
OF_BACKWARD = re.compile(r"unction (\w+)Backward returned an? ")
COUNT = re.compile(r"incorrect number of gradients \(expected (\d+), got (\d+)\)")


def raised(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """The rule of the diagnosis for an exception, with the learner's line."""
    if finding.kind != "error":
        return None
    fault, said = finding.facts, finding.reason.removeprefix(f"{finding.facts['type']}: ")
    entry = function(ast.parse(evidence.source), trial.challenge.entry)
    if entry and not fault["line"] and "NoneType" in fault["message"] and not returns(entry):
        return f"{entry.name} returns nothing yet.", f"{entry.name}, from line {entry.lineno} on"
    if of_backward := of_autograd(fault["message"], evidence.source):
        return of_backward
    if told := slip(fault, evidence.source):
        return told.says, f"line {told.line}"
    return _of_cuda(fault["message"]) or _in_its_own_words(fault, said)


def _of_cuda(message: str) -> Diagnosis | None:
    """What CUDA says without a line."""
    if "[CUDA]: invalid argument" in message:
        return "The grid is too large: axes 1 and 2 end at 65535 programs, axis 0 at 2³¹ - 1.", "the grid"
    if not any(word in message for word in STOPPED):
        return None
    says = "The GPU stopped your kernel: it touched memory outside of every tensor."
    return f"{says} Offsets need a mask, and must not overflow int32.", "the mask and the offsets"


def _in_its_own_words(fault: Mapping[str, Any], said: str) -> Diagnosis:
    line = f"line {fault['line']}" if fault["line"] else ""
    on = f" on {line}" if line else ""
    if fault["kind"] == "compile":
        return f"Triton cannot compile {line or 'a kernel'}: {said}", line or "the kernel"
    if fault["kind"] == "memory":
        said = said.rpartition("DefaultCPUAllocator: ")[2]
        return f"Your code ran out of memory{on}: {said}", line or "what is allocated"
    return f"Your code raised {fault['type']}{on}: {said}", line or "what runs outside of your file's lines"


def of_autograd(message: str, source: str) -> Diagnosis | None:
    """The sentence, and the line of the class's backward(); None for other exceptions."""
    found = OF_BACKWARD.search(message)
    if not found:
        return None
    classes = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ClassDef) and n.name == found[1])
    backward = next((method for one in classes if (method := function(one, "backward"))), None)
    lines = [node.lineno for node in returns(backward)] if backward else []
    where = f"what backward() returns: {spelled(lines)}" if lines else "backward()"
    where = f"{where}, line {backward.lineno}" if backward and not lines else where
    count = COUNT.search(message)
    if not count:
        return message, where
    got = f"{count[2]} value{'s' * (count[2] != '1')}" if not backward or returns(backward) else "nothing"
    return (
        f"backward() returns {got} where {count[1]} gradients are asked for: one for each argument of "
        "forward(), in their order, and None for what is no tensor.",
        where,
    )
