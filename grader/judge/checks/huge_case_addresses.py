"""The check of a huge case, evaluated: where some of its programs load and store, and no value."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import asdict
from typing import Any

import torch

from grader import datasheets
from grader.challenge import Case, Challenge
from grader.challenge.harness.oracle import gradient_positions
from grader.challenge.harness.runner_client import Runner, RunnerLost, ask_to_load
from grader.diagnosis.evidence import Diagnosis
from grader.diagnosis.int32_overflow import FIRST, advice, all_narrow, in_int32
from grader.diagnosis.triton_errors import slip
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session
from grader.judge.speed.full_size_inputs import hollow_inputs
from grader.kernel.tensor_regions import Overrun
from grader.pass_requirements import HUGE
from grader.runner_answers import Failed
from grader.runner_measurements import Walked

CERTAIN = "bounds", "grid", "launcher"  # kinds of faults that are the file's own; others may be the walk's
Report = tuple[Failed | Walked, tuple[Any, ...]]  # of a walk, and its arguments, which have no memory


def check(session: Session, challenge: Challenge, case: Case) -> None:
    """Walk one case.

    Raises:
        CheckFailed: an address lies outside of every tensor, or CUDA would refuse the grid.
        NotMeasured: it could not be walked, and why.
    """
    report, arguments = _report(session, challenge, case)
    tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
    sizes = [tensor.nbytes for tensor in tensors]
    held = sum(sizes) + max(sizes)  # a result as large as the largest
    by_size = "huge_sizes" if held > HUGE else "values"
    if isinstance(report, Failed):
        if report.fault.kind == "launcher":
            raise session.weighed(challenge, "huge_sizes", session.faulted(report.fault))
        if report.fault.kind not in CERTAIN and not report.fault.too_large:
            raise NotMeasured(f"not walked: {report.fault.type}: {report.fault.first_line}")
        demand, (sentence, look_at), brief = _told(report, session.evidence.source)
        cause: dict[str, Any] = {"reason": report.fault.first_line, **asdict(report.fault)}
        failed = CheckFailed("failed", cause, (sentence[0].upper() + sentence[1:], look_at))
        raise session.weighed(challenge, demand or by_size, failed, brief)
    if report.overruns:
        passed = any(one.turned for one in report.overruns)
        raise session.weighed(challenge, "int32_overflow" if passed else by_size, _astray(report.overruns))


def begin(session: Session) -> None:
    """Start walking all huge cases, with a runner of their own."""
    walks = session.asked.walks()
    session.walked = {session.asked.walk_id(pair): Future() for pair in walks}
    if walks:
        ThreadPoolExecutor(1).submit(_walk_all, session)


def _walk_all(session: Session) -> None:
    """Answer every walk, up to one that is lost: whoever wants the others does them."""
    torch.set_num_threads(1)  # of this thread, too
    # A file may be lost in the evaluator.
    with suppress(Exception), closing(session.evaluators.runner()) as walker:
        ask_to_load(walker, session.request)
        for pair in session.asked.walks():
            session.walked[session.asked.walk_id(pair)].set_result(_walk(session, walker, *pair))
    for future in session.walked.values():
        future.cancel()


def _report(session: Session, challenge: Challenge, case: Case) -> Report:
    """What its walk showed, and its arguments.

    Raises:
        NotMeasured: it could not be walked, and why.
    """
    begun: Future[Report] | None = session.walked.get(session.asked.walk_id((challenge, case)))
    if begun:
        with suppress(CancelledError):
            return begun.result()
    try:
        return _walk(session, session.evaluators.walker(), challenge, case)
    except (RunnerLost, CheckFailed, OSError, MemoryError) as lost:
        session.evaluators.drop_walkers()
        raise NotMeasured(f"not walked: {lost}") from None


def _walk(session: Session, walker: Runner, challenge: Challenge, case: Case) -> Report:
    blobs: list[memoryview] = []
    arguments, specs = hollow_inputs(challenge, case, session.request.seed, blobs)
    of = gradient_positions(challenge, arguments)
    request: dict[str, Any] = {
        "do": "walk",
        "entry": challenge.entry,
        "arguments": specs,
        "of": of,
        "part": "both" if of else "forward",
        "upstream": case.upstream,
        "gpu": datasheets.sheet(datasheets.USUAL),
    }
    return walker.ask(request, Walked, blobs, timeout=session.request.call_timeout)[0], arguments


def _astray(overruns: Sequence[Overrun]) -> CheckFailed:
    """The failure of addresses beside their tensors."""
    beside = min(overruns, key=lambda one: one.kind == "load")
    mask = "its mask lets them through" if beside.masked else "no mask holds them back"
    said = f"Line {beside.line} {beside.kind}s {beside.where} in program {tuple(beside.program)}: {mask}."
    cause = {"reason": said, **asdict(beside)}
    line = f"the mask on line {beside.line}" if beside.masked else f"line {beside.line}, which has no mask"
    return CheckFailed("failed", cause, (said, line))


def _told(failed: Failed, source: str) -> tuple[str, Diagnosis, str]:
    """The kind of demand where its size is not the only one, the sentence with what to look at, and the
    sentence of a limit where that is shorter.
    """
    fault = failed.fault
    line = f"line {fault.line}"
    if told := slip(asdict(fault), source):
        return "", (told.says, f"line {told.line}"), ""
    if fault.kind == "grid":
        said = f"{fault.first_line}, and CUDA refuses to launch it."
        return "grid_axes", (said, f"the grid, {line}"), ""
    wild = next((one for one in failed.overruns if one.wrapped), None)
    if wild is None and (kernel := fault.kind == "bounds" and all_narrow(source, fault.line or 0)):
        sentence = (
            f"{fault.first_line}. Nothing in {kernel} is counted in int64, and what passes 2³¹ in int32 "
            f"turns negative, in a mask, too. {FIRST}"
        )
        return "int32_overflow", (sentence, line), f"nothing in {kernel} is counted in int64"
    wild = wild or next((one for one in failed.overruns if one.turned), None)
    if wild is None:
        return "", (f"{fault.first_line}.", line), ""
    line = f"line {wild.line}"
    passed = "its offset passed 2³¹ in int32 and turned negative"
    passed = passed if wild.wrapped else "a number on the way passed 2³¹ in int32"
    sentence = f"{line} {wild.kind}s {wild.where}: {passed}. {advice(source, wild.turned)}"
    brief = in_int32(source, wild.line, wild.turned)
    return "int32_overflow", (sentence, f"the offsets on {line}"), brief
