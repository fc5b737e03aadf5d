"""The memory check: what a call holds at its peak beyond its outputs."""

from __future__ import annotations

from typing import Any

import torch

from grader.challenge import Challenge
from grader.challenge.harness.argument_serialization import pack_arguments
from grader.challenge.harness.oracle import gradient_positions
from grader.challenge.harness.trial import draw
from grader.diagnosis.evidence import Diagnosis
from grader.diagnosis.source_context import spelled
from grader.judge.failures import NotMeasured, failed
from grader.judge.session import Session
from grader.pass_requirements import MARGIN, MARGIN_BYTES
from grader.runner_measurements import Peak

MOST = 3  # lines that are named
SMALL_SHARE = 0.05  # of the peak; what takes less is not named
SLACK = 0.05  # of the outputs: allocators round up
PARTIAL = 1 / 256  # of the inputs: what the pieces of a row come to, where several programs share it
# Bytes that torch's allocator may add on a GPU: what is up to 1 MiB is rounded up to 512 each, what is larger
# may get a block that is 1 MiB too large.
SMALL, OF_SMALL, OF_LARGE = 1 << 20, 32 << 10, 2 << 20


def check(session: Session, challenge: Challenge) -> None:
    """Measure one call on the challenge's memory case.

    Raises:
        CheckFailed: it allocates more than the day allows.
        NotMeasured: the case is for a GPU.
    """
    assert challenge.memory is not None
    on_cpu = session.device == "cpu"
    if on_cpu and challenge.memory.case.gpu:
        raise NotMeasured("needs a GPU")
    arguments = draw(challenge, challenge.memory.case, session.request.seed, session.device)
    report = _report(session, challenge, arguments)
    extra = report.peak - report.outputs
    given = sum(value.nbytes for value in arguments if isinstance(value, torch.Tensor))
    allowed = challenge.memory.extra(*arguments) + int(SLACK * report.outputs + PARTIAL * given)
    rounded_up = 0 if on_cpu else OF_SMALL if report.peak <= SMALL else OF_LARGE
    if extra > allowed + rounded_up:
        largest, look_at = _largest(report)
        sentence = (
            f"At its peak {_called(challenge)} {_spell(extra)} beyond its outputs where {_spell(allowed)} "
            "are allowed: an intermediate tensor is stored that need not be, not whole, or not that long."
            f"{largest}"
        )
        margin = max(int(MARGIN * allowed), MARGIN_BYTES)
        demand = "memory_margin" if extra <= allowed + rounded_up + margin else "memory"
        brief = f"{_spell(extra)} beyond its outputs at its peak, {_spell(allowed)} are allowed"
        raise session.weighed(
            challenge, demand, failed(sentence, look_at, extra=extra, allowed=allowed), brief
        )


def _largest(report: Peak) -> Diagnosis:
    """What takes most of the peak, by the lines that made it, and these lines."""
    made: dict[int, list[int]] = {}
    for held in report.held:
        made.setdefault(held.line, []).append(held.bytes)
    most = sorted((line for line in made if line), key=lambda line: -sum(made[line]))[:MOST]
    most = [line for line in most if sum(made[line]) > SMALL_SHARE * report.peak]
    if not most:
        return "", "torch.empty"
    several = {line: f" in {len(made[line])} tensors" * (len(made[line]) > 1) for line in most}
    each = [f"{_spell(sum(made[line]))}{several[line]} made on line {line}" for line in most]
    return f" Held then, the largest first: {', '.join(each)}.", spelled(sorted(most))


def _called(challenge: Challenge) -> str:
    both = challenge.memory is not None and challenge.memory.part == "both"
    return "the call with its backward pass holds" if both else "the call holds"


def _report(session: Session, challenge: Challenge, arguments: tuple[Any, ...]) -> Peak:
    assert challenge.memory is not None
    session.all_compiled()
    both = challenge.memory.part == "both"
    specs, blobs = pack_arguments(arguments, session.names[challenge.entry][: len(arguments)])
    of = gradient_positions(challenge, arguments) if both else []
    request = {"do": "peak", "entry": challenge.entry, "arguments": specs, "of": of}
    return session.ask(challenge.memory.case, request, Peak, blobs)[0]


def _spell(size: int) -> str:
    return f"{size / 2**20:.0f} MiB" if size >= 10 << 20 else f"{size / 2**10:.0f} KiB"
