"""The facts about what comes from DRAM: how many bytes, and in which order their tiles are taken."""

from __future__ import annotations

from collections.abc import Iterator

from grader.performance.predict.dram_traffic import traffic
from grader.performance.predict.prediction import Call, Fact

BYTES = 1.05  # of what the day's bar leaves room for: 1 / 0.60 of the ideal where it asks for 0.60 of a copy
HIDDEN = 0.5  # of the predicted time of a day that counts operations, below which bytes do not matter
EXPOSED = 0.8  # of a launch's predicted time, from which on memory shows: tiles ought to share more
WASTE = 0.25  # of all that the call moves, from which on a wasteful line counts


def moved(call: Call) -> Iterator[Fact]:
    """How many bytes it takes, if its programs share their tiles."""
    times = call.shared / call.ideal
    # Where products set the pace, bytes count once memory would take half of the time.
    hidden = call.flops > 0 and times * call.copy_us < HIDDEN * call.us
    if hidden or times <= BYTES * call.room:
        yield Fact("bytes", True, f"The call moves {times:.2f}× the bytes that it must.")
        return
    why, line = _most_moved(call)
    yield Fact("bytes", False, f"The call moves {times:.1f}× the bytes that it must{why}.", line)


def _most_moved(call: Call) -> tuple[str, int]:
    """What takes most of them, and where."""
    later = max(call.traffic(), key=lambda one: one.later, default=None)
    if later and later.later > WASTE * call.ideal:
        lost = f": {_mb(later.later)} MB of {later.name} are read again when L2 has lost them"
        return f"{lost} to the other programs that run at the time", later.extent.line
    # What the call allocated by itself, and reads again, is what it might do without: a result it might not.
    read = {one.extent.bytes for one in call.traffic() if one.extent.own and one.extent.read}
    worst = max(
        call.traffic(),
        key=lambda one: (one.extent.own and one.extent.bytes in read, one.bytes - one.unshared),
        default=None,
    )
    count = len(call.launches)
    head = f", in {count} launch{'es' * (count > 1)}"
    if worst is None:
        return head, 0
    taken = _mb(worst.bytes - worst.unshared)
    return f"{head}: {worst.name} takes {taken} MB in one of them", worst.extent.line


def order(call: Call) -> Iterator[Fact]:
    """What programs that run at the same time do not share of their tiles comes from DRAM again and again."""
    if call.moved <= BYTES * call.room * call.ideal:
        return
    for launch, compiled, roof in zip(call.launches, call.compiled, call.roofs(), strict=True):
        if not launch.line or roof["memory"] < EXPOSED * max(roof.values()):
            continue
        tensors = traffic(launch, call.gpu, compiled.built.resident)
        worst = max(tensors, key=lambda one: one.unshared, default=None)
        if worst and worst.unshared:
            says = (
                f"Programs that run at the same time share too few tiles of {worst.name}: "
                f"{_mb(worst.bytes)} MB of it come from DRAM, where it has {_mb(worst.extent.bytes)}. "
                "Another order of tiles helps."
            )
            look_at = "how a program's number becomes the numbers of its tile, and the launch"
            yield Fact("order", False, says, look_at=look_at)


def _mb(count: float) -> str:
    return f"{count / 1e6:,.0f}"
