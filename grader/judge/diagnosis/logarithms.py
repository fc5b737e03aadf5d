"""A term that is the logarithm of a whole number: its argument is so many times too large, or too small."""

from __future__ import annotations

import ast
import math
import re

from grader.judge.diagnosis.evidence import Diagnosis
from grader.judge.diagnosis.site import has_loop
from grader.judge.diagnosis.source import called

BASES = {"log": math.e, "log2": 2.0}
TIMES, NEAR = 16, 1e-2  # a term is told in four digits


def under_a_logarithm(sentence: str, source: str) -> Diagnosis | None:
    """What is told in the place of "Every element is off by +0.6931: …", in a file that takes logarithms."""
    seen, _, _ = sentence.partition(":")
    found = re.fullmatch(r"Every element is off by ([-+].*)", seen)
    term = float(found[1]) if found else 0.0
    for name, base in BASES.items() if 0 < abs(term) <= math.log2(TIMES) else ():  # e**1000 overflows
        times = base ** abs(term)
        if called(source, {name}) and 2 <= round(times) <= TIMES and abs(times - round(times)) < NEAR:
            off = f"{round(times)} times too {'large' if term > 0 else 'small'}"
            twice = " Does anything count twice?" * (term > 0)
            loop = "the loop, and " * has_loop(ast.parse(source))
            return (
                f"{seen}, as where what {name} is taken of is {off}.{twice}",
                f"{loop}what goes into the sum",
            )
    return None
