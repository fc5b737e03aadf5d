"""Every slip is made for real, evaluated and compiled, and gets its sentence and its line."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from grader.course.catalog import ROOT
from grader.diagnosis.triton_errors import slip
from tests.diagnosis.making_slips import written
from tests.diagnosis.slips import COMPILED, EVALUATED, VECTOR
from tests.made_up_day import Judged

pytestmark = pytest.mark.xdist_group("slips")

Told = dict[str, tuple[str, str]]


def made(how: str, folder: str) -> Told:
    """What is said of each slip, and the line it is said of."""
    command = [sys.executable, "-m", "tests.diagnosis.making_slips", how, folder]
    done = subprocess.run(
        command,
        env={**os.environ, "TRITON_CACHE_DIR": folder},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return {
        slip: said
        for how in ("evaluated", "compiled")
        for slip, said in made(how, str(tmp_path_factory.mktemp(how))).items()
    }


@pytest.mark.parametrize("row", [*EVALUATED, *COMPILED], ids=lambda row: row[1])
def test_a_slip_is_told_in_one_sentence_with_its_line(told: Told, row: tuple[str, ...]) -> None:
    old, new, says, *line = row
    said, where = told[f"{old} -> {new}"]
    assert said.startswith(says)
    assert (line[0] if line else new.strip().splitlines()[-1].strip()) in where


HIDDEN = """
challenge = Challenge("entry", lambda case, draw: (draw(case.n),), lambda x: 2 * x, [Case(n=60)])
"""


def test_a_grading_shows_the_line_to_change_and_keeps_the_exceptions_words(judged: Judged) -> None:
    source = written("kernel[grid](x, y, n, BLOCK=BLOCK)", "kernel(x, y, n, BLOCK=BLOCK)")
    verdict = judged(HIDDEN, source)
    cause = verdict.checks[1].cause
    assert (
        verdict.diagnosis == "kernel is called like a function, and a kernel needs a grid: kernel[grid](…)."
    )
    assert cause["reason"].startswith("RuntimeError: ")
    assert verdict.look_at == f"line {cause['line']}"


def fault(kind: str, message: str, line: int, *frames: str) -> dict[str, object]:
    return {"type": kind, "message": message, "line": line, "traceback": list(frames)}


def line_of(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


def test_words_alone_are_not_enough_the_line_must_fit() -> None:
    at = line_of(VECTOR, "pid =")
    words = [
        "'int' object is not iterable",
        "object of type 'int' has no len()",
        "unsupported tensor index: 3",
    ]
    assert [slip(fault("TypeError", said, at), VECTOR) for said in words] == [None] * len(words)


def test_a_jitted_helper_that_a_plain_one_calls_inside_of_a_kernel_is_no_launch_without_a_grid() -> None:
    source = VECTOR.replace("y = 2 * x", "y = plain(x)")
    source += (
        "\n\ndef plain(x):\n    return helper(x)\n\n\n@triton.jit\ndef helper(x):\n    return x.nothing\n"
    )
    lines = [line_of(source, text) for text in ("kernel[grid]", "y = plain", "return helper", "x.nothing")]
    frames = [f"line {line}, in f: …" for line in lines]
    told = slip(fault("KeyError", "'nothing'", lines[-1], *frames), source)
    assert told is None


@pytest.mark.parametrize(
    ("kind", "message", "says"),
    [
        (
            "ValueError",
            "Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)",
            "A tensor of this launch lies in the CPU's memory, and kernel runs on the GPU: "
            "torch.empty(…, device=x.device) makes one where x is.",
        ),
        (
            "ValueError",
            "Conflicting meta-parameters: BLOCK. Make sure that you don't re-define auto-tuned symbols.",
            "The autotuner's configs give kernel its BLOCK: leave that out of the launch.",
        ),
    ],
)
def test_what_a_launch_says_on_a_gpu_alone(kind: str, message: str, says: str) -> None:
    told = slip(fault(kind, message, line_of(VECTOR, "kernel[grid]")), VECTOR)
    assert told is not None
    assert told.says == says


def test_a_file_that_python_cannot_read_has_no_slip() -> None:
    assert slip(fault("TypeError", "object of type 'int' has no len()", 1), "kernel[1](") is None
