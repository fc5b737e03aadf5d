"""The one process that times: what to measure arrives on a socket, and events go back on it.

{"event": "plan", "points": …, "missing": …}   how many there are; packages that are not installed
{"event": "machine", "machine": …}             results.Machine
{"event": "point", "point": …, "stamps": …}    results.Point, measured now; stamps of its providers
{"event": "trying", "point", "provider", "stamp"}   who has the GPU now, so that it is known who lost it
{"event": "result", "result": …}               results.Result
{"event": "refused", "text": …, "fix": …}      nothing of it can be measured
{"event": "done"}
"""

from __future__ import annotations

import gc
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import torch

from grader.challenge import Challenge, Speed
from grader.challenge.case import SHORT, Case
from grader.challenge.loading import load_challenges
from grader.cli.benchmark import contenders, measured_peaks
from grader.cli.benchmark.interleaved_timing import ROUNDS, Turns, first_line
from grader.cli.benchmark.results import COPY, Machine, Point, Result
from grader.cli.benchmark.sweep import Wanted, counted, points
from grader.cli.benchmark.times import Times
from grader.course import catalog
from grader.course.catalog import Day
from grader.performance.predict.reference_predictions import bar_name
from grader.performance.timing.stopwatch import own_stream
from grader.wire import Channel

Say = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Stop:
    """One stop of the bench: a bar at one case."""

    day: Day
    challenge: Challenge
    speed: Speed
    case: Case
    sizes: dict[str, int]

    @property
    def bar(self) -> str:
        return bar_name(self.day.stem, self.challenge.entry, self.case.id, self.speed.part)

    def point(self, limit_us: float) -> Point:
        named = self.challenge.entry, self.speed.part, self.case.id, SHORT[self.case.dtype]
        return Point(self.day.key, self.bar, *named, self.sizes, self.case.id == self.speed.case.id, limit_us)


def main(request: dict[str, Any], say: Say) -> None:
    """Measures what is not done yet.

    Args:
        request: as client.Wish has it; and `done`, keys of results that there are; `versions`.
    """
    wanted = Wanted(request["sizes"], request["every"])
    files = {catalog.find(key): files for key, files in request["days"].items()}
    plan = [stop for day in files for stop in stops(day, wanted)]
    if not plan:
        return say({"event": "refused", **no_stop(list(files), wanted)})
    missing = contenders.missing(list(dict.fromkeys(stop.day for stop in plan)))
    say({"event": "plan", "points": len(plan), "missing": missing})
    machine = measured_peaks.measure(request["versions"])
    say({"event": "machine", "machine": asdict(machine)})
    for day, of_day in groupby(plan, key=lambda stop: stop.day):
        given = contenders.files(day, files[day])
        for stop in of_day:
            measure(stop, given, machine, request, say)


def stops(day: Day, wanted: Wanted) -> Iterator[Stop]:
    """Every bar of a day at every size that is wanted."""
    for challenge in load_challenges(day.hidden_tests):
        for speed in challenge.speeds:
            for case, sizes in points(challenge, speed, wanted):
                yield Stop(day, challenge, speed, case, sizes)


def no_stop(days: list[Day], wanted: Wanted) -> dict[str, str]:
    """Why there is nothing to measure, and what there would be."""
    speeds = [(c, s) for day in days for c in load_challenges(day.hidden_tests) for s in c.speeds]
    if not speeds:
        return {"text": f"{days[0].name} has no speed bar: nothing of it is timed.", "fix": "track bench 4"}
    named = ", ".join(dict.fromkeys(name for _, speed in speeds for name in counted(speed.case)))
    text = f'{days[0].name} has no size "{wanted.name}", only {named}.'
    return {"text": text, "fix": f"track bench {days[0].key} --sizes {named.partition(',')[0]}=1024,8192"}


def measure(
    stop: Stop, given: list[contenders.File], machine: Machine, request: dict[str, Any], say: Say
) -> None:
    """One point: those that are wanted and not done."""
    every = list(contenders.contenders(stop.day, stop.challenge, stop.speed, given))
    blank = stop.point(0.0)
    left = [
        one
        for one in every
        if request["only"] in ("", one.name)
        and Result(blank, machine.gpu, one.name, one.stamp).key not in request["done"]
    ]
    stamps = {one.name: one.stamp for one in every} | {COPY: contenders.TORCH}
    say({"event": "point", "point": asdict(blank), "stamps": stamps})
    if not left:
        return
    left += [one for one in every if one.name in request["beside"] and one not in left]
    point, found = blank, {one.name: Times() for one in left}
    turns: Turns | None = None

    def trying(name: str) -> None:
        say({"event": "trying", "point": asdict(blank), "provider": name, "stamp": stamps[name]})

    try:
        with own_stream():
            turns = Turns(stop.challenge, stop.speed, stop.case, trying)
            point = stop.point(machine.limit_us(turns.moved, turns.flops, turns.operands))
            turns.run(left, found)
    except torch.cuda.OutOfMemoryError as error:
        for times in found.values():
            times.problem = times.problem or first_line(error)
    finally:
        for name, times in found.items():
            if len(times.rounds) == ROUNDS or times.problem:
                what = times.us, *times.interval, times.wall_us, times.problem
                result = Result(point, machine.gpu, name, stamps[name], *what, times.kernels)
                say({"event": "result", "result": asdict(result)})
    turns = None  # its tensors take what the next point needs
    gc.collect()
    torch.cuda.empty_cache()


if __name__ == "__main__":
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    wanted, _ = channel.receive()
    main(wanted, channel.send)
    channel.send({"event": "done"})
