"""`track dev new` makes files that run at once, and tests that name what is left."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.cli.commands import track
from grader.cli.screens import Terminal
from grader.cli.watch import Watch
from grader.course import catalog
from grader.course.learner import workspace
from grader.errors import TrackError
from grader.grading.warm_client import Warm
from tests import environments
from tests.learner import day, forget, share


@pytest.fixture
def workshop(course: Path) -> Path:
    """The tiny course, with tests beside it as in a clone."""
    (course / "tests").mkdir()
    return course


def types(*words: str) -> int:
    """The exit code of a `track` command in this process, where the tiny course is the course."""
    forget()
    return track.main(list(words), prog_name="track", standalone_mode=False) or 0


@pytest.mark.parametrize(
    ("words", "problem", "fix"),
    [
        ("", "What is it to be called?", "track dev new SLUG --after N"),
        (
            "rope",
            'After which day does "rope" come?',
            "track dev new rope --after N   (for a new day: --day)",
        ),
        ("rope --after 2 --day", "An extra hangs on a day, a day does not.", "track dev new rope --after 2"),
        ("rope --after 7", "Day 7 is not in this edition of the course.", "track list"),
        ("rope --after 9", "There is no day 9: the last one is day 8.", "track list"),
        ("Rope --after 2", "is no slug: small letters, digits and single", "track dev new rope --after 2"),
        ("flash-attn --day", "is no slug", "track dev new flash_attn --day"),
        ("3d_conv --after 2", "is no slug", "track dev new conv_3d --after 2"),
        ("lambda --after 2", "has a meaning in every kernel.py", "track dev new lambda_kernel --after 2"),
        ("triton --after 2", "has a meaning in every kernel.py", "track dev new triton_kernel --after 2"),
        ("day9_rope --day", "reads like the number of a day", "track dev new rope --day"),
        (
            "doubling --after 2",
            "already means day 2, in days/day02_doubling/.",
            "new doubling_kernel --after 2",
        ),
        ("doubl --after 2", "already means day 2, in days/day02_doubling/.", "new doubl_kernel --after 2"),
        ("rope --day 8", "There is a day 8 already: the next is day 3.", "track dev new rope --day 3"),
        ("rope --day 40", 'The next day cannot be "40": the next is day 3.', "track dev new rope --day 3"),
    ],
)
def test_a_slip_is_one_line_and_the_command_that_was_meant(
    workshop: Path, words: str, problem: str, fix: str
) -> None:
    with pytest.raises(TrackError) as raised:
        types("dev", "new", *words.split())
    assert problem in raised.value.problem
    assert raised.value.fix.endswith(fix)
    assert not list(workshop.glob("**/*rope*"))


def test_what_exists_is_never_overwritten(workshop: Path) -> None:
    (workshop / "hints" / "extras").mkdir()
    (workshop / "hints" / "extras" / "rope.md").write_text("mine")
    with pytest.raises(TrackError, match=r"There is a hints/extras/rope\.md already\."):
        types("dev", "new", "rope", "--after", "2")
    assert [path.name for path in workshop.glob("**/*rope*")] == ["rope.md"]


@pytest.mark.parametrize("words", ["sparse --day", "sparse --day 3", "--day sparse"])
def test_a_new_day_gets_the_first_number_that_is_free(workshop: Path, words: str) -> None:
    assert types("dev", "new", *words.split()) == 0
    forget()
    assert (day(3).slug, day(3).title) == ("sparse", "Sparse")


def test_every_command_works_for_a_new_extra(
    workshop: Path, warm: Warm, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    share(monkeypatch, lambda: warm)
    monkeypatch.setenv("TRACK_COMMAND", "track")
    types("dev", "new", "rope", "--after", "2")
    assert types("start", "rope") == 0
    assert types("lesson") == 0
    assert types("grade", "--cpu") == 1
    assert "Extra · Rope\n" in capsys.readouterr().out
    kernel = Path("my-track", "rope", "kernel.py")
    kernel.write_text((workshop / "solutions" / "extras" / "rope.py").read_text())
    assert types("diff") == 0
    assert types("grade", "rope", "--cpu") == 0
    assert "The extra is done on CPU." in capsys.readouterr().out
    for words in ("hint", "solution", "inspect rope", "show", "status", "list"):
        assert types(*words.split()) == 0, words
        assert "rope" in "".join(capsys.readouterr()).lower(), words
    assert types("status", "--json") == 0
    assert '"day": "rope",\n      "stem": "rope",' in capsys.readouterr().out
    watch = Watch(workspace.require(), day("rope"), "cpu", Terminal(sys.stdout))
    watch.next()
    assert watch.day == day(8)
    assert types("reset", "rope") == 0
    assert "TODO" in kernel.read_text()


LEFT = [
    "6 mistakes are wanted in tests/mistakes/{place}.py, there are 5",
    "days/{place}/README.md:{line}: TODO: why this matters",
    "lesson_is_an_hour_not_a_book[{place}] - AssertionError: the lesson has 1",
    "words beside its code; 400 to 900 are wanted",
    "days/README.md has no such row under ## {section}",
]


def test_in_a_clone_the_next_command_names_what_is_left(tmp_path: Path) -> None:
    clone, count = environments.clone(tmp_path / "clone"), len(catalog.days())
    place, week = f"day{count + 1:02d}_tried_again", count // catalog.A_WEEK + 1
    printed = [
        python(clone, "grader", "dev", "new", *words.split())
        for words in ("tried_out --after 15", "--day tried_again")
    ]
    python(clone, "ruff", "check", "-q", *re.findall(r"^  (\S+)$", "".join(printed), re.MULTILINE))
    asked = r'Next: ./track dev test (.*) -k "(.*) or syllabus or table"   names'
    following = [re.search(asked, text) for text in printed]
    assert [found and found[2] for found in following] == ["extras/tried_out", place]
    assert following[0]
    words = [*following[0][1].split(), "-k", f"extras/tried_out or {place} or syllabus"]
    told = python(clone, "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", *words, code=1)
    for message in LEFT:
        assert message.format(place="extras/tried_out", line=5, section="Extras") in told, message
        assert message.format(place=place, line=3, section=f"Week {week}") in told, message
    assert f"README.md speaks of {count}" in told
    for fine in ("skeleton_grades", "solution_passes", "three_hints", "right_file_passes", "trivial"):
        assert fine not in told


def python(clone: Path, module: str, *words: str, code: int = 0) -> str:
    """What `python -m module` prints in the clone."""
    around = environments.plain(PYTHONPATH=str(clone), COLUMNS="400", TRACK_COMMAND="./track")
    command = [sys.executable, "-m", module, *words]
    answer = subprocess.run(command, cwd=clone, env=around, capture_output=True, text=True, check=False)
    assert answer.returncode == code, answer.stdout + answer.stderr
    return answer.stdout
