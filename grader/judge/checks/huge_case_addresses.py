"""The check of a huge case, evaluated: where some of its programs load and store, and no value."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import asdict
from functools import partial
from typing import Any

import torch

from grader import datasheets
from grader.challenge import Case, Challenge
from grader.challenge.cases.oracle import gradient_positions
from grader.challenge.cases.runner_client import Runner, RunnerLost, ask_to_load
from grader.diagnosis.evidence import Diagnosis
from grader.diagnosis.int32_overflow import FIRST, advice, all_narrow, in_int32
from grader.diagnosis.syntax import function
from grader.diagnosis.triton_errors import slip
from grader.judge.checks.persistent_loop_sizes import coming_round
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session
from grader.judge.speed.full_size_inputs import hollow_inputs
from grader.kernel.tensor_regions import Overrun
from grader.performance.meter.random_number_reuse import Redrawn
from grader.performance.meter.unread_partials import Unread
from grader.requirements import HUGE
from grader.runner_answers import Failed
from grader.runner_measurements import Walked

CERTAIN = "bounds", "grid", "launcher"  # kinds of faults that are the file's own; others may be the walk's
COUNTED = 1 << 32  # numbers of 32 bits
Report = tuple[Failed | Walked, tuple[Any, ...]]  # of a walk, and its arguments, which have no memory


def check(session: Session, challenge: Challenge, case: Case) -> Walked:
    """Walk one case; what that showed.

    Raises:
        CheckFailed: an address lies outside of every tensor, or CUDA would refuse the grid.
        NotMeasured: it could not be walked, and why.
    """
    report, arguments = walk(session, challenge, case)
    tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
    largest = max(tensors, key=lambda tensor: tensor.numel())
    held = sum(tensor.nbytes for tensor in tensors) + largest.nbytes  # a result as large as the largest
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
        raise session.weighed(challenge, "int32_overflow" if passed else by_size, astray(report.overruns))
    if found := report.unread or report.redrawn:
        most = largest.numel()
        source = session.evidence.source
        told = _left_out(found, source) if isinstance(found, Unread) else _drawn_again(found, most)
        failed = CheckFailed("failed", {"reason": told[0], **asdict(found)}, told)
        cut = isinstance(found, Redrawn) and most > COUNTED
        raise session.weighed(challenge, "int32_overflow" if cut else by_size, failed)
    return report


def begin(session: Session) -> None:
    """Start walking all huge cases, with a runner of their own."""
    walks = session.asked.walks()
    session.walked = {session.asked.walk_id(pair): Future() for pair in walks}
    session.rounds = {challenge.entry: Future() for challenge, _ in walks if challenge.turns}
    if walks:
        ThreadPoolExecutor(1).submit(_walk_all, session)


def _walk_all(session: Session) -> None:
    """Answer every walk, and what comes of it, up to one that is lost: whoever wants the others does them."""
    torch.set_num_threads(1)  # of this thread, too
    # A file may be lost in the evaluator.
    with suppress(Exception), closing(session.evaluators.runner()) as walker:
        ask_to_load(walker, session.request)
        for challenge, case in session.asked.walks():
            report = _walk(session, walker, challenge, case)
            session.walked[session.asked.walk_id((challenge, case))].set_result(report)
            rounds = session.rounds.get(challenge.entry)
            if rounds and not rounds.done() and found(report).again:
                walk = partial(_found, session, walker, challenge)
                rounds.set_result(coming_round(challenge, found(report), walk))
    for future in (*session.walked.values(), *session.rounds.values()):
        future.cancel()


def found(report: Report) -> Walked:
    """What came of a walk; nothing where the file raised."""
    return Walked(0) if isinstance(report[0], Failed) else report[0]


def walk(session: Session, challenge: Challenge, case: Case) -> Report:
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


def _found(session: Session, walker: Runner, challenge: Challenge, case: Case) -> Walked:
    return found(_walk(session, walker, challenge, case))


def astray(overruns: Sequence[Overrun], where: str = "") -> CheckFailed:
    """The failure of addresses beside their tensors, `where` in words."""
    beside = min(overruns, key=lambda one: one.kind == "load")
    sentence, look_at = _beside(beside)
    return CheckFailed("failed", {"reason": sentence, **asdict(beside)}, (f"{where}{sentence}", look_at))


def _beside(overrun: Overrun) -> tuple[str, str]:
    """The sentence on an access beside its tensor."""
    mask = "its mask lets them through" if overrun.masked else "no mask holds them back"
    return (
        f"Line {overrun.line} {overrun.kind}s {overrun.where} in program {tuple(overrun.program)}: {mask}.",
        f"the mask on line {overrun.line}",
    )


def _left_out(unread: Unread, source: str) -> tuple[str, str]:
    """The sentence on a launch that does not read all that another left for it."""
    reader = function(ast.parse(source), unread.reader)
    place = f", from line {reader.lineno} on, and its launch" if reader else ""
    return (
        f"The last of {unread.programs} programs of {unread.kernel} stores "
        f"{unread.tensor}[{unread.element}], and {unread.reader}, which reads that tensor up to element "
        f"{unread.ends}, reads nothing of what that program left there.",
        f"how many partial results {unread.reader} reads{place}: all need a loop, or one stage more",
    )


def _drawn_again(redrawn: Redrawn, elements: int) -> tuple[str, str]:
    """The sentence on random numbers that start over."""
    why = "the counter of the draw comes back to where it began. Every element needs one of its own."
    if elements > COUNTED:
        why = "there an element's number takes more than 32 bits, and the counter is cut. Keep it in int64."
    return (
        f"The last of {redrawn.programs} programs of {redrawn.kernel} draws the numbers that the first one "
        f"draws, though its elements are others: {why}",
        f"the counter of the draw, line {redrawn.line}",
    )


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
