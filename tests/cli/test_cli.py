"""The command line from outside: where am I, start, slips, help, completion, status, doctor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

from grader import __version__
from grader.cli import commands
from grader.course.setup import doctor
from tests.learner import DAY_1, REPO, Learner, passed

COMMANDS = [
    "tour", "start", "lesson", "grade", "watch", "hint",
    "solution", "diff", "status", "list", "reset", "restore", "upgrade",
    "doctor", "inspect", "show", "bench", "report", "python", "notebook", "hand-in", "cohort",
]  # fmt: skip


def test_a_newcomer_is_told_what_this_is_and_how_to_start(learner: Learner) -> None:
    answer = learner.starts()
    assert answer.code == 0
    assert "track tour" in answer.out
    assert answer.out.endswith("Next: track start 1\n")
    assert not learner.home.exists()


def test_a_learner_is_told_the_current_day_its_file_and_the_next_command(started: Learner) -> None:
    answer = started.types()
    assert answer.out.startswith("Day 1 · ")
    assert f"my-track/{DAY_1}/kernel.py" in answer.out
    assert answer.out.splitlines()[-1].startswith("Next: track grade")


def test_the_version_is_told() -> None:
    assert __version__ in Learner(REPO).starts("--version").out


@pytest.mark.parametrize(
    "words", ["day 13", "13", "day13", "softmax", "DAY-13", "day13_fused_softmax", "fused softmax"]
)
def test_a_day_answers_to_all_its_names(learner: Learner, words: str) -> None:
    assert learner.types("start", *words.split()).code == 0
    assert learner.kernel("day13_fused_softmax").is_file()


def test_a_started_day_is_resumed_and_says_so(started: Learner) -> None:
    started.kernel(DAY_1).write_text("mine")
    answer = started.types("start", "1")
    assert answer.code == 0
    assert answer.out.startswith("Resuming day 1")
    assert "as you left it" in answer.out
    assert started.kernel(DAY_1).read_text() == "mine"


def test_start_without_a_day_resumes_the_current_one_or_takes_the_next(learner: Learner) -> None:
    assert learner.types("start").out.startswith("Day 1 ")
    assert learner.types("start").out.startswith("Resuming day 1 ")
    assert passed(learner).types("start").out.startswith("Day 2 ")
    assert learner.types("start", "13").code == 0
    assert learner.types("start").out.startswith("Resuming day 13 ")


def test_start_reports_in_json(learner: Learner) -> None:
    document = learner.types("start", "1", "--json").json
    assert document["kernel"] == str(learner.kernel(DAY_1))
    assert document["resumed"] is False


@pytest.mark.parametrize(
    ("typed", "fix"),
    [
        ("strat 13", "track start 13"), ("stat", "track status"), ("grad 13 --cpu", "track grade 13 --cpu"),
        ("13", "track start 13"), ("day 13", "track start 13"), ("softmax", "track start 13"),
        ("start sotfmax", "track start 13"), ("start 99", "track list"), ("start xyzzy", "track list"),
        ("xyzzy", "track --help"),
        ("grade --sed 3", "track grade --help"), ("start --bogus", "track start --help"),
        ("grade 13 -k", "track grade --help"), ("cohort grade x --db", "track cohort grade --help"),
        ("start day", "track start day 1"), ("grade day", "track grade day 1"), ("99", "track list"),
    ],
)  # fmt: skip
def test_a_slip_is_one_line_and_the_command_that_was_meant(learner: Learner, typed: str, fix: str) -> None:
    answer = learner.types(*typed.split())
    assert answer.code == 2
    assert answer.out == ""
    error, cure = answer.err.splitlines()
    assert error.startswith("error: ")
    assert cure == f"fix: {fix}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    answer = Learner(REPO).types(name, "--help")
    assert answer.code == 0
    assert answer.out.isascii()
    assert f"Examples:\n    track {name}" in answer.out


def test_the_help_lists_every_command_and_how_to_complete_them() -> None:
    text = Learner(REPO).starts("--help").out
    listed = [
        line.split()[0] for line in text.partition("Commands:")[2].partition("\n\n")[0].splitlines() if line
    ]
    assert listed == [*COMMANDS, "dev"]
    assert 'eval "$(_TRACK_COMPLETE=bash_source track)"' in text


def test_where_the_launcher_is_typed_the_completion_is_that_of_the_launcher() -> None:
    text = Learner(REPO, {"TRACK_COMMAND": "./track"}).starts("--help").out
    line = f'eval "$(_TRACK_COMPLETE=bash_source {shlex.quote(str(REPO / "track"))})"'
    assert line in text
    assert f"_TRACK_COMPLETE=fish_source {shlex.quote(str(REPO / 'track'))} | source" in text


def test_every_example_in_the_help_is_a_command_that_exists_with_these_options() -> None:
    for command in commands.track.commands.values():
        for line in (command.epilog or "").splitlines()[2:]:
            words = shlex.split(line.partition(">")[0])
            assert words[:2] == ["track", command.name]
            command.make_context(words[1], words[2:], resilient_parsing=False).close()


def completed(*words: str) -> list[str]:
    line = ["track", *words]
    asked = {
        "_TRACK_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(line),
        "COMP_CWORD": str(len(line) - 1),
    }
    answer = Learner(REPO, asked).types()
    return [found.partition(",")[2] for found in answer.out.splitlines()]


def test_the_shell_completes_commands_and_days_by_name_and_number() -> None:
    assert completed("sta") == ["start", "status"]
    assert completed("start", "hel") == ["hello_triton"]
    assert completed("grade", "fused") == ["fused_softmax", "fused_layernorm", "fused_add_mul", "fused_mha"]
    assert completed("hint", "13") == ["13"]
    assert completed("hint", "day13") == ["day13_fused_softmax"]
    assert "--json" in completed("grade", "--")


def test_status_and_list_work_before_the_first_start(learner: Learner) -> None:
    for word in ("status", "list"):
        answer = learner.types(word)
        assert answer.code == 0
        assert "Next: track start 1" in answer.out
    assert learner.types("status", "--json").json["workspace"] is None
    assert os.listdir(learner.folder) == []


@pytest.mark.parametrize(("ok", "code"), [(True, 0), (None, 0), (False, 3)])
def test_doctor_reports_in_json(ok: bool | None, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "doctor", lambda: [doctor.Condition(ok, "torch", "pip")])
    answer = Learner(REPO).types("doctor", "--json")
    assert answer.code == code
    assert answer.json["ok"] is (code == 0)
    assert answer.json["findings"] == [{"ok": ok, "what": "torch", "fix": "pip"}]


@pytest.mark.parametrize("words", ["", "status", "list", "--help"])
def test_status_imports_neither_torch_nor_triton(words: str) -> None:
    code = (
        "import sys, atexit; heavy = {'torch', 'triton', 'numpy', 'pytest'};"
        "atexit.register(lambda: print(sorted(heavy & set(sys.modules)), file=sys.stderr));"
        "from grader.cli.commands import main; main()"
    )
    command = [sys.executable, "-c", code, *words.split()]
    assert subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=True).stderr == "[]\n"
