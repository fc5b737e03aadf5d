"""pass@k and fast_p of several samples an id."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from grader import Verdict
from grader.course import catalog
from grader.verdict import Check, SpeedResult

EXAMPLE = catalog.ROOT / "examples" / "pass_at_k.py"
spec = importlib.util.spec_from_file_location("pass_at_k", EXAMPLE)
assert spec is not None
assert spec.loader is not None
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)

SPEED = SpeedResult("measured", 50.0, 100.0, 90.0, 40.0, 0.8, 1.8, "0.40 of copy", 2.0, (1.9, 2.1), 15)
RIGHT = Verdict("relu", "passed", 1, "NVIDIA H200", {}, (Check("imports", "passed"),), SPEED)
WRONG = Verdict("relu", "failed", 1, "NVIDIA H200", {}, (Check("correct[n=8]", "failed"),))


@pytest.mark.parametrize(("n", "c", "k"), [(5, 0, 1), (5, 2, 1), (5, 2, 3), (6, 3, 2), (4, 3, 2), (5, 5, 5)])
def test_pass_at_k_is_the_share_of_all_choices_of_k_that_hold_a_right_one(n: int, c: int, k: int) -> None:
    choices = list(itertools.combinations([1] * c + [0] * (n - c), k))
    assert example.pass_at_k(n, c, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_more_samples_than_there_are_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="takes 10 samples, and there are 5"):
        example.pass_at_k(5, 1, 10)


def test_fast_p_asks_for_more_than_p_times_torch_and_right_values() -> None:
    slow = replace(RIGHT, status="slow", speed=replace(SPEED, of_torch=0.5))
    samples = {"a": [RIGHT, WRONG], "b": [slow, slow]}
    shares = [example.mean_pass_at_k(samples, 1, example.faster(p)) for p in (0, 1, 1.8)]
    assert shares == [0.75, 0.25, 0.0]


def test_json_lines_with_samples_are_graded_and_a_bad_line_is_named(tmp_path: Path) -> None:
    relu = catalog.ROOT / "examples" / "tasks" / "relu"
    sources = [(relu / name).read_text(encoding="utf-8") for name in ("solution.py", "wrong.py")]
    lines = [{"id": "level1/19_ReLU", "task": f"{relu}/", "source": source} for source in sources]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (tmp_path / "bad.jsonl").write_text('{"id": "a"}\n', encoding="utf-8")

    def run(file: str) -> subprocess.CompletedProcess[str]:
        surroundings = {**os.environ, "PYTHONPATH": str(catalog.ROOT)}
        command = [sys.executable, str(EXAMPLE), file, "--k", "1", "2", "--device", "cpu"]
        return subprocess.run(
            command, cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False
        )

    rows = run("answers.jsonl").stdout.splitlines()
    assert rows[1].split() == ["level1/19_ReLU", "2", "1", "0.500", "1.000"]
    assert run("bad.jsonl").stderr.startswith("bad.jsonl, line 1: it must be")
