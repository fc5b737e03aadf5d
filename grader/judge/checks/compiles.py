"""Without a GPU: do the kernels that it would be handed compile, and does it have memory for them?"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import TimeoutError as TooLate
from dataclasses import asdict

from grader import datasheets
from grader.diagnosis.triton_errors import slip
from grader.judge.background_compile import Told
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session

PATIENCE = 20.0  # seconds beyond the cases
GPU = datasheets.GPUS[datasheets.USUAL]


def check(session: Session) -> None:
    """Look at what the compiler said while the cases ran.

    Raises:
        CheckFailed: the first kernel that it rejects, or that no GPU of the kind has the memory for.
        NotMeasured: it said nothing.
    """
    try:
        found = session.acceptance.result(PATIENCE)
    except TooLate:
        raise NotMeasured("the compiler was not done in time") from None
    for told in found:
        if told.fault and not (told.tuned and told.fault.type == "CompileTimeAssertionFailure"):
            raise _rejected(told, session.evidence.source)
    for told in found:
        if too_large(told) and not (told.tuned and _another(told, found)):
            raise _unfit(told)
    unknown = sorted({told.unknown for told in found if told.unknown})
    if unknown and all(told.unknown for told in found):
        raise NotMeasured(f"whether it compiles is not known ({unknown[0]})")


def too_large(told: Told) -> bool:
    """Whether a program of it needs more shared memory than the usual GPU has."""
    return told.shared is not None and told.shared > GPU.shared


def _another(told: Told, found: Iterable[Told]) -> bool:
    """Whether the autotuner has a config for that call that fits, or may."""
    alike = (other for other in found if (other.case, other.kernel) == (told.case, told.kernel))
    return any(not other.fault and not too_large(other) for other in alike)


def _rejected(told: Told, source: str) -> CheckFailed:
    assert told.fault is not None
    fault = told.fault
    where = f"line {fault.line}" if fault.line else told.kernel
    reason = f"Triton cannot compile {where}: {fault.first_line}"
    cause = {"reason": reason, "fact": "compiles", "case": told.case, "gpu": GPU.name, **asdict(fault)}
    known = slip(asdict(fault), source)
    if known:
        where = where if known.line == fault.line else told.kernel
        cause |= {"reason": f"{fault.type}: {fault.first_line}", "line": known.line}
        sentence = f"Triton cannot compile {where}: {known.says}"
        return CheckFailed("failed", cause, (sentence, f"line {known.line}"))
    at = f" on line {fault.line}" if fault.line else ""
    silent = ". A pass of its compiler breaks off, and says no more" if fault.unsaid else ""
    sentence = f"With {told.case} Triton cannot compile {told.kernel}{at}: {fault.first_line}{silent}."
    look_at = f"line {fault.line}" if fault.line else f"{told.kernel}, from line {told.line} on"
    return CheckFailed("failed", cause, (sentence.replace("..", "."), look_at))


def _unfit(told: Told) -> CheckFailed:
    assert told.shared is not None
    reason = (
        f"With {told.case}, {told.kernel} needs {told.shared >> 10} KB of shared memory where an {GPU.name} "
        f"has {GPU.shared >> 10}."
    )
    at = {"case": told.case, "gpu": GPU.name, "line": told.line}
    cause = {"reason": reason, "fact": "shared memory", **at}
    return CheckFailed("failed", cause, (reason, "the blocks' sizes, num_stages"))
