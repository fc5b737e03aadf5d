"""Is a diagnosis true of its case? What it names must be there: sizes, rows, lines, numbers."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from grader.diagnosis.diagnose import OUR_BUG
from grader.verdict import Check, Verdict

NUMBER = re.compile(r"(?<![\w.])[-+]?(\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?!\w|\.\d|%|[ -]bit)")
NAMED = re.compile(r"\b([A-Za-z]\w*) = ([-+]?\d+)\b")
PLACE = re.compile(r"\b(?:from|the first) (\d+)(?: on)?\b")
LINE = re.compile(r"\b[Ll]ines? (\d+(?:(?:, | and )\d+)*)\b")  # as `spelled` has them
DAY = re.compile(r"\bdays? \d+")
APART = re.compile(r"\b(\d+) apart\b")  # a stride, which is a product of sizes
LAID = re.compile(r"-(sliced|padded|strided|columns|transposed)\]|layout=")  # whose strides no name tells
QUOTED = re.compile(r"“[^”]*”")  # of the file
BOUND = re.compile(r"\bup to \d\S* away from\b")  # of one formula from another, whatever the case
BEYOND = re.compile(r"\bup to \d+ elements (past|before)\b")  # of an access that need not be the first
STAGED = re.compile(r"\(here an .* with \d+ SMs\)")  # of the GPU that a launcher sees
PROGRAMS = re.compile(r"\bnone of \d+ programs\b")  # of a launch, which may go by the SMs
SPOKEN = re.compile(r"^With (\S+): ")
COMMON = {0, 1, 2, 3, 4, 10, 23, 127, 1e-4, 5e-4, 65504, 65535, 1.8e19}  # what rules name by themselves
WHOLE = 1e4  # figures from here on may be told without their fractions
NEARLY = 0.06  # figures are told with two digits


def untrue(verdict: Verdict, source: str) -> list[str]:
    """What the verdict's sentence names and its case does not have, in words.

    The case is the first failed one, else the first that met a limit, or that of "With k=300: …". Only what
    failed in a case is looked at.
    """
    if OUR_BUG in verdict.diagnosis:
        return [verdict.diagnosis]
    tried = sorted((c for c in verdict.checks if "[" in c.name), key=lambda check: check.outcome == "limit")
    failed = [check for check in tried if check.outcome in ("failed", "limit")]
    spoken = SPOKEN.match(verdict.diagnosis)
    if spoken:
        failed = [check for check in failed if f"[{spoken[1]}]" in check.name]
        if not failed:
            return [f"no failed case {spoken[1]}"]
    if not failed or failed[0].group not in ("correct", "edges"):
        return []
    sentence = SPOKEN.sub("", verdict.diagnosis)
    cases = [_sizes(check) for check in verdict.checks]
    return [
        *_names(sentence, cases, source),
        *_lines(sentence, source),
        *_look_at(verdict.look_at, source),
        *_numbers(sentence, failed[0], source),
    ]


def _sizes(check: Check) -> dict[str, int]:
    """`{"rows": 4, "cols": 8}` of `correct[rows=4-cols=8-fp32]`."""
    return {name: int(size) for name, size in re.findall(r"([A-Za-z]\w*)=(-?\d+)\b(?!\.)", check.name)}


def _names(sentence: str, cases: list[dict[str, int]], source: str) -> Iterator[str]:
    """A size by name must be one of a case that was tried, or stand so in the source.

    A constant of the kernel, such as BLOCK_K, may get its value by position: config(128, 64, 32).
    """
    constants = set(_constants(source))
    for name, value in NAMED.findall(sentence):
        of_kernel = "_" in name and name.isupper() and re.search(rf"\b{name}\b", source)
        if of_kernel and float(value) in constants:
            continue
        if all(case.get(name) != int(value) for case in cases) and f"{name} = {value}" not in source:
            yield f"no case has {name} = {value} (what is no size is said without `=`)"


def _look_at(look_at: str, source: str) -> Iterator[str]:
    """What to look at must have a place in the file."""
    if look_at and not re.search(r"\blines? \d", look_at):
        yield f"no line has {look_at!r}"
    yield from _lines(look_at, source)


def _lines(sentence: str, source: str) -> Iterator[str]:
    lines = source.splitlines()
    for number in map(int, re.findall(r"\d+", " ".join(LINE.findall(sentence)))):
        if not (0 < number <= len(lines) and lines[number - 1].strip()):
            yield f"there is no line {number}"


def _numbers(sentence: str, check: Check, source: str) -> Iterator[str]:
    """A place must lie inside of the case; another number must be its, the source's, or below its size."""
    sizes = list(_sizes(check).values())
    total = math.prod(max(size, 1) for size in sizes)
    for place in map(int, PLACE.findall(sentence)):
        if place >= total and sizes:
            yield f"{place} lies outside of {check.name}"
    products = {math.prod(some) for n in range(len(sizes) + 1) for some in combinations(sizes, n)}
    spaced = LAID.search(check.name) is not None
    known_apart = [told for told in APART.findall(sentence) if int(told) in products or spaced]
    in_name = map(float, NUMBER.findall(check.name))  # fill=0.25, too
    facts = [*_figures({name: fact for name, fact in check.cause.items() if name != "words"})]
    known = {
        *COMMON,
        *map(float, known_apart),
        *map(float, sizes),
        *in_name,
        *_constants(source),
        *facts,
        *(round(fact) for fact in facts if fact >= WHOLE),
        *(float(f"{fact:.4g}") for fact in facts),  # as steps tell them
    }
    sentence = PROGRAMS.sub("", STAGED.sub("", QUOTED.sub("", sentence)))
    for told in NUMBER.findall(BEYOND.sub("", BOUND.sub("", DAY.sub("", LINE.sub("", sentence))))):
        number, whole = float(told), told.isdigit()
        if whole and (number in known or number < max(sizes, default=0)):
            continue
        if not any(math.isclose(number, abs(other), rel_tol=0 if whole else NEARLY) for other in known):
            yield f"{told} is nowhere in {check.name}"


def _constants(source: str) -> Iterator[float]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield float(node.value)


def _figures(cause: dict[str, Any]) -> Iterator[float]:
    """Every number of a cause, those in its words too."""
    for told in NUMBER.findall(json.dumps(cause)):
        yield float(told)
