"""One case tried on the learner's function: inputs drawn, call made, result held against the oracle."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.challenge import Case, Challenge
from grader.judge import reports
from grader.judge.compare import Expected, Finding, compare, expect, name
from grader.judge.draw import Draw
from grader.judge.link import LARGE, Answer, Runner, is_poison, pack_arguments, read_answer, storage_bytes

SLICE = 4096  # elements of each piece that is fetched of an output too large to fetch whole


@dataclass
class Trial:
    """What one case showed.

    Attributes:
        arguments: as drawn.
        expected: an `Expected` for each output tensor, plain values for others.
        rows: length of the first dimension when the oracle was asked only for some of it, else 0.
        answer: the runner's, None when it was lost.
        findings: what is wrong, the most telling first; empty when the case passes.
    """

    challenge: Challenge
    case: Case
    arguments: tuple[Any, ...]
    names: list[str]
    expected: tuple[Any, ...] = ()
    rows: int = 0
    answer: Answer | None = None
    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.findings


def draw(challenge: Challenge, case: Case, seed: int, device: str) -> tuple[Any, ...]:
    """The arguments of a case: the same for the same seed, whichever other cases run."""
    return tuple(
        challenge.inputs(case, Draw(case, random.Random(f"{seed}/{case.id}").getrandbits(48), device))
    )


def attempt(
    runner: Runner,
    challenge: Challenge,
    case: Case,
    names: list[str],
    *,
    seed: int,
    device: str,
    timeout: float,
) -> Trial:
    """Try one case.

    Args:
        names: what the learner calls the arguments, for messages.
        seed: of the grading.
        timeout: seconds for the call.

    Raises:
        RunnerLost: the runner crashed or hung; the trial is lost with it.
    """
    arguments = draw(challenge, case, seed, device)
    trial = Trial(challenge, case, arguments, names[: len(arguments)])
    slices = _expect(trial)
    specs, blobs = pack_arguments(arguments, trial.names)
    request = {
        "do": "call",
        "entry": challenge.entry,
        "probe": challenge.probe,
        "arguments": specs,
        "calls": case.calls,
        "slices": slices,
        "seed": random.Random(f"{seed}/{case.id}/order").getrandbits(32),
    }
    header, data = runner.ask(request, reports.CALLED, blobs, timeout=timeout)
    trial.answer = read_answer(header, data, sum(stop - start for start, stop in slices) if slices else None)
    trial.findings = _findings(trial)
    return trial


def _expect(trial: Trial) -> list[list[int]] | None:
    """Ask the oracle; of a row-wise challenge with gigabytes of output, only for some rows.

    Returns:
        the flat element ranges of the output to fetch, or None for all of it.
    """
    tensors = [value for value in trial.arguments if isinstance(value, torch.Tensor)]
    if not trial.challenge.rowwise or max(tensor.numel() for tensor in tensors) * 4 < LARGE:
        trial.expected = expect(trial.challenge, trial.arguments)
        return None
    trial.rows = len(tensors[0])
    pieces = _pieces(trial.rows, tensors[0].numel() // trial.rows)
    few = tuple(
        torch.cat([value[start:stop] for start, stop in pieces])
        if isinstance(value, torch.Tensor) and len(value) == trial.rows
        else value
        for value in trial.arguments
    )
    trial.expected = expect(trial.challenge, few)
    width = trial.expected[0].exact[0].numel()
    return [[start * width, stop * width] for start, stop in pieces]


def _pieces(rows: int, width: int) -> list[tuple[int, int]]:
    """Ranges of rows: both ends, where element 2³¹ lies, and some in between."""
    size = max(1, SLICE // width)
    starts = {0, rows - size, 2**31 // width - size // 2} | {random.randrange(rows - size) for _ in range(8)}
    return [(start, start + size) for start in sorted(starts) if 0 <= start <= rows - size]


def _findings(trial: Trial) -> list[Finding]:
    assert trial.answer is not None
    header = trial.answer.header
    if "fault" in header:
        fault = header["fault"]
        wild = _bounds_findings(header) if fault["kind"] == "bounds" else []
        return wild or [Finding("error", f"{fault['type']}: {fault['message']}", fault)]
    found = _shape_findings(trial)
    if not found:
        found = [*_bounds_findings(header), *_input_findings(trial), *_value_findings(trial)]
    return [*found, *_launch_findings(trial), *_host_findings(trial)]


def _shape_findings(trial: Trial) -> list[Finding]:
    """Arity, type, shape, dtype, device and layout, before any value is looked at."""
    assert trial.answer is not None
    entries = trial.answer.header["outputs"]
    if len(entries) != len(trial.expected):
        got = trial.answer.header["structure"] if len(entries) == 1 else f"{len(entries)} values"
        return [Finding("arity", f"it returns {got} where {len(trial.expected)} outputs are asked for")]
    for number, (entry, want) in enumerate(zip(entries, trial.expected, strict=True)):
        which = "the result" if len(entries) == 1 else f"output {number}"
        problem = _mismatch(entry, want, trial)
        if problem:
            return [Finding(problem[0], f"{which} {problem[1]}")]
    return []


def _mismatch(entry: dict[str, Any], want: Any, trial: Trial) -> tuple[str, str] | None:
    if not isinstance(want, Expected):
        right = "value" in entry and entry["value"] == want
        return None if right else ("scalar", f"is {entry.get('value', 'a tensor')} where {want} is right")
    if "dtype" not in entry:
        kind = "None" if entry["type"] == "NoneType" else f"of type {entry['type']}"
        return "type", f"is {kind} where a tensor is asked for"
    shape = [trial.rows or want.shape[0], *want.shape[1:]] if want.shape else []
    if entry["shape"] != shape:
        return "shape", f"has shape {entry['shape']} where {shape} is asked for"
    if entry["dtype"] != str(want.dtype).removeprefix("torch."):
        return "dtype", f"is {name(getattr(torch, entry['dtype']))} where {name(want.dtype)} is asked for"
    device = next((a.device.type for a in trial.arguments if isinstance(a, torch.Tensor)), entry["device"])
    if entry["device"] != device:
        return "device", f"is on {entry['device']} where the inputs are on {device}"
    if not _contiguous(shape, entry["stride"]):
        return "layout", f"has strides {entry['stride']}; it must be contiguous"
    return None


def _contiguous(shape: list[int], stride: list[int]) -> bool:
    """A dimension of one element may have any stride, and so may an empty tensor."""
    wanted = torch.empty(shape, device="meta").stride()
    steps = zip(shape, stride, wanted, strict=True)
    return 0 in shape or all(size == 1 or step == want for size, step, want in steps)


def _bounds_findings(header: dict[str, Any]) -> list[Finding]:
    found = []
    for overrun in header.get("overruns", []):
        found.append(
            Finding("overrun", f"line {overrun['line']} {overrun['kind']}s {overrun['where']}", overrun)
        )
    if not found:
        for guard in header.get("guards", []):
            side = "past the end" if guard["side"] == "after" else "before the start"
            reason = f"it stores up to {guard['nearest']} bytes {side} of {guard['tensor']}"
            found.append(Finding("overrun", reason, {**guard, "kind": "store", "line": 0, "masked": False}))
    return sorted(found, key=lambda finding: finding.facts["kind"] != "store")


def _value_findings(trial: Trial) -> list[Finding]:
    assert trial.answer is not None
    wanted = [want for want in trial.expected if isinstance(want, Expected)]
    length = trial.challenge.reduces(trial.case) if trial.challenge.reduces else 1
    found = []
    for out, want in zip(trial.answer.outputs, wanted, strict=True):
        found += _unwritten(out.view(want.shape), want)
        finding = compare(out.view(want.shape), want, trial.case, length)
        found += [finding] if finding else []
    return found


def _unwritten(out: torch.Tensor, want: Expected) -> list[Finding]:
    """Elements that still hold poison, and should not."""
    untouched = is_poison(out)
    if want.dtype.is_floating_point:
        untouched &= ~want.exact.isnan()
    else:
        untouched &= out != want.exact.to(want.dtype)
    count = int(untouched.sum())
    if not count:
        return []
    reason = f"{count} of {out.numel()} elements were never written"
    return [Finding("unwritten", reason, {"index": untouched.nonzero()[0].tolist()}, untouched)]


def _input_findings(trial: Trial) -> list[Finding]:
    assert trial.answer is not None
    tensors = [
        (a, n) for a, n in zip(trial.arguments, trial.names, strict=True) if isinstance(a, torch.Tensor)
    ]
    for (tensor, label), after in zip(tensors, trial.answer.inputs, strict=False):
        if not torch.equal(storage_bytes(tensor), after):
            return [Finding("input", f"the call changed its input {label}", {"tensor": label})]
    return []


def _launch_findings(trial: Trial) -> list[Finding]:
    assert trial.answer is not None
    if trial.challenge.programs is None:
        return []
    wanted = trial.challenge.programs(*trial.arguments) * trial.case.calls
    grids = [launch["grid"] for launch in trial.answer.header["launches"]]
    launched = sum(_product(grid) for grid in grids)
    if launched == wanted:
        return []
    return [Finding("programs", f"{launched} programs were launched where {wanted} are asked for")]


def _host_findings(trial: Trial) -> list[Finding]:
    assert trial.answer is not None
    reads = trial.answer.header["reads"]
    if not trial.challenge.no_host_reads or not reads:
        return []
    return [Finding("host", f"the launcher reads a tensor's values on the host: .{reads[0]}()")]


def _product(grid: list[int]) -> int:
    total = 1
    for size in grid:
        total *= size
    return total
