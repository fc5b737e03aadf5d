"""What was measured of one kernel at one size, and the file that keeps it. No torch is imported here."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from grader.course.learner.workspace import writing

SCHEMA = 1
Made = TypeVar("Made", "Machine", "Result")
COPY = "copy"  # the provider: a plain copy of as many bytes


@dataclass(frozen=True)
class Machine:
    """A GPU and what it was seen to reach, with what it was seen by.

    Attributes:
        copy_gb_s: a plain copy, bytes read plus bytes written, 10⁹ a second.
        tflops: products of square matrices, by dtype, 10¹² operations a second.
        clock_mhz, most_mhz: of the multiprocessors right after those products, and what the driver allows.
        watts: the power that the driver allows; 0 where it does not say.
        versions: of what a time depends on.
        at: when, ISO 8601 in UTC.
    """

    gpu: str
    copy_gb_s: float
    tflops: dict[str, float]
    clock_mhz: int = 0
    most_mhz: int = 0
    watts: float = 0.0
    driver: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    at: str = ""

    def limit_us(self, moved: float, flops: float, dtype: str) -> float:
        """The time that bytes at the rate of a copy and operations at that of a product leave, µs.

        Args:
            moved: bytes that the best kernel reads plus writes.
            flops: operations of its products, 0 where memory alone sets the pace.
        """
        by_memory = moved / self.copy_gb_s / 1e3
        rate = self.tflops.get(dtype)
        return max(by_memory, flops / rate / 1e6 if rate else 0.0)


@dataclass(frozen=True)
class Point:
    """One bar at one size and dtype.

    Attributes:
        day: its number, or an extra's slug.
        bar: as predict.kept.bar_name has it; unique.
        sizes: those that the sweep changes, by name.
        timed: this is what a grading times.
        limit_us: what this GPU could do at best.
    """

    day: int | str
    bar: str
    entry: str
    part: str
    case: str
    dtype: str
    sizes: dict[str, int]
    timed: bool
    limit_us: float


def digest(source: bytes) -> str:
    """How the stamp of a file begins: with this of its bytes."""
    return hashlib.sha256(source).hexdigest()[:12]


def key(gpu: str, bar: str, provider: str, stamp: str) -> str:
    """What a result is of."""
    return "|".join((gpu, bar, provider, stamp))


@dataclass(frozen=True)
class Result:
    """One kernel at one point. Times are in µs.

    Attributes:
        provider: `yours`, `ours`, `fast`, `eager`, `compile`, a library, or `copy`.
        stamp: what the time depends on beside the GPU: a source's hash, versions.
        us: the median over rounds; 0 where nothing was measured.
        low, high: between them lie 95 % of the medians that other draws of these rounds have.
        wall_us: of one of many calls in a row by the clock, launches from Python included; 0 if unknown.
        problem: why there is no time, or none to rely on; empty when all is well.
        kernels: what the driver says of those of Triton that were launched: `kernel`, `registers` and `stack`
            bytes of a thread, `shared` bytes of a program.
    """

    point: Point
    gpu: str
    provider: str
    stamp: str
    us: float = 0.0
    low: float = 0.0
    high: float = 0.0
    wall_us: float = 0.0
    problem: str = ""
    kernels: list[dict[str, Any]] = field(default_factory=list)

    @property
    def key(self) -> str:
        """Two results with the same key are of the same thing."""
        return key(self.gpu, self.point.bar, self.provider, self.stamp)

    @property
    def of_limit(self) -> float:
        """The share of what this GPU could do at best; 0 where nothing was measured."""
        return self.point.limit_us / self.us if self.us else 0.0


@dataclass(frozen=True)
class Kept:
    """A file of results: the last machine by name, and of each key the last result."""

    machines: dict[str, Machine]
    results: dict[str, Result]

    def newest(self, gpu: str) -> list[Result]:
        """Of each kernel at each point the result that was kept last, in the order of the file."""
        own = [result for result in self.results.values() if result.gpu == gpu]
        last = {(result.point.bar, result.provider): result for result in own}
        return [result for result in own if last[result.point.bar, result.provider] is result]


def read(path: Path) -> Kept:
    """What the file holds; one that does not exist holds nothing, and a torn line is passed over."""
    machines: dict[str, Machine] = {}
    results: dict[str, Result] = {}
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        lines = []
    for line in lines:
        one = _parsed(line)
        if isinstance(one, Machine):
            machines[one.gpu] = one
        elif one is not None:
            results.pop(one.key, None)  # what was measured anew is the newest
            results[one.key] = one
    return Kept(machines, results)


def _parsed(line: bytes) -> Machine | Result | None:
    try:
        record = json.loads(line)
        if record.pop("schema") != SCHEMA:
            return None
        return _made(Machine, record) if "copy_gb_s" in record else from_json(record)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def from_json(record: dict[str, Any]) -> Result:
    """A result from what `asdict` made of it.

    Raises:
        TypeError, KeyError: it is none.
    """
    return _made(Result, record | {"point": Point(**record["point"])})


def _made(kind: type[Made], record: dict[str, Any]) -> Made:
    """Of its fields alone: what an earlier version kept, too, is passed over."""
    return kind(**{one.name: record[one.name] for one in fields(kind) if one.name in record})


def append(path: Path, records: Iterable[Machine | Result]) -> None:
    """Writes each as a line of its own, all at once; before it a line end, for a last line that lacks it.

    Raises:
        CannotWrite: the file cannot be written.
    """
    text = "\n" + "".join(json.dumps({"schema": SCHEMA, **asdict(one)}) + "\n" for one in records)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)
