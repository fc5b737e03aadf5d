"""What is wrong with an answer: its form first, then memory, values, and what the launcher did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch

from grader.challenge.harness.argument_serialization import storage_bytes
from grader.challenge.harness.backward_side_effects import saved_findings, unasked_findings
from grader.challenge.harness.compare import Expected, Finding, name, told
from grader.challenge.harness.goodness_of_fit import frequencies
from grader.challenge.harness.learner_test_verdict import judged
from grader.challenge.harness.mask_statistics import chances
from grader.challenge.harness.result_names import called
from grader.challenge.harness.trial import Trial
from grader.challenge.harness.value_checks import value_findings
from grader.kernel.races import Race
from grader.kernel.tensor_regions import Overrun
from grader.runner_answers import Called, Failed, Guard, Launch, PlainOutput, TensorOutput
from grader.tensor_storage import digests

DOES = {"load": "loads", "store": "stores", "atomic": "updates"}


def find(trial: Trial) -> list[Finding]:
    """What is wrong with a trial's answer, the most telling first; nothing when it passes."""
    assert trial.answer is not None
    report = trial.answer.report
    if trial.challenge.judges:
        return judged(trial)
    if isinstance(report, Failed):
        fault = report.fault
        wild = _bounds_findings(report.overruns, []) if fault.kind == "bounds" else []
        return wild or [Finding("error", f"{fault.type}: {fault.first_line}", asdict(fault))]
    found = form_findings(trial)
    if not found:
        found = [
            *_memory_findings(trial, report),
            *_bounds_findings(report.overruns, report.guards),
            *_input_findings(trial),
            *value_findings(trial),
        ]
        found += [] if found or not trial.challenge.chance else chances(trial)
        found += [] if found or not trial.challenge.frequencies else frequencies(trial)
    return [
        *found,
        *_launch_findings(trial, report.launches),
        *_host_findings(trial, report.reads),
        *saved_findings(trial, report.saved),
        *unasked_findings(trial, report.unasked),
        *_race_findings(report.races),
    ]


def form_findings(trial: Trial) -> list[Finding]:
    """Arity, type, shape, dtype, device and layout, before any value is looked at."""
    assert trial.answer is not None
    report = trial.answer.report
    if isinstance(report, Failed):
        return [Finding("error", "it raised")]
    entries, asked_for = report.outputs, trial.asked_for
    returned = len(entries) - len(trial.expected) + asked_for if report.backward else len(entries)
    if returned != asked_for:
        return [Finding("arity", _arity(trial, report.structure, returned - len(trial.challenge.writes)))]
    for number, (entry, want) in enumerate(zip(entries, trial.expected, strict=False)):
        label = getattr(want, "label", "")
        which = label or called(number, asked_for, trial.results)
        which = f"the result {which}".rstrip() if not which or which.isidentifier() else which
        problem = _mismatch(entry, want, trial) if number >= len(trial.challenge.writes) else None
        if problem:
            said = _no_gradient(label) if label and problem[0] == "type" else None
            return [Finding(problem[0], f"{which} {problem[1]}", told=said)]
    return [] if len(entries) == len(trial.expected) else [_unconnected(trial)]


def _arity(trial: Trial, structure: str, returned: int) -> str:
    wanted = trial.asked_for - len(trial.challenge.writes)
    got = "None" if not returned else structure if returned == 1 else f"{returned} values"
    if not wanted:
        return f"it returns {got} where nothing is asked for, as it works in place"
    return f"it returns {got} where {wanted} output{'s are' if wanted > 1 else ' is'} asked for"


def _no_gradient(label: str) -> tuple[str, str]:
    return (
        f"{label[0].upper()}{label[1:]} is None: backward() returns one gradient for each argument of "
        "forward(), in their order.",
        "the return of backward()",
    )


def _unconnected(trial: Trial) -> Finding:
    sentence = (
        "No gradient can be asked for: the result is not connected to the inputs. Return what the autograd "
        "Function's apply() gives for the tensors themselves."
    )
    return told("unconnected", sentence, "Function.apply")


def _mismatch(entry: TensorOutput | PlainOutput, want: Any, trial: Trial) -> tuple[str, str] | None:
    if not isinstance(want, Expected):
        value = entry.value if isinstance(entry, PlainOutput) else "a tensor"
        return None if value == want else ("scalar", f"is {value} where {want} is right")
    if isinstance(entry, PlainOutput):
        kind = "None" if entry.type == "NoneType" else f"of type {entry.type}"
        return "type", f"is {kind} where a tensor is asked for"
    shape = [trial.rows or want.shape[0], *want.shape[1:]] if want.shape else []
    if entry.shape != shape:
        return "shape", f"has shape {entry.shape} where {shape} is asked for"
    if entry.dtype != str(want.dtype).removeprefix("torch."):
        return "dtype", f"is {name(getattr(torch, entry.dtype))} where {name(want.dtype)} is asked for"
    device = next((a.device.type for a in trial.arguments if isinstance(a, torch.Tensor)), entry.device)
    if entry.device != device:
        return "device", f"is on {entry.device} where the inputs are on {device}"
    if not want.label and not _contiguous(shape, entry.stride):
        return "layout", f"has strides {entry.stride}; it must be contiguous"
    return None


def _memory_findings(trial: Trial, report: Called) -> list[Finding]:
    """Results that lie where something else does: in an argument, or in what an earlier call returned."""
    for entry in report.outputs[len(trial.challenge.writes) :]:
        if not isinstance(entry, TensorOutput) or 0 in entry.shape:
            continue
        if entry.source in trial.names:
            said = f"The result lies in the memory of the input {entry.source}: allocate a new tensor for it."
            return [told("shared", said, "what the launcher returns")]
        if entry.older:
            said = (
                "The result lies in memory that an earlier call had already: what that call returned changes "
                "with it. Allocate it anew in every call."
            )
            return [told("shared", said, "the allocation")]
    return []


def _contiguous(shape: list[int], stride: list[int]) -> bool:
    """A dimension of one element may have any stride, and so may an empty tensor."""
    wanted = torch.empty(shape, device="meta").stride()
    steps = zip(shape, stride, wanted, strict=True)
    return 0 in shape or all(size == 1 or step == want for size, step, want in steps)


def _bounds_findings(overruns: Sequence[Overrun], guards: Sequence[Guard]) -> list[Finding]:
    found = [Finding("overrun", f"line {o.line} {DOES[o.kind]} {o.where}", asdict(o)) for o in overruns]
    if not found:
        for guard in guards:
            side = "past the end" if guard.side == "after" else "before the start"
            reason = f"it stores up to {guard.nearest} bytes {side} of {guard.tensor}"
            facts = {**asdict(guard), "kind": "store", "line": 0, "masked": False}
            found.append(Finding("overrun", reason, facts))
    return sorted(found, key=lambda finding: finding.facts["kind"] != "store")


def _input_findings(trial: Trial) -> list[Finding]:
    assert trial.answer is not None
    tensors = [(a, n) for a, n in zip(*trial.runner_arguments(), strict=True) if isinstance(a, torch.Tensor)]
    written = [trial.arguments[position] for position in trial.challenge.writes]
    digested = _digested([tensor for tensor, _ in tensors], written)
    for number, ((tensor, label), after) in enumerate(zip(tensors, trial.answer.inputs, strict=False)):
        if _unchanged(tensor, after, written, digested):
            continue
        facts: dict[str, Any] = {"tensor": label, "changed": number}
        if any(tensor is argument for argument in written):
            said = f"The call changed bytes of {label}'s memory that are no element of it."
            return [told("input", said, "the offsets of tl.store", **facts)]
        return [Finding("input", f"the call changed its input {label}", facts)]
    return []


def _digested(tensors: Sequence[torch.Tensor], written: Sequence[torch.Tensor]) -> dict[int, bytes]:
    """By address the digests of those on a GPU that nothing may write to."""
    may_change = {one.untyped_storage().data_ptr() for one in written}
    storages = {one.untyped_storage().data_ptr(): one.untyped_storage() for one in tensors if one.is_cuda}
    kept = {at: storage for at, storage in storages.items() if at not in may_change}
    return dict(zip(kept, digests([*kept.values()]), strict=True))


def _unchanged(
    tensor: torch.Tensor, after: torch.Tensor, written: Sequence[torch.Tensor], digested: dict[int, bytes]
) -> bool:
    """Whether a tensor's storage holds after the call what it held before, but for what may be written.

    Args:
        after: its bytes, or its digest where it is among the `digested`.
        written: the arguments that may be.
    """
    storage = tensor.untyped_storage()
    if storage.data_ptr() in digested:
        return after.numpy().tobytes() == digested[storage.data_ptr()]
    within = [one for one in written if one.untyped_storage().data_ptr() == storage.data_ptr()]
    if after.numel() != storage.nbytes():  # it is another's memory by now
        return False
    for argument in within:
        after = after.clone()
        view = torch.empty(0, dtype=argument.dtype).set_(
            after.untyped_storage(), argument.storage_offset(), argument.shape, argument.stride()
        )
        view.copy_(argument)
    return torch.equal(storage_bytes(tensor), after)


def _launch_findings(trial: Trial, launches: Sequence[Launch]) -> list[Finding]:
    if trial.challenge.programs is None:
        return []
    wanted = trial.challenge.programs(*trial.arguments)
    first = trial.challenge.programs_of == "the first launch"
    launched = sum(math.prod(launch.grid) for launch in (launches[:1] if first else launches))
    if launched == wanted:
        return []
    programs = f"{launched} program{'s' * (launched != 1)}"
    started = f"{programs} {'was' if launched == 1 else 'were'} launched"
    did = f"the first launch has {programs}" if first else started
    return [Finding("programs", f"{did} where {wanted} {'is' if wanted == 1 else 'are'} asked for")]


def _host_findings(trial: Trial, reads: Sequence[str]) -> list[Finding]:
    if not trial.challenge.no_host_reads or not reads:
        return []
    return [Finding("host", f"the launcher reads a tensor's values on the host: .{reads[0]}()")]


def _race_findings(races: Sequence[Race]) -> list[Finding]:
    """Programs of one launch that meet in an element, where a GPU promises no order."""
    happened = {
        "load": "line {} meets what another program of the same launch loads or stores, and on a GPU either "
        "may come first. What all of them add up needs tl.atomic_add; what one stores for others to read, "
        "a launch of its own behind this one.",
        "store": "line {} stores another value where another program of the same launch stores too, and on a "
        "GPU either may come last. Give each program a place of its own.",
        "atomic": "on line {} a store of one program meets an atomic of another of the same launch, and on a "
        "GPU either may come last. Store what atomics change before the launch, as torch.zeros does.",
    }
    found = []
    for race in races:
        sentence = "A race between programs: " + happened[race.kind].format(race.line)
        found.append(told("race", sentence, f"line {race.line}", **asdict(race)))
    return found
