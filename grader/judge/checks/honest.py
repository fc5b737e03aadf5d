"""The honest check: did the learner's kernels compute the answers, or did something else?

It looks at what every trial of this grading observed. The learner's honest slips come first: a torch call
left in an `except`, a `.contiguous()` that copies before the kernel runs, an output that no kernel ever saw.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from operator import or_

import torch

from grader.challenge.harness.compare import Expected
from grader.challenge.harness.oracle import Values, alike, expect, expect_gradients
from grader.challenge.harness.trial import Trial
from grader.judge.checks import import_check
from grader.judge.failures import CheckFailed, NotMeasured, failed
from grader.judge.session import Session
from grader.runner_answers import Called, TensorOutput

BY_LAUNCHER = (
    "Your kernels alone do not give the result: launched once more after the inputs changed, with all else "
    "as it was, they give a wrong one. What depends on the inputs' values is for kernels to compute, not for "
    "the launcher to work out or to remember.",
    "what the launcher hands to kernels",
)
DRAWN = (
    "A kernel was handed memory that is neither an input nor from torch.empty: what is drawn at random is "
    "for the kernel to draw, from the seed and the element's number.",
    "what the launcher hands to kernels",
)
OF_AUTOGRAD = (
    "backward() returns a gradient in another dtype than its input has, and autograd converts it (_to_copy): "
    "that reads and writes every element of it once more. Let the kernel store it in its input's dtype.",
    "the allocation of the gradients, and what backward() returns",
)
COPIES = (
    "clone", "copy_", "_to_copy", "cat", "stack", "constant_pad_nd", "repeat", "repeat_interleave", "flip",
    "roll", "index", "index_select", "gather", "slice_scatter", "select_scatter", "as_strided_scatter",
)  # fmt: skip
TWICE = "that reads and writes every element of it once more, beside what your kernel moves"


def check(session: Session) -> None:
    """Look at all trials.

    Raises:
        CheckFailed: the first thing that no kernel did; a limit where that is to copy an upstream gradient.
        NotMeasured: no case was tried.
    """
    if not session.evidence.trials:
        raise NotMeasured("no case was tried")
    for challenge in session.challenges:
        if challenge.forbids and (found := _forbidden(session.evidence.source, challenge.forbids)):
            raise failed(*found)
    limit: CheckFailed | None = None
    for trial in session.evidence.trials:
        if trial.challenge.judges or not trial.called:
            continue  # of a limit that raised there is nothing to look at
        sentence, look_at = _unfair(trial, trial.called)
        if sentence:
            demand = "upstream_copies" if _copies_upstream(trial, trial.called) else "values"
            told = session.weighed(trial.challenge, demand, failed(sentence, look_at, case=trial.case.id))
            if told.outcome != "limit":
                raise told
            limit = limit or told
    if limit:
        raise limit


def _forbidden(source: str, forbids: Mapping[str, str]) -> tuple[str, str] | None:
    """What is said of a name that does the day's work, and where it stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and (name := ast.unparse(node)) in forbids:
            return forbids[name], f"`{name}`: line {node.lineno}"
    return None


def _copies_upstream(trial: Trial, report: Called) -> bool:
    """Whether all that torch did is a copy, and all but the upstream gradients lie in one piece."""
    tensors = [value for value in trial.arguments if isinstance(value, torch.Tensor)]
    whole = all(tensor.is_contiguous() for tensor in tensors)
    return whole and bool(trial.upstream) and set(report.foreign) == {"clone"}


def _unfair(trial: Trial, report: Called) -> tuple[str, str]:
    computed = _computed(trial, report)
    if report.replaced:
        return import_check.replaced(report.replaced[0])
    worked = [op for op in report.foreign if op not in trial.challenge.allow]
    worked = [] if worked == ["clone"] and _known(trial, report) else worked
    if worked:
        if worked == ["_to_copy"] and "_to_copy" in report.late and not report.lines.get("_to_copy"):
            return OF_AUTOGRAD
        return _by_torch(worked, report, trial.arguments + trial.upstream)
    if computed and not report.launches:
        return "No kernel was launched: the result was computed by something else.", "the launch"
    if not all(entry.launched for entry in computed):
        return "The result is a tensor that no kernel was given.", "which tensor is returned"
    if report.elsewhere and (trial.challenge.chance or trial.challenge.frequencies):
        return DRAWN
    return BY_LAUNCHER if trial.repeated and trial.repeated.findings else ("", "")


def _by_torch(worked: list[str], report: Called, given: Values) -> tuple[str, str]:
    """What torch did, and whether before the kernels, after them or instead of them."""
    computed = [op for op in worked if op not in COPIES]
    ops, first = ", ".join((computed or worked)[:3]), (computed or worked)[0]
    line = report.lines.get(first)
    look_at = f"the torch call behind {first}" + (f": line {line}" if line else "")
    if computed:
        share = "part of the work" if report.launches else "the work"
        return f"torch did {share}: {ops} ran outside of your kernel.", look_at
    if first in report.late:
        return (
            f"torch converted or copied the result after your kernel ({ops}): {TWICE}. Let the kernel "
            "store it as it is to be returned.",
            look_at,
        )
    return _copied(first, ops, given), look_at


def _copied(worked: str, ops: str, given: Values) -> str:
    """What a copy costs, and what makes it needless; strides only where a layout may be why."""
    if worked == "_to_copy":
        cure = "Let the kernel convert what it loads, by .to()."
        return f"torch converted a tensor first ({ops}): {TWICE}. {cure}"
    scattered = any(isinstance(value, torch.Tensor) and not value.is_contiguous() for value in given)
    if worked == "clone" and scattered:
        cure = "A kernel that goes by its strides needs no copy that is contiguous."
    else:
        cure = "Let the kernel load from the tensor itself, and store to what torch.empty allocates."
    return f"torch copied a tensor first ({ops}): {TWICE}. {cure}"


def _computed(trial: Trial, report: Called) -> list[TensorOutput]:
    """The tensors that only a kernel can have computed.

    Nothing to compute needs none, nor does what there is nothing to compute it from: where an input is empty,
    as without keys, that may be one output of several (dq = 0), or an argument that stays as it is (no pairs,
    no step). A gradient that is one of those that came in may be just that.
    """
    empty = [value.numel() == 0 for value in trial.arguments if isinstance(value, torch.Tensor)]
    if (empty and all(empty)) or _known(trial, report):
        return []
    handed_on = [isinstance(one, Expected) and one.handed_on for one in trial.expected]
    free = _independent(trial) if any(empty) else handed_on
    pairs = zip(report.outputs, free, strict=False)
    return [o for o, known in pairs if isinstance(o, TensorOutput) and 0 not in o.shape and not known]


def _known(trial: Trial, report: Called) -> bool:
    """Whether a call that launched nothing is right to: each result is the same whatever the inputs hold, as
    where all is fill or all is dropped, or it is one of them, as where nothing is dropped.
    """
    given = [value for value in trial.arguments + trial.upstream if isinstance(value, torch.Tensor)]
    # Integers are held against no others, so nothing is known of what they decide.
    if report.launches or not all(value.is_floating_point() for value in given):
        return False
    one_of_them = [
        isinstance(one, Expected) and any(alike(one.exact, value) for value in given)
        for one in trial.expected
    ]
    return all(map(or_, _independent(trial), one_of_them))


def _independent(trial: Trial) -> list[bool]:
    """Of each output, whether the oracle gives the same for other values of the same shapes; of an argument
    that the entry may change, whether it stays as it is.
    """
    others, upstream = _other(trial.arguments), _other(trial.upstream)
    expected = expect(trial.asked, others, trial.kept)
    if trial.challenge.gradients:
        expected += expect_gradients(trial.asked, others, upstream, trial.kept, trial.names, trial.of)
    stays = [trial.arguments[position] for position in trial.challenge.writes]
    known = (*stays, *(one.exact if isinstance(one, Expected) else None for one in expected[len(stays) :]))
    return [
        isinstance(one, Expected) and other is not None and alike(one.exact, other)
        for one, other in zip(trial.expected, known, strict=True)
    ]


def _other(values: Values) -> Values:
    """Numbers of both signs instead of those that were drawn."""
    return tuple(
        torch.linspace(-1.5, 1.25, v.numel(), device=v.device).reshape(v.shape).to(v.dtype)
        if isinstance(v, torch.Tensor) and v.is_floating_point()
        else v
        for v in values
    )
