"""Whom a bench times at one bar: the learner's kernel, ours, torch, torch.compile, libraries, and Gluon."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import triton

from grader.challenge import Challenge, Speed
from grader.challenge.harness.oracle import values_of
from grader.challenge.harness.runner_client import made_by
from grader.cli.benchmark.libraries import GLUON, LIBRARIES, Function, Gluon, Library
from grader.cli.benchmark.results import digest
from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner.earlier_kernels import taken
from grader.runner.loading import load

HOPPER = 9, 0  # the one compute capability with wgmma
TORCH, TRITON = f"torch {torch.__version__}", f"triton {triton.__version__}"


@dataclass(frozen=True)
class Contender:
    """One kernel on one bar.

    Attributes:
        name: the provider.
        stamp: what its time depends on beside the GPU.
        make: from the arguments to the function that is timed.
        in_place: where the day's function writes to its arguments, this one does; else it returns what
            they are to hold.
    """

    name: str
    stamp: str
    make: Callable[[Sequence[Any]], Function]
    in_place: bool = False


@dataclass(frozen=True)
class File:
    """A file with kernels, loaded when its first one is wanted.

    Args:
        path: where it lies, or where it would: what it imports lies beside it.
    """

    day: Day
    name: str
    path: Path
    source: bytes

    @property
    def stamp(self) -> str:
        return f"{digest(self.source)} {TRITON}"

    @cached_property
    def module(self) -> ModuleType:
        earlier = {
            one.name: [one.path, one.source, str(one.day.provided)]
            for one in taken(self.day.hidden_tests, self.path, self.source)
        }
        made = made_by(self.day.hidden_tests)
        return load(str(self.path), self.source, str(self.day.provided), earlier, made)


def files(day: Day, more: Mapping[str, str]) -> list[File]:
    """Ours, our tuned one if there is one, and last those of others: what lies beside them would come first.

    Args:
        more: paths by provider, such as `yours`.
    """
    given = {"ours": day.solution, "fast": day.fast_solution} | {n: Path(path) for n, path in more.items()}
    return [File(day, name, path, path.read_bytes()) for name, path in given.items() if path.is_file()]


def contenders(day: Day, challenge: Challenge, speed: Speed, given: Sequence[File]) -> Iterator[Contender]:
    """The files, then torch, torch.compile, the libraries that are installed, and an extra in Gluon."""
    for file in given:
        yield Contender(file.name, file.stamp, partial(_entry, file, challenge.entry), in_place=True)
    plain, in_place = speed.torch or _called(challenge), speed.torch is not None
    yield Contender("eager", TORCH, lambda _: plain, in_place)
    yield Contender("compile", f"{TORCH} {TRITON}", lambda _: _compiled(plain), in_place)
    for library in LIBRARIES.get((day.place, challenge.entry), ()):
        if installed(library):
            stamp = f"{library.package} {metadata.version(library.package)} {TRITON}"
            yield Contender(library.name, stamp, library.make)
    if (day.place, challenge.entry) in GLUON:
        yield from gluon(GLUON[day.place, challenge.entry])


def gluon(one: Gluon) -> Iterator[Contender]:
    """The extra's solution, and its tuned one; nobody where the GPU is no Hopper."""
    if torch.cuda.is_available() and torch.cuda.get_device_capability() == HOPPER:
        for name, file in gluon_files(one).items():
            yield Contender(name, file.stamp, partial(_adapted, one, file))


def gluon_files(one: Gluon) -> dict[str, File]:
    """By provider the files of an extra in Gluon."""
    return dict(zip(("gluon", "gluon fast"), files(catalog.find(one.slug), {}), strict=False))


def _entry(file: File, name: str, _: Sequence[Any]) -> Function:
    function: Function = getattr(file.module, name)
    return function


def _adapted(one: Gluon, file: File, given: Sequence[Any]) -> Function:
    return one.adapt(_entry(file, one.entry, given))


def _called(challenge: Challenge) -> Function:
    """The reference, as a function of the day's arguments."""
    return lambda *arguments: values_of(challenge, arguments)


def _compiled(function: Function) -> Function:
    """torch.compile's, for these sizes alone; what it kept of others is let go, so that none is the last."""
    torch._dynamo.reset()
    made: Function = torch.compile(function, dynamic=False)
    return made


def installed(library: Library) -> bool:
    try:
        metadata.version(library.package)
    except metadata.PackageNotFoundError:
        return False
    return True


def missing(days: Sequence[Day]) -> list[str]:
    """The packages that would be timed on these days if they were installed."""
    places = {day.place for day in days}
    wanted = [one for (place, _), every in LIBRARIES.items() if place in places for one in every]
    return sorted({one.package for one in wanted if not installed(one)})
