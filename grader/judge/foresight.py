"""One call at full size without a GPU: its launches counted in one process, compiled in another."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.challenge import Challenge, Speed
from grader.judge import reports
from grader.judge.hollow import hollow_inputs
from grader.judge.link import Runner, RunnerLost
from grader.judge.oracle import asked
from grader.judge.session import CheckFailed, NotMeasured, Session
from grader.meter.counts import Launch
from grader.meter.gpus import Gpu
from grader.meter.prediction import Call, Compiled

OTHERWISE = 1.67  # times the ideal bytes, where the day's bar is torch's speed: torch is not ideal, either
COMPILE_TIMEOUT = 10.0  # seconds for one kernel


@dataclass(frozen=True)
class Wanted:
    """What of the compiler's work is asked for beyond facts.

    Attributes:
        machine: count machine instructions.
        code: ptx, sass, ttgir, or nothing.
    """

    machine: bool = False
    code: str = ""


@dataclass
class Seen:
    """A call, and the code of each of its launches."""

    call: Call
    code: list[str] = field(default_factory=list)


def foresee(
    session: Session, challenge: Challenge, speed: Speed, gpu: Gpu, key: str, wanted: Wanted = Wanted()
) -> Seen:
    """Count and compile one call.

    Args:
        key: what the GPU is called in gpus.py.

    Raises:
        CheckFailed: at full size the kernel touches memory that is not its own.
        NotMeasured: nothing can be foretold, and why.
    """
    arguments, specs, blobs = hollow_inputs(challenge, speed.case, session.seed)
    of = asked(challenge, arguments) if speed.part != "forward" else []
    request = {"do": "meter", "entry": challenge.entry, "arguments": specs, "of": of, "part": speed.part}
    launches = _counted(session, {**request, "gpu": key}, blobs)
    compiled, code = _compiled(session, launches, key, wanted)
    tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
    call = Call(
        gpu,
        launches,
        compiled,
        ideal=float(speed.moved(*arguments)),
        flops=float(speed.flops(*arguments)) if speed.flops else 0.0,
        room=1 / speed.of_copy if speed.of_copy else max(1 / (speed.of_torch or 1.0), OTHERWISE),
        half=all(t.element_size() <= 2 for t in tensors if t.is_floating_point()),
        double=any(t.dtype == torch.float64 for t in tensors),
    )
    return Seen(call, code)


def _counted(session: Session, request: dict[str, Any], blobs: Any) -> list[Launch]:
    try:
        session.load(session.fresh_runner())
        assert session.runner is not None
        report, _ = session.runner.ask(request, reports.METERED, blobs, timeout=session.timeout)
    except (RunnerLost, CheckFailed) as lost:
        raise NotMeasured(f"no prediction: at full size {lost}") from None
    finally:
        session.close()
    if "fault" in report:
        fault = report["fault"]
        if fault["kind"] == "bounds":
            raise session.faulted(fault)
        raise NotMeasured(f"no prediction: {fault['type']}: {fault['message'].splitlines()[0]}")
    return [Launch.from_json(launch) for launch in report["launches"]]


def _compiled(
    session: Session, launches: list[Launch], key: str, wanted: Wanted
) -> tuple[list[Compiled], list[str]]:
    """What the compiler says of each launch; equal ones are compiled once."""
    done: dict[str, tuple[Compiled, str]] = {}
    builder: Runner | None = None
    found = []
    for launch in launches:
        recipe = json.dumps(launch.recipe, sort_keys=True)
        if not launch.line or "unknown" in launch.recipe:
            why = "an operation of torch" if not launch.line else launch.recipe["unknown"]
            found.append((Compiled(unknown=why), ""))
            continue
        if recipe not in done:
            if builder is None:
                builder = _builder(session, key)
            done[recipe], builder = _one(session, builder, launch, key, wanted)
        found.append(done[recipe])
    if builder is not None:
        builder.close()
    return [compiled for compiled, _ in found], [code for _, code in found]


def _builder(session: Session, key: str) -> Runner:
    builder = Runner(session.parent, "builder")
    request = {"do": "load", "path": session.path, "gpu": key}
    try:
        report, _ = builder.ask(request, reports.LOADED, timeout=session.timeout)
    except RunnerLost as lost:
        raise NotMeasured(f"no prediction: {lost.reason}") from None
    if "fault" in report:
        builder.close()
        fault = report["fault"]
        raise NotMeasured(f"no prediction: without the interpreter your file raised {fault['message']}")
    return builder


def _one(
    session: Session, builder: Runner, launch: Launch, key: str, wanted: Wanted
) -> tuple[tuple[Compiled, str], Runner | None]:
    """One launch compiled; None in the place of a builder that was lost over it."""
    request = {"do": "build", "recipe": launch.recipe, "gpu": key, "machine": wanted.machine}
    try:
        report, _ = builder.ask({**request, "code": wanted.code}, reports.BUILT, timeout=COMPILE_TIMEOUT)
    except RunnerLost as lost:
        builder.close()
        if lost.outcome == "timeout":
            return (Compiled(runaway=COMPILE_TIMEOUT), ""), None
        return (Compiled(unknown=lost.reason), ""), None
    if "fault" in report:
        fault = report["fault"]
        if fault["kind"] == "compile":
            return (Compiled(fault=fault), ""), builder
        return (Compiled(unknown=f"{fault['type']}: {fault['message'].splitlines()[0]}"), ""), builder
    return (Compiled(report["facts"]), report["code"]), builder
