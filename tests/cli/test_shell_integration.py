"""Between the shell and the commands, without a process: what becomes of errors and figures."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest

from grader.cli import shell_integration
from grader.course.learner import hints
from grader.errors import CannotGrade, TrackError
from tests.learner import day


def exit_code(error: BaseException | None = None, code: int = 0) -> Any:
    @click.group()
    def group() -> None:
        pass

    @group.command()
    @click.option("--json", is_flag=True)
    def act(json: bool) -> None:
        if error:
            raise error
        raise click.exceptions.Exit(code)

    with pytest.raises(SystemExit) as caught:
        shell_integration.run(group, ["act"])
    return caught.value.code


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_a_commands_own_exit_code_is_kept(code: int) -> None:
    assert exit_code(code=code) == code


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (TrackError("No such thing.", "track list"), 2, "error: No such thing."),
        (CannotGrade("No torch.", "track doctor"), 3, "error: No torch."),
        (click.UsageError("Wrong."), 2, "error: Wrong."),
        (RuntimeError("oops"), 3, "error: Triton Track itself failed: RuntimeError: oops"),
        (EOFError("no more"), 3, "error: Triton Track itself failed: EOFError: no more"),
        (KeyboardInterrupt(), 130, "Stopped."),
        (click.Abort(), 130, "Stopped."),
        (click.Abort("Half of it is kept."), 130, "Stopped. Half of it is kept."),
    ],
)
def test_whatever_goes_wrong_is_one_line_and_its_code(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(error) == code
    assert capsys.readouterr().err.strip().splitlines()[0] == line


def test_figures_that_json_has_no_word_for_become_strings(capsys: pytest.CaptureFixture[str]) -> None:
    shell_integration.emit(error=float("nan"), bounds=[float("-inf"), 1.5], deep={"of": (float("inf"),)})
    document = json.loads(capsys.readouterr().out)
    assert document == {"schema": 1, "error": "nan", "bounds": ["-inf", 1.5], "deep": {"of": ["inf"]}}


def test_hints_open_one_by_one_and_then_all_stay_open() -> None:
    assert [hints.reveal(seen, again=False) for seen in range(5)] == [[1], [2], [3], [1, 2, 3], [1, 2, 3]]
    assert [hints.reveal(seen, again=True) for seen in (1, 2, 3)] == [[1], [1, 2], [1, 2, 3]]
    with pytest.raises(TrackError):
        hints.reveal(0, again=True)


@pytest.mark.usefixtures("course")
def test_a_day_without_its_three_hints_says_so() -> None:
    assert hints.read(day(2))[0] == "What is 2x?"
    day(2).hints.write_text("## Nudge\n\nHm.\n")
    with pytest.raises(TrackError, match="incomplete"):
        hints.read(day(2))
    day(2).hints.unlink()
    with pytest.raises(TrackError, match="no hints yet"):
        hints.read(day(2))
