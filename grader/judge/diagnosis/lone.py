"""A pointer without offsets: one element stands for a whole block."""

from __future__ import annotations

import ast

from grader.judge.case.compare import Finding
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.evidence import Evidence, Speech
from grader.judge.diagnosis.fit import wrong_output
from grader.judge.diagnosis.site import functions, jitted, parameters
from grader.judge.diagnosis.source import calls


def lone(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis for `tl.load(x_ptr)`: all elements come out alike."""
    bare = _bare_load(evidence.source)
    for tried in evidence.failed if bare else []:
        found = wrong_output(tried)
        if found is None or found[0].numel() < 2:
            continue
        got, want = (values.reshape(-1) for values in found)
        if bare and bool((got == got[0]).all()) and not bool((want == want[0]).all()):
            told = f"{bare} reads one element for a whole block. Add the offsets to the pointer."
            return f"All elements are {float(got[0]):.6g}: {told}", bare, tried
    return None


def _bare_load(source: str) -> str:
    """The file's one load, where its address is a parameter as it came; empty where there are others."""
    found = []
    for kernel in filter(jitted, functions(ast.parse(source))):
        plain = {name for name, constant in parameters(kernel).items() if not constant}
        loads = [call for name, call in calls(ast.unparse(kernel)) if name == "load"]
        found += [(call, bool(call.args) and ast.unparse(call.args[0]) in plain) for call in loads]
    return ast.unparse(found[0][0]) if len(found) == 1 and found[0][1] else ""
