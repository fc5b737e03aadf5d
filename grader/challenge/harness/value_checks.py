"""The values of results, held against what is expected, output by output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from grader.challenge.harness.compare import Expected, Finding, compare, relative
from grader.challenge.harness.goodness_of_fit import impossible
from grader.challenge.harness.mask_statistics import other_choice
from grader.challenge.harness.result_names import called, element
from grader.challenge.harness.rounding_ties import settled
from grader.challenge.harness.trial import Trial
from grader.tensor_storage import unwritten


def value_findings(trial: Trial) -> list[Finding]:
    """What is wrong with the values of an answer of the right form."""
    outputs = trial.outputs
    suspicious = _wrong_on_the_gpu(trial, outputs)
    found = []
    for number, out, want, wrong in _held_against(trial, outputs, suspicious):
        written = not any(each.kind == "unwritten" for each in wrong)
        told = other_choice(trial, out) if want.label and written else None
        if wrong and written and trial.challenge.frequencies:
            told = impossible(trial, out)
        if trial.challenge.chance:  # torch drops others
            wrong = [replace(f, reason=f.reason.replace("torch's", "what is expected")) for f in wrong]
        facts = {"result": number, "label": "" if told else want.label}
        name = want.label or called(number, trial.asked_for, trial.results)
        at = [{"at": element(name, f.facts["index"])} if "index" in f.facts else {} for f in wrong]
        found += [replace(f, facts=f.facts | facts | e, told=told) for f, e in zip(wrong, at, strict=True)]
    return found


def _wrong_on_the_gpu(trial: Trial, outputs: list[torch.Tensor]) -> list[int] | None:
    """The numbers of the results that are wrong, where a GPU can say so: of large ones a CPU compares each in
    seconds. Where any is, all that is expected lies on the CPU then.
    """
    wanted = trial.wanted
    if not any(want.exact.is_cuda for want in wanted):
        return None
    numbers = [number for number, _, _, wrong in _held_against(trial, _beside(outputs, wanted)) if wrong]
    trial.expected = tuple(
        want if not isinstance(want, Expected) else want.on_cpu() if numbers else want.forgotten()
        for want in trial.expected
    )
    return numbers


def all_right(trial: Trial, outputs: list[torch.Tensor]) -> bool:
    """Whether these, of the form that is asked for, are the results of a trial as well."""
    there = _beside(outputs, trial.wanted)  # a large oracle is still on the GPU
    return not any(wrong for *_, wrong in _held_against(trial, there))


def _beside(outputs: list[torch.Tensor], wanted: list[Expected]) -> list[torch.Tensor]:
    """Results where the oracle has what is expected of them."""
    return [out.to(want.exact.device) for out, want in zip(outputs, wanted, strict=True)]


def _held_against(
    trial: Trial, outputs: list[torch.Tensor], numbers: list[int] | None = None
) -> Iterator[tuple[int, torch.Tensor, Expected, list[Finding]]]:
    """Each result with its number and what is wrong with it; of some of them, where `numbers` says so."""
    wanted = trial.wanted
    length = trial.challenge.reduces(trial.case) if trial.challenge.reduces else 1
    for number, (out, want) in enumerate(zip(outputs, wanted, strict=True)):
        if numbers is not None and number not in numbers:
            continue
        held = out.view(want.shape)
        if number == len(trial.challenge.writes):
            held = settled(trial, held, want)
        finding = compare(held, want, trial.case, length)
        if number >= len(trial.challenge.writes):
            wrong = _unwritten(out.view(want.shape), want, trial.stored_everywhere(number))
        else:
            wrong = _as_before(trial, number, out.view(want.shape), want) if finding else []
        yield number, out, want, wrong + ([finding] if finding else [])


def _as_before(trial: Trial, number: int, out: torch.Tensor, want: Expected) -> list[Finding]:
    """Elements of an argument that ought to have changed and did not, where that is all that is wrong."""
    before = trial.arguments[trial.challenge.writes[number]].to(out.device)
    right = want.right
    same = (out == before) | (out.isnan() & before.isnan())
    if not bool(same.all()):
        same &= (right != before) & ~(right.isnan() & before.isnan())
        if not bool(same.any()) or compare(torch.where(same, right, out), want, trial.case):
            return []
    reason = f"{int(same.sum())} of {out.numel()} elements are what they were before the call"
    return [Finding("unwritten", reason, {"index": same.nonzero()[0].tolist()}, same)]


def _unwritten(out: torch.Tensor, want: Expected, stored: bool) -> list[Finding]:
    """Elements that hold poison, and should not; all were `stored`, where it comes from other memory."""
    poison = unwritten(out.to(want.dtype))
    untouched = poison.clone()
    if want.by_code:
        # Poison may be a legal code, and right by luck: not where every other element is poison, too.
        wrong = (out != want.right) & ~(out.isnan() & want.right.isnan())
        untouched &= bool(untouched.all() and wrong.any()) | wrong
    else:
        untouched &= ~want.exact.isnan()
    count = int(untouched.sum())
    if not count:
        return []
    what = "hold what torch.empty leaves" if stored else "were never written"
    least = "at least " * (want.by_code and int(poison.sum()) > count)
    reason = f"{least}{count} of {out.numel()} elements {what}"
    return [Finding("unwritten", reason, {"index": untouched.nonzero()[0].tolist()}, untouched)]


def passes_with(trial: Trial, times: float) -> bool:
    """Whether a right result would be right, too, with errors so many times as large."""
    if trial.case.exact or trial.answer is None or trial.challenge.judges:
        return True
    if any(want.exact.is_meta for want in trial.wanted):  # gigabytes that nobody kept
        return True
    pairs = zip(trial.outputs, trial.wanted, strict=True)
    return all_right(trial, [out if want.by_code else _grown(out, want, times) for out, want in pairs])


def _grown(out: torch.Tensor, want: Expected, times: float) -> torch.Tensor:
    exact = want.exact.to(out.device).view(out.shape)
    error = out.double() - exact
    return torch.where(error.isfinite(), exact + times * error, out.double())


def excess(trial: Trial) -> float:
    """How many times what its gates allow a wrong result is off; infinite where more than values is wrong."""
    every = [
        relative(finding) / allowed
        if finding.kind == "values" and (allowed := finding.facts.get("allowed", 0.0)) > 0
        else float("inf")
        for finding in trial.findings
    ]
    return max(every, default=0.0)
