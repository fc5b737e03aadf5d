"""Tasks of one's own: folders outside of the course that are graded as days are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.course import catalog, custom_tasks
from grader.errors import CannotGrade, UnknownDay
from grader.grading.grade import grade
from grader.grading.warm_client import Warm
from grader.verdict import Verdict
from tests.learner import Learner

TASKS = catalog.ROOT / "examples" / "tasks"
RELU = (TASKS / "relu" / "hidden_tests.py").read_text(encoding="utf-8")
RIGHT = (TASKS / "relu" / "solution.py").read_text(encoding="utf-8")
SPY = (
    RIGHT
    + """
import os
for name in ("hidden_tests.py", "solution.py"):
    print(len(open(os.path.join(os.path.dirname(__file__), name)).read()))
"""
)


@pytest.fixture
def relu(tmp_path: Path) -> Path:
    """A copy of that task, far from the course."""
    folder = tmp_path / "my tasks" / "relu"
    folder.mkdir(parents=True)
    (folder / "hidden_tests.py").write_text(RELU, encoding="utf-8")
    (folder / "solution.py").write_text(RIGHT, encoding="utf-8")
    return folder


def judged(warm: Warm, folder: Path, file: str, **options: bool) -> Verdict:
    return grade(custom_tasks.find(f"{folder}/"), folder / file, warm=warm, seed=4021, **options)


@pytest.mark.parametrize(
    ("name", "says"), [("relu", "torch did part of the work"), ("cumsum", "an earlier call")]
)
def test_a_task_takes_its_solution_and_tells_what_is_wrong_with_the_other(
    name: str, says: str, warm: Warm
) -> None:
    assert judged(warm, TASKS / name, "solution.py").status == "passed"
    assert says in judged(warm, TASKS / name, "wrong.py").diagnosis


def test_every_task_is_whole_and_has_its_row() -> None:
    rows = re.findall(r"^\| \[(\w+)\]", (TASKS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    folders = sorted(path.parent for path in TASKS.glob("*/hidden_tests.py"))
    assert sorted(rows) == [folder.name for folder in folders]
    for folder in folders:
        assert {path.name for path in folder.glob("*.py")} == {"hidden_tests.py", "solution.py", "wrong.py"}


def test_a_folder_is_a_task_where_no_day_is_called_so(relu: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(relu.parent)
    assert custom_tasks.find("relu").key == "relu/"
    assert custom_tasks.find(str(relu)).heading == "Task · relu"
    assert custom_tasks.find("13") == catalog.find("13")
    assert custom_tasks.find(f"{catalog.find('13').folder}/") == catalog.find("13")
    (relu.parent / "softmax").mkdir()
    assert custom_tasks.find("softmax").kind == "day"
    with pytest.raises(UnknownDay, match="no task: there is no hidden_tests") as caught:
        custom_tasks.find("./")
    assert caught.value.fix == "track grade relu --file FILE"


def test_code_that_is_confined_cannot_read_the_tests_beside_it(relu: Path, warm: Warm) -> None:
    (relu / "spy.py").write_text(SPY, encoding="utf-8")
    verdict = judged(warm, relu, "spy.py", strict=True)
    if "hidden files" not in verdict.confined:
        pytest.skip("this machine hides no files")
    assert verdict.output.split() in ([], ["0", "0"])
    assert judged(warm, relu, "spy.py").output.split() == [str(len(RELU)), str(len(RIGHT))]


BROKEN = {
    "nothing in it": ("x = 1\n", "has no `challenge = Challenge"),
    "no challenge in it": ("challenge = 3\n", "has no `challenge = Challenge"),
    "no Python": ("challenge = (\n", "hidden_tests.py, line 1: SyntaxError"),
    "a wrong reference": (RELU.replace("torch.relu,", "torch.rellu,"), "has no attribute 'rellu'"),
    "a size that no case has": (RELU.replace("case.rows", "case.n"), "this case has no n"),
}


@pytest.mark.parametrize(("source", "says"), BROKEN.values(), ids=BROKEN)
def test_what_fails_in_a_task_is_its_authors(source: str, says: str, relu: Path, warm: Warm) -> None:
    (relu / "hidden_tests.py").write_text(source, encoding="utf-8")
    with pytest.raises(CannotGrade, match="The task itself failed") as caught:
        judged(warm, relu, "solution.py")
    assert says in caught.value.problem
    assert caught.value.fix.startswith("Mend the task, then: track grade '")


def test_a_task_is_graded_from_the_command_line(relu: Path, warm: Warm) -> None:
    learner = Learner(relu.parent, warm=lambda: warm)
    answer = learner.types("grade", "relu/", "--file", "relu/solution.py")
    assert answer.code == 0, answer.out + answer.err
    assert answer.out.startswith("Task · relu")
    answer = learner.types("grade", str(relu))
    assert answer.code == 2
    assert answer.err.splitlines()[:2] == [
        "error: Which file is meant?",
        "fix: track grade relu/ --file FILE",
    ]
    (relu / "wrong.py").write_text(RIGHT.replace("offs < n", "offs < n - 1"), encoding="utf-8")
    answer = learner.types("grade", "relu/", "--file", "relu/wrong.py")
    assert "track grade relu/ --file relu/wrong.py --seed" in answer.out
    assert "hint" not in answer.out
