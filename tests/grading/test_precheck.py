"""What is found in a file before any of it runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.course import catalog
from grader.grading.precheck import precheck
from tests.learner import REPO, SKELETON, day

pytestmark = pytest.mark.usefixtures("course")

BUILT = [day.stem for day in catalog.days()]
SOLVED = SKELETON.replace("torch.empty_like(x)", "x + x")
KERNEL = "import triton\n\n@triton.jit\ndef k(x_ptr):\n    {}\n"


def found(source: str | bytes) -> tuple[str, int, str] | None:
    finding = precheck(day(2), source.encode() if isinstance(source, str) else source)
    return (finding.status, finding.line, finding.reason) if finding else None


@pytest.mark.parametrize(
    "source",
    [
        SKELETON,
        SKELETON.replace("    # TODO: return it\n", ""),
        SKELETON + "\n\n# thinking…\n",
        SKELETON.replace("\n\n\n", "\n\n\n\n\n"),
        SKELETON.replace("Return 2x.", "Return 2x, I hope."),
        SKELETON.replace("\n", "\r\n"),
        "\ufeff" + SKELETON,
    ],
)
def test_a_skeleton_with_other_comments_blanks_and_docstrings_is_unstarted(source: str) -> None:
    assert found(source) == ("unstarted", 0, "The file is still the skeleton.")


def test_a_changed_line_is_started_and_nothing_is_found() -> None:
    assert found(SOLVED) is None


@pytest.mark.parametrize("source", ["", "\n\n  \n", "\ufeff"])
def test_an_empty_file_is_said_to_be_empty(source: str) -> None:
    assert found(source) == ("failed", 0, "The file is empty.")


@pytest.mark.parametrize("source", ["# only a comment\n", '"""Only a docstring."""\n'])
def test_a_file_without_code_is_said_to_hold_none(source: str) -> None:
    assert found(source) == ("failed", 0, "The file holds no code, only comments.")


def test_a_file_in_another_encoding_names_the_line_of_the_first_odd_byte() -> None:
    assert found(b"import torch\n# Gr\xfc\xdfe\n") == ("failed", 2, "Line 2 is not UTF-8 text (byte 0xfc).")


@pytest.mark.parametrize("source", [bytes(range(256)), b"\x7fELF\x02\x01", b"\x00"])
def test_a_binary_file_is_one_clear_line(source: bytes) -> None:
    finding = found(source)
    assert finding is not None
    assert finding[0] == "failed"
    assert "\n" not in finding[2]


def test_a_syntax_error_has_its_line_and_column() -> None:
    finding = precheck(day(2), b"import torch\ndef double(x:\n    return x\n")
    assert finding is not None
    assert (finding.status, finding.line, finding.column) == ("failed", 2, 11)
    assert finding.reason == "Syntax error on line 2: '(' was never closed."


@pytest.mark.parametrize("source", ["x = 1\nreturn x\n", "x = 1\nfrom __future__ import annotations\n"])
def test_what_only_the_compiler_sees_is_a_syntax_error_too(source: str) -> None:
    finding = found(source)
    assert finding is not None
    assert finding[1] == 2
    assert finding[2].startswith("Syntax error on line 2: ")


def test_wrong_indentation_is_named_so() -> None:
    finding = found("def double(x):\nreturn x\n")
    assert finding is not None
    assert finding[1:] == (
        2,
        "Indentation error on line 2: expected an indented block after function definition on line 1.",
    )


def test_a_file_nested_too_deeply_is_one_clear_line() -> None:
    finding = found("x = " + "(" * 150_000 + ")" * 150_000)
    assert finding is not None
    assert finding[0] == "failed"


def test_a_huge_file_is_not_even_parsed() -> None:
    finding = found("x = 1\n" * 200_000)
    assert finding is not None
    assert finding[2] == "The file is larger than 1,000,000 bytes."


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("import subprocess", "subprocess"),
        ("import os, ctypes", "ctypes"),
        ("from multiprocessing import Pool", "multiprocessing"),
        ("from torch.utils import cpp_extension", "torch.utils.cpp_extension"),
        ("from grader.judge import session", "grader"),
        ("def f():\n    import solutions.day13_fused_softmax", "solutions"),
    ],
)
def test_a_module_that_no_kernel_needs_is_refused_by_name(statement: str, name: str) -> None:
    finding = found(SOLVED + "\n" + statement + "\n")
    assert finding is not None
    assert finding[2].startswith(f"The file imports {name}: ")
    assert finding[1] > 8


@pytest.mark.parametrize(
    "statement",
    [
        "import os", "import math", "import numpy as np", "import triton.language as tl",
        "from . import helper",
        "import functools, itertools", "from triton.language.extra import libdevice", "import graders",
        "import torch.nn.functional as F", "import triton.testing",
    ],
)  # fmt: skip
def test_what_honest_kernels_import_is_fine(statement: str) -> None:
    assert found(SOLVED + "\n" + statement + "\n") is None


@pytest.mark.parametrize("stem", BUILT)
def test_every_real_solution_passes_and_every_real_skeleton_is_unstarted(stem: str) -> None:
    code = (
        "import sys; from grader.course.catalog import find; from grader.grading.precheck import precheck;"
        "d = find(sys.argv[1]);"
        "print(precheck(d, d.solution.read_bytes()), precheck(d, d.skeleton.read_bytes()).status)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, stem], cwd=REPO, capture_output=True, text=True, check=True
    )
    assert shown.stdout == "None unstarted\n"


def test_it_imports_nothing_heavy(tmp_path: Path) -> None:
    heavy = "{'torch', 'triton', 'rich', 'click'}"
    code = f"import sys, grader.grading.precheck; print(sorted({heavy} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"
