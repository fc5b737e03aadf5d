"""Bad input, bad disks, missing torch and our own bugs: one clear line, and nothing is lost."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course.learner import journal
from tests.learner import DAY_1, SOLUTION_1, Answer, Learner, passed


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"", "The file is empty."),
        (b"def f(:\n", "Syntax error on line 1"),
        (b"# \xff\n", "is not UTF-8"),
        (b"\x00\x01\x02", "cannot"),
        (b"import subprocess\n", "imports subprocess"),
    ],
)
def test_a_file_that_cannot_run_is_one_clear_line(started: Learner, source: bytes, reason: str) -> None:
    started.kernel(DAY_1).write_bytes(source)
    answer = started.types("grade")
    assert answer.code == 1
    assert reason in answer.out
    assert "Traceback" not in answer.out + answer.err
    assert started.kernel(DAY_1).read_bytes() == source


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("grade", "No day was started"), ("grade 1", "No day was started"), ("hint 1", "No day was started"),
        ("diff", "No day was started"), ("reset 1", "No day was started"), ("watch", "No day was started"),
        ("grade 1 --file nowhere.py", "no file nowhere.py"), ("grade 1 --file .", ". is a folder."),
        ("inspect 1 --file .", ". is a folder."), ("bench 1 --file /dev/null", "There is no file /dev/null"),
        ("grade --seed many", "is not a valid whole number"),
        ("grade --file x.py", "Which day is x.py for?"), ("start 1 2", 'No day is called "1 2".'),
        ("grade 99", "There is no day 99"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line_and_a_fix(learner: Learner, words: str, problem: str) -> None:
    answer = learner.types(*words.split())
    assert answer.code == 2
    error, fix = answer.err.splitlines()
    assert problem in error
    assert fix.startswith("fix: track ")


def test_garbage_in_the_journal_is_counted_and_nothing_else_is_lost(started: Learner) -> None:
    with passed(started).journal.open("ab") as file:
        file.write(b'\xff\x00garbage\n{"schema": 1, "event": "gra')
    answer = started.types("status")
    assert answer.code == 0
    assert "2 unreadable journal lines were skipped" in answer.out
    assert "done on CPU" in answer.out
    started.types("hint", "1")
    assert started.types("status", "--json").json["days"][0]["hints"] == 1


def without_torch(learner: Learner, folder: Path) -> Learner:
    """The same learner on a machine where torch and Triton are not installed."""
    for name in ("torch", "triton", "numpy"):
        (folder / f"{name}.py").write_text(
            f'raise ModuleNotFoundError("No module named {name!r}", name={name!r})'
        )
    surroundings = learner.surroundings()
    return Learner(learner.folder, {"PYTHONPATH": f"{folder}{os.pathsep}{surroundings['PYTHONPATH']}"})


def test_without_torch_everything_but_a_grading_works(started: Learner, tmp_path: Path) -> None:
    broken = without_torch(started, tmp_path)
    for words in ("", "status", "list", "start 8", "hint 8", "lesson 8", "diff 8", "reset 8"):
        answer = broken.starts(*words.split())
        assert answer.code == 0, (words, answer.err)
    doctor = broken.starts("doctor")
    assert doctor.code == 3
    assert "Traceback" not in doctor.out + doctor.err
    started.kernel(DAY_1).write_text(SOLUTION_1)
    answer = broken.starts("grade", "1", "--cpu")
    assert answer.code == 3
    assert "torch" in answer.err
    assert len(answer.err.splitlines()) == 2


def test_a_full_disk_costs_the_record_and_not_the_verdict(started: Learner) -> None:
    for room in (0, 10):
        answer = on_a_disk_with(started, started.journal.stat().st_size + room, "grade", "1")
        assert answer.code == 1
        assert "Nothing to grade yet." in answer.out
        told, fix = answer.err.splitlines()
        assert told == f"warning: not recorded. The disk is full: {started.journal}"
        assert fix == "fix: Free some space and repeat the command; nothing of yours was changed."
    assert started.types("hint", "1").code == 0
    assert [record["event"] for record in journal.read(started.journal).records] == ["started", "hint"]


def test_a_full_disk_at_start_is_one_line_and_leaves_no_half_file(learner: Learner) -> None:
    answer = on_a_disk_with(learner, 100, "start", "1")
    assert answer.code == 3
    assert answer.err.startswith("error: The disk is full: ")
    assert len(answer.err.splitlines()) == 2
    assert os.listdir(learner.home / DAY_1) == []


def on_a_disk_with(learner: Learner, room: int, *words: str) -> Answer:
    """Runs a command that can make no file longer than `room` bytes."""
    # Bytecode that is written there would stay behind, cut short.
    limit = (
        "import resource, sys; sys.dont_write_bytecode = True;"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}));"
    )
    return learner.runs(limit + "from grader.cli.commands import main; main()", *words)


def test_a_folder_that_may_not_be_written_is_one_line() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "nur lesen"
        folder.mkdir()
        os.chmod(name, 0o755)
        folder.chmod(0o555)
        nobody = "import os; from grader.cli.commands import main; os.getuid() or os.setuid(65534); main()"
        answer = Learner(folder).runs(nobody, "start", "1")
        assert answer.code == 3
        assert answer.err.splitlines()[0] == f"error: No permission to write: {folder / 'my-track'}"
        assert answer.err.splitlines()[1].startswith("fix: ")


# Root may write anywhere but where this is taken from it.
HELD_BACK = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(24, 1, 0, 0, 0);"  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
    "os.execv(sys.executable, [sys.executable, '-m', 'grader', *sys.argv[1:]])"
)


@pytest.fixture
def locked(started: Learner) -> Iterator[Learner]:
    """Someone who may read the whole workspace and write to nothing of it."""
    started.kernel(DAY_1).write_text(SOLUTION_1)
    subprocess.run(["chmod", "-R", "a-w", started.home], check=True)
    yield started
    subprocess.run(["chmod", "-R", "u+w", started.home], check=True)


def test_what_passes_and_cannot_be_recorded_is_not_called_done(locked: Learner) -> None:
    answer = locked.runs(HELD_BACK, "grade", "1", "--cpu")
    assert answer.code == 0
    assert "Passed." in answer.out
    assert "The day is done" not in answer.out
    assert answer.out.endswith("Next: track grade 1   once it can be recorded\n")
    told, fix = answer.err.splitlines()
    assert told.startswith("warning: not recorded. No permission to write: ")
    assert fix == f"fix: chmod -R u+w '{locked.home}'"


@pytest.mark.parametrize("words", ["start 8", "reset 1", "hint 1"])
def test_the_fix_for_a_workspace_that_may_not_be_written_makes_it_so(locked: Learner, words: str) -> None:
    fix = locked.runs(HELD_BACK, *words.split()).err.splitlines()[1].removeprefix("fix: ")
    subprocess.run(fix, shell=True, check=True)
    assert locked.runs(HELD_BACK, *words.split()).err == ""


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("report", "track report --out ~/report.html"),
        ("notebook 1 --out my-track/1.ipynb", "track notebook 1 --out ~/1.ipynb"),
        ("notebook --all my-track/all", "track notebook --all ~/notebooks"),
    ],
)
def test_a_page_that_cannot_be_written_there_goes_elsewhere(locked: Learner, words: str, fix: str) -> None:
    assert locked.runs(HELD_BACK, *words.split()).err.splitlines()[1] == f"fix: {fix}"


def test_a_bug_of_ours_is_one_line_a_log_and_code_3(started: Learner) -> None:
    code = (
        "from grader.cli import commands; import sys\n"
        "def broken(): raise ZeroDivisionError('a\\nbug')\n"
        "commands.standing = broken; commands.main()"
    )
    answer = started.runs(code, "status", "--json")
    assert answer.code == 3
    problem, fix = answer.err.splitlines()
    assert problem == "error: Triton Track itself failed: ZeroDivisionError: a bug"
    log = Path(fix.removeprefix("fix: Please report it with "))
    assert "in broken" in log.read_text()
    assert answer.json["error"]["problem"].startswith("Triton Track itself failed")


def test_a_reader_who_leaves_early_is_no_crash(started: Learner) -> None:
    line = f"{shlex.quote(sys.executable)} -m grader lesson 13 | head -1"
    surroundings = {"cwd": started.folder, "env": started.surroundings()}
    shown = subprocess.run(line, shell=True, capture_output=True, text=True, check=True, **surroundings)
    assert shown.stdout.startswith("# Day 13")
    assert shown.stderr == ""


def test_a_disk_with_no_room_at_all_is_one_line(started: Learner) -> None:
    started.kernel(DAY_1).write_text(SOLUTION_1)
    answer = on_a_disk_with(started, 0, "grade", "1", "--cpu")
    assert answer.code == 3
    assert answer.err.splitlines() == [
        "error: No temporary file can be written anywhere.",
        "fix: Free some space, or set TMPDIR.",
    ]


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("grade 13 my.py", "track grade 13 --file my.py"), ("grade my.py", "track grade 8 --file my.py"),
        ("grade --file my.py", "track grade 8 --file my.py"),
        ("inspect my.py", "track inspect 8 --file my.py"),
        ("grade notes.py", "track grade DAY --file notes.py"), ("lesson my.py", "track lesson 8"),
        ("my.py", "track grade my.py"),
    ],
)  # fmt: skip
def test_a_file_in_the_place_of_a_day_gets_the_command_that_takes_it(
    learner: Learner, words: str, fix: str
) -> None:
    (learner.folder / "my.py").write_text("def add(x, y):\n    return x + y\n")
    (learner.folder / "notes.py").write_text("HELLO = 1\n")
    answer = learner.types(*words.split())
    assert answer.code == 2
    assert answer.err.splitlines()[1] == f"fix: {fix}"


@pytest.mark.parametrize(
    ("words", "path"),
    [
        (["grade", "a b.py"], "a b.py"), (["grade", "1", "--file", "of mine"], "of mine/kernel.py"),
        (["bench", "--all", "--file", "a b.py"], "a b.py"),
        (["report", "--out", "a b.py"], "a b.html"), (["notebook", "8", "--all", "a b"], "a b"),
        (["show", "8", "--out", "a b.txt", "--file", "a b.py"], "a b.html"),
    ],
)  # fmt: skip
def test_a_path_with_a_blank_is_quoted_in_the_command_that_is_told(
    started: Learner, words: list[str], path: str
) -> None:
    (started.folder / "a b.py").write_text("def add(x, y):\n    return x + y\n")
    (started.folder / "of mine").mkdir()
    (started.folder / "of mine" / "kernel.py").touch()
    answer = started.types(*words)
    fix = answer.err.splitlines()[-1].removeprefix("fix: ")
    assert shlex.split(fix)[-1] == path, answer.err


@pytest.mark.parametrize("place", ["my-track/{}/kernel.py", "my-track/{}/", "./my-track/{}"])
def test_the_place_of_a_day_in_the_workspace_is_that_day(started: Learner, place: str) -> None:
    started.types("start", "8")
    assert started.types("grade", place.format(DAY_1), "--json").json["day"] == 1
    assert started.types("hint", place.format(DAY_1), "--json").json["day"] == 1
    if place.endswith(".py"):
        file = place.format(DAY_1)
        assert started.types("grade", "--file", file, "--json").json["day"] == 1


@pytest.mark.parametrize(
    ("word", "fix"), [("test", "grade"), ("resett", "--help"), ("next", "start"), ("statu", "status")]
)
def test_a_command_that_moves_work_is_never_guessed(learner: Learner, word: str, fix: str) -> None:
    answer = learner.types(word)
    assert answer.code == 2
    assert f"track {fix}" in answer.err
