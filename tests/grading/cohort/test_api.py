"""The door for Python."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import grader
from grader import Pool, Verdict, grade, grade_many
from grader.course import catalog
from grader.errors import BadSubmission, UnknownDay
from grader.grading.llm_answer import code

DAY = catalog.find("1")
RIGHT = DAY.solution.read_text(encoding="utf-8")


def test_a_source_is_graded_by_a_line_of_python() -> None:
    verdict = grade(1, RIGHT, device="cpu", seed=4021)
    assert isinstance(verdict, Verdict)
    assert (verdict.status, verdict.seed, verdict.score()) == ("passed", 4021, 1.0)


def test_what_is_no_fault_of_the_source_is_raised() -> None:
    with pytest.raises(UnknownDay):
        grade(99, RIGHT, device="cpu")
    with pytest.raises(BadSubmission):
        grade(1, Path("nowhere.py"), device="cpu")
    with pytest.raises(ValueError, match="0 workers"):
        Pool(workers=0, device="cpu")


@pytest.mark.parametrize(
    ("source", "more", "problem"),
    [
        (3.5, {}, BadSubmission),
        ("import triton", {"timeout": 0}, ValueError),
        ("import triton", {"device": "tpu"}, ValueError),
    ],
)
def test_what_nobody_can_grade_is_refused(source: object, more: dict[str, object], problem: type) -> None:
    with pytest.raises(problem):
        grade(1, source, **more)  # type: ignore[arg-type]


def test_the_door_is_opened_when_it_is_used() -> None:
    """`track status` imports the package, and nothing heavy with it."""
    code = "import sys, grader; print(*(name for name in sys.modules if name.startswith('grader.')))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.split() == ["grader.version"]
    with pytest.raises(AttributeError):
        _ = grader.nothing


def test_the_example_scores_a_batch_by_a_pool_best_first(tmp_path: Path) -> None:
    sources = {
        "wrong.py": RIGHT.replace("2 * x + 1\n", "2 * x\n"),
        "bare.py": "import torch\n",
        "good.py": RIGHT,
        "torn.py": "def",
    }
    for name, source in sources.items():
        (tmp_path / name).write_text(source)
    command = [sys.executable, str(catalog.ROOT / "examples" / "score_kernels.py"), "1", *sources]
    surroundings = {**os.environ, "PYTHONPATH": str(catalog.ROOT)}
    shown = subprocess.run(
        command, capture_output=True, text=True, check=True, env=surroundings, cwd=tmp_path
    ).stdout
    told = [line.split()[:3] for line in shown.splitlines()]
    assert told[0] == ["1.000", "passed", "good.py"]
    assert sorted(told[1:]) == [["0.000", "failed", name] for name in ("bare.py", "torn.py", "wrong.py")]


SPINS = RIGHT + "\nwhile True:\n    pass\n"
RELU = catalog.ROOT / "examples" / "tasks" / "relu"


def test_a_batch_is_graded_without_asyncio_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "there.py"
    path.write_text(RIGHT)
    found = grade_many(1, [RIGHT, "def", path, tmp_path / "nowhere.py", RIGHT.encode()], device="cpu")
    told = [one.status if isinstance(one, Verdict) else type(one).__name__ for one in found]
    assert told == ["passed", "failed", "passed", "BadSubmission", "passed"]
    with pytest.raises(UnknownDay):
        grade_many(99, [RIGHT], device="cpu")


def test_a_pool_for_a_task_takes_sources_alone_and_a_limit_ends_a_grading() -> None:
    right = (RELU / "solution.py").read_text()
    with Pool(1, "cpu", task=RELU, timeout=1.0) as pool:
        (slow,) = pool.grade_many([right + "\nwhile True:\n    pass\n"])
        assert (slow.status, slow.score()) == ("timeout", 0.0)
        assert slow.diagnosis == "The whole grading may take 1 s, and was stopped in imports."
        assert slow.checks[-1].outcome == "not reached"
        begin = time.monotonic()
        assert pool.grade_many([right], timeout=60)[0].status == "passed"
        assert time.monotonic() - begin < 10, "the parent stays, and what it has imported"
        with pytest.raises(TypeError, match="grade"):
            pool.grade_many(1, [right], 3)


def test_a_cancelled_grading_gives_its_slot_back() -> None:
    async def status() -> str:
        async with Pool(1, "cpu") as pool:
            await pool.grade(1, RIGHT)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(pool.grade(1, SPINS), 0.5)
            return (await asyncio.wait_for(pool.grade(1, RIGHT), 15)).status

    assert asyncio.run(status()) == "passed"


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """For a day, by its number."""
    with Pool(1, "cpu", task=13) as made:
        yield made


SOFTMAX = catalog.find("13").solution.read_text(encoding="utf-8")


def test_a_failure_that_is_fast_is_not_explained_and_worth_no_more(pool: Pool) -> None:
    wrong = SOFTMAX.replace("numerator / denominator", "numerator / denominator * 2")
    whole, fast = (pool.grade_many([wrong], seed=7, fail_fast=fast)[0] for fast in (False, True))
    assert (fast.status, whole.status) == ("failed", "failed")
    failed = [check.outcome for check in fast.checks].index("failed")
    assert {check.outcome for check in fast.checks[failed + 1 :]} == {"not reached"}
    assert fast.diagnosis == "the values differ from torch's"
    assert fast.score() <= whole.score()


def test_speed_that_was_not_asked_for_earns_nothing(pool: Pool) -> None:
    """One scale: else a pass would be worth more where nobody looks whether it is fast."""
    timed, untimed = (pool.grade_many([SOFTMAX], speed=speed)[0] for speed in (True, False))
    assert untimed.score() == pytest.approx(0.6)
    assert timed.score() > untimed.score()
    assert timed.correct
    assert untimed.correct
    assert untimed.checks[-1].cause == {"reason": "not asked for"}


FENCED = (
    f"So:\n```python\nimport triton\n```\nBetter:\n\n```python\n{RIGHT}```\nUse it so:\n```\ny = f(x)\n```"
)
QUOTED = 'x = """\n```\ntriton\n```\n"""'


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (RIGHT, RIGHT),
        (FENCED, RIGHT),
        (f"```\n{RIGHT}", RIGHT),
        (f"~~~py\n{RIGHT}~~~\n", RIGHT),
        (FENCED.replace("\n", "\r\n"), RIGHT.replace("\n", "\r\n")),
        ("no code at all", "no code at all"),
        (QUOTED, QUOTED),
        ("- so:\n  ```\n  import triton\n  ```\n", "import triton\n"),
        ("```\ny = 1\n```", "y = 1\n"),
    ],
)
def test_the_code_of_a_models_answer(answer: str, expected: str) -> None:
    assert code(answer) == expected
