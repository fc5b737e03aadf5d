"""The memory check: what a call allocates at its peak beyond its outputs."""

from __future__ import annotations

from grader.challenge import Challenge
from grader.judge import reports
from grader.judge.link import RunnerLost, pack_arguments
from grader.judge.session import CheckFailed, Session
from grader.judge.trial import draw

SLACK = 0.05  # of the outputs: allocators round up
ALWAYS = 2 << 20  # bytes: the allocator's smallest block


def check(session: Session, challenge: Challenge) -> None:
    """Measure the peak of one call on the challenge's memory case.

    Raises:
        CheckFailed: it is above what the day allows.
    """
    assert challenge.memory is not None
    arguments = draw(challenge, challenge.memory.case, session.seed, session.device)
    specs, blobs = pack_arguments(arguments, session.names[challenge.entry][: len(arguments)])
    request = {"do": "peak", "entry": challenge.entry, "arguments": specs}
    try:
        report, _ = session.ready_runner().ask(request, reports.PEAK, blobs, timeout=session.timeout)
    except RunnerLost as lost:
        raise session.lost(challenge.memory.case, lost) from None
    if "fault" in report:
        raise session.faulted(report["fault"])
    extra = int(report["peak"]) - int(report["outputs"])
    allowed = challenge.memory.extra(*arguments) + int(SLACK * report["outputs"]) + ALWAYS
    if extra > allowed:
        sentence = (
            f"At its peak the call holds {_spell(extra)} beyond its outputs where {_spell(allowed)} are "
            "allowed: an intermediate tensor is stored that need not be."
        )
        raise CheckFailed(
            "failed", {"reason": sentence, "extra": extra, "allowed": allowed}, (sentence, "torch.empty")
        )


def _spell(size: int) -> str:
    return f"{size / 2**20:.0f} MiB"
