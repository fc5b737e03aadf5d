"""A slip that one edit undoes is told by its line, and the edit is proved: the edited file passes."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest

from grader.course import catalog
from grader.course.learner import journal
from grader.grading.grade import grade
from grader.grading.warm_client import Warm
from grader.verdict import Verdict
from tools.planted import swapped

SLIPS = [
    ("13", "other=-float(\"inf\")", "other=0.0", "with another `other=` every"),
    ("26", "y_ptr + offs, libdevice.asinh", "x_ptr + offs, libdevice.asinh", "a name that nothing reads"),
    ("12", "tl.log(", "tl.log2(", "with another function than `tl.log2`"),
    ("8", "    return out", "    out", "with something else returned every"),
]  # fmt: skip
RIGHT = Path(__file__).parents[2] / "right"
WAIT = 60.0  # seconds for an edit, that a busy machine finds it, too


def told(warm: Warm, path: Path, day: str, explain: float = 0.0) -> Verdict:
    return grade(catalog.find(day), path, warm=warm, seed=4021, speed=False, explain=explain)


@pytest.mark.parametrize(("day", "right", "wrong", "says"), SLIPS, ids=[slip[3] for slip in SLIPS])
def test_a_slip_is_told_by_its_line_and_the_edit_passes(
    warm: Warm, tmp_path: Path, day: str, right: str, wrong: str, says: str
) -> None:
    path = tmp_path / "kernel.py"
    source = path.write_text(swapped(catalog.find(day), {right: wrong})) and path.read_text()
    verdict = told(warm, path, day, explain=WAIT)
    line = source[: source.rindex(wrong)].count("\n") + 1
    assert verdict.status == "failed"
    assert verdict.look_at.startswith(f"line {line}: ")
    assert says in verdict.look_at
    edit = re.fullmatch(
        r"On line (\d+) `(.*)` becomes `(.*)`: then every case that was tried is right\.", verdict.edit
    )
    assert edit, verdict.edit
    assert f"`{edit[3]}`" not in verdict.look_at, "the screen gives a hint, and not the edit"
    lines = source.splitlines()
    lines[line - 1] = lines[line - 1].replace(edit[2], edit[3], 1)
    path.write_text("\n".join(lines) + "\n")
    assert told(warm, path, day).status == "passed"


def test_programs_that_all_do_the_same_work_are_no_cure(warm: Warm, tmp_path: Path) -> None:
    path, first = tmp_path / "kernel.py", "first = tl.program_id(0)"
    source = swapped(catalog.find("4"), {f"{first} * BLOCK": first})
    path.write_text(source)
    stride = source[: source.index("stride = tl.num_programs(0)")].count("\n") + 1
    assert not told(warm, path, "4", explain=5.0).look_at.startswith(f"line {stride}: with less")


def test_no_edit_is_proved_by_cases_that_the_file_passes_as_it_is(warm: Warm, tmp_path: Path) -> None:
    path, right = tmp_path / "kernel.py", "tl.rand(seed, i)"
    source = (RIGHT / "day24_dropout" / "early_returns.py").read_text(encoding="utf-8")
    assert right in source
    path.write_text(source.replace(right, "tl.rand(seed + tl.program_id(0), tl.arange(0, BLOCK))"))
    verdict = told(warm, path, "24", explain=WAIT)
    assert verdict.failed
    assert verdict.failed.name == "edges[the_next_seed]"
    assert verdict.edit == ""


def test_nothing_is_looked_for_where_nobody_asks(warm: Warm, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(swapped(catalog.find("13"), {'other=-float("inf")': "other=0.0"}))
    verdict = told(warm, path, "13")
    assert verdict.edit == ""
    assert verdict.look_at == "what is stored there: line 24"


def test_the_last_hint_tells_the_edit() -> None:
    records = [
        {"schema": 1, "day": 13, "event": "graded", "edit": "On line 18 `a` becomes `b`: then …"},
        {"schema": 1, "day": 8, "event": "graded"},
    ]
    assert journal.untold(records, 13, last_hint=False) == ""
    assert journal.untold(records, 13, last_hint=True) == records[0]["edit"]
    assert journal.untold(records, 8, last_hint=True) == ""
    assert journal.untold([*records, json.loads('{"day": 13, "event": "reset"}')], 13, last_hint=True) == ""


def test_an_edit_is_found_in_a_kernel_that_is_no_name_of_the_module(warm: Warm, tmp_path: Path) -> None:
    path, day = tmp_path / "kernel.py", catalog.find("13")
    begin, mark, rest = swapped(day, {'other=-float("inf")': "other=0.0"}).partition("@triton.jit\n")
    kernel, launcher, last = rest.partition("\n\n\ndef softmax(")
    inside = "class Kernels:\n" + textwrap.indent(mark + kernel, "    ")
    path.write_text(begin + inside + launcher + last.replace("softmax_kernel[", "Kernels.softmax_kernel["))
    assert "with another `other=` every" in told(warm, path, "13", explain=WAIT).look_at
