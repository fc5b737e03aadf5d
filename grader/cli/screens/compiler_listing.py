"""What the compiler made of a kernel, as text, with the learner's lines above what came from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from grader.cli.screens.terminal import Terminal
from grader.course.catalog import Day

Line = tuple[str, int]  # of code, and the learner's line that it came from; 0 where that is not said

DEBUG = re.compile(r"^\s*(\.file\s|\$L__(tmp|func_begin|func_end)\d+:)")
PLACE = re.compile(r"^#loc(\d*) = loc\((.*)\)$")
TAIL = re.compile(r"\s*\bloc\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
REFERENCE = re.compile(r"#loc(\d*)")
FILE = re.compile(r'"([^"]*)"(?:, line |:)(\d+)')
FILES = re.compile(r'^\s*\.file\s+\d+ "(.*)"', re.MULTILINE)
# All else is the learner's. Not known by its path: Triton's cache may have compiled it in another place.
LIBRARY = "/triton/language"


def code(
    out: Terminal,
    err: Terminal,
    day: Day,
    source: Sequence[str],
    parts: Sequence[dict[str, Any]],
    kind: str,
    given: str = "",
) -> None:
    """Prints the code of each kernel once. What we add are comments, so that it stays code.

    Args:
        source: the lines of the learner's file, as it was compiled.
        kind: ptx, sass or ttgir.
        given: what a command needs to take the same file again.
    """
    seen: set[str] = set()
    for launch in (launch for part in parts for launch in part["launches"]):
        if launch["code"] in seen or not launch["line"]:
            continue
        if not launch["code"]:
            err.line(f"{launch['kernel']} was not compiled.")
            continue
        seen.add(launch["code"])
        out.whole((f"// {launch['kernel']}", "bold"))
        for text, own in interleaved(KINDS[kind](launch["code"]), source):
            out.whole((text, "cyan" if own else ""))
    err.next(f"track inspect {day.key}{given}", "says what it adds up to")


def interleaved(lines: Iterator[Line], source: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The code's lines, each of the learner's above what came from it; and whether it is the learner's."""
    last = 0
    for text, number in lines:
        if number != last and 0 < number <= len(source) and source[number - 1].strip():
            yield f"// line {number}: {source[number - 1].strip()}", True
            last = number
        if text:
            yield text, False


def _ptx(code: str) -> Iterator[Line]:
    """Without what is there for debuggers alone."""
    names = [re.escape(re.split('[/"]', name)[-1]) for name in FILES.findall(code) if LIBRARY not in name]
    own = re.compile(rf"\s(?:{'|'.join(names)}):(\d+):")
    for line in re.split(r"^\s*\.section\s+\.debug", code, maxsplit=1, flags=re.MULTILINE)[0].splitlines():
        if line.lstrip().startswith(".loc"):
            match = own.search(line)
            yield "", int(match[1]) if match else 0
        elif not DEBUG.match(line):
            yield line.rstrip(), 0


def _sass(code: str) -> Iterator[Line]:
    for line in code.splitlines():
        if line.lstrip().startswith("//## File"):
            yield "", _own(line)
        elif not line.startswith("nvdisasm"):
            yield line.rstrip(), 0


def _ttgir(code: str) -> Iterator[Line]:
    """An operation ends with `loc(#loc7)`; what that is stands in a table, around the code."""
    lines = code.splitlines()
    places = {match[1]: match[2] for match in map(PLACE.match, lines) if match}

    def resolved(place: str) -> int:
        """The innermost line of `"file":7:4`, `"x"(#loc2)` or `callsite(#loc3 at #loc4)`."""
        found = (resolved(places.get(name, "")) for name in REFERENCE.findall(place))
        return _own(place) or next(filter(None, found), 0)

    for line in lines:
        if PLACE.match(line):
            continue
        tails = TAIL.findall(line)
        # A closing brace has the place of what it closes, whose line would stand there a second time.
        number = resolved(tails[-1]) if tails and not line.lstrip().startswith("}") else 0
        yield TAIL.sub("", line).rstrip(), number


def _own(text: str) -> int:
    """The first line of the learner's own file that is named."""
    return next((int(number) for name, number in FILE.findall(text) if LIBRARY not in name), 0)


KINDS: dict[str, Callable[[str], Iterator[Line]]] = {"ptx": _ptx, "sass": _sass, "ttgir": _ttgir}
