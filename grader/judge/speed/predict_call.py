"""One call at full size without a GPU: its launches counted in one process, compiled in another.

Of a grading this is begun while the cases run, once the compiler is done with what these launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import torch

from grader import datasheets
from grader.challenge import Challenge, Speed
from grader.challenge.harness.oracle import gradient_positions
from grader.challenge.harness.runner_client import RunnerLost, ask_to_load
from grader.diagnosis.fixed_block_sizes import fixed
from grader.judge.failures import NotMeasured
from grader.judge.session import Session
from grader.judge.speed.compile_for_gpu import Wanted, build
from grader.judge.speed.full_size_inputs import hollow_inputs
from grader.performance.counting.counts import LaunchCounts
from grader.performance.predict.prediction import Call, Compiled
from grader.performance.predict.reference_predictions import bar_name, ours
from grader.performance.predict.speed_facts import facts
from grader.runner_answers import Failed
from grader.runner_measurements import Metered

OTHERS = 3  # times that another config is asked for
OTHERWISE = 1.67  # times the ideal bytes, where the day's bar is torch's speed: torch is not ideal, either


Seen = tuple[Call, list[str]]  # a call, and the code of each of its launches


def begin(session: Session) -> None:
    """Start predicting every bar of a grading without a GPU."""
    for challenge in session.challenges if session.device == "cpu" and session.timed else ():
        for speed in () if challenge.on_gpu_alone else challenge.speeds:
            name = name_of_bar(session, challenge, speed)
            session.foreseen[name] = session.background.submit(_unless_failed, session, challenge, speed)


def foreseen(session: Session, challenge: Challenge, speed: Speed) -> Call:
    """What was begun, for the usual GPU.

    Raises:
        CheckFailed, NotMeasured: as `foresee`.
    """
    call: Call = session.foreseen[name_of_bar(session, challenge, speed)].result()
    return call


def name_of_bar(session: Session, challenge: Challenge, speed: Speed) -> str:
    return bar_name(session.stem, challenge.entry, speed.case.id, speed.part)


def _unless_failed(session: Session, challenge: Challenge, speed: Speed) -> Call:
    # The check is not reached then, and whoever looks for the reason wants the core.
    if session.evidence.failed or session.evidence.lost:
        raise NotMeasured("a case failed")
    torch.set_num_threads(1)  # of this thread, too
    return foresee(session, challenge, speed, Wanted(datasheets.USUAL))[0]


def foresee(session: Session, challenge: Challenge, speed: Speed, wanted: Wanted) -> Seen:
    """Count and compile one call.

    Raises:
        CheckFailed: at full size the kernel touches memory that is not its own.
        NotMeasured: nothing can be foretold, and why.
    """
    blobs: list[memoryview] = []
    seed = session.request.seed
    arguments, specs = hollow_inputs(challenge, speed.case, seed, blobs)
    of = gradient_positions(challenge, arguments) if speed.part != "forward" else []
    but: list[dict[str, Any]] = []
    lighter: dict[str, float] = {}
    request: dict[str, Any] = {"do": "meter", "entry": challenge.entry, "arguments": specs, "of": of}
    request |= {"part": speed.part, "upstream": speed.case.upstream, "but": but}
    request["lighter"] = lighter
    request["gpu"] = datasheets.sheet(wanted.gpu)

    def seen() -> Seen:
        counted = _counted(session, request, blobs)
        built = build(session, counted.launches, wanted)
        call = _call(challenge, speed, arguments, wanted, counted, [compiled for compiled, _ in built])
        return call, [code for _, code in built]

    reference = ours(name_of_bar(session, challenge, speed))
    handed = fixed(session.evidence.source, session.evidence.given)

    def rank(one: Seen) -> tuple[bool, float]:
        """A GPU takes the fastest config: where one is fast enough, so is what it takes."""
        return any(not fact.passed for fact in facts(one[0], reference, handed)), one[0].us

    best = last = seen()
    for _ in range(OTHERS):
        spilled = _spilled(last[0])
        slow, _ = rank(last)
        given_up = spilled or [launch for launch in last[0].launches if slow]
        given_up = [launch for launch in given_up if launch.config and launch.config not in but]
        if not given_up:  # or there is none besides
            break
        if but and spilled:  # one more that is like it would spill as well
            lighter |= {launch.kernel: launch.each for launch in given_up}
        but += [launch.config for launch in given_up]
        last = seen()
        best = min(best, last, key=rank)
    return best


def _spilled(call: Call) -> list[LaunchCounts]:
    """Launches that spill or do not fit, which the compiler alone knows."""
    pairs = zip(call.launches, call.compiled, strict=True)
    return [
        launch for launch, compiled in pairs if compiled.built.spilled or not compiled.facts.get("fits", True)
    ]


def _call(
    challenge: Challenge,
    speed: Speed,
    arguments: tuple[Any, ...],
    wanted: Wanted,
    counted: Metered,
    compiled: Sequence[Compiled],
) -> Call:
    tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
    return Call(
        datasheets.GPUS[wanted.gpu],
        counted.launches,
        compiled,
        ideal=float(speed.moved(*arguments)),
        flops=float(speed.flops(*arguments)) if speed.flops else 0.0,
        room=1 / speed.of_copy if speed.of_copy else max(1 / (speed.of_torch or 1.0), OTHERWISE),
        half=all(t.element_size() <= 2 for t in tensors if t.is_floating_point()),
        narrow=any(t.element_size() == 1 for t in tensors),
        double=any(t.dtype == torch.float64 for t in tensors),
        results=counted.results,
    )


def _counted(session: Session, request: dict[str, Any], blobs: Any) -> Metered:
    try:
        with closing(session.evaluators.runner()) as runner:
            ask_to_load(runner, session.request)
            report, _ = runner.ask(request, Metered, blobs, timeout=session.request.call_timeout)
    except RunnerLost as lost:
        raise NotMeasured(f"no prediction: at full size {lost}") from None
    if isinstance(report, Failed):
        fault = report.fault
        if fault.kind in ("bounds", "compile", "grid", "launcher") or fault.too_large:
            raise session.faulted(fault)
        raise NotMeasured(f"no prediction: {fault.type}: {fault.first_line}")
    return report
