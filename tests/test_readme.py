"""What README.md and CONTRIBUTING.md show and say is what the program does."""

from __future__ import annotations

import json
import re
import shlex

import click
import pytest

from grader.cli.commands import track
from grader.cli.screens import day_as_notebook
from grader.course import catalog
from grader.course.setup import doctor
from grader.course.setup.bootstrap_venv import Clone
from tests.learner import Learner
from tools import cast
from tools.commands import dev

README = (catalog.ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (catalog.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SETUP = (catalog.ROOT / "SETUP.md").read_text(encoding="utf-8")
TEACHING = (catalog.ROOT / "TEACHING.md").read_text(encoding="utf-8")
PROGRAM = re.compile(r"^(?:\./track|track|python -m grader)\b ?([^#\n]*)", re.MULTILINE)


def shown(page: str) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    return [words.strip() for block in blocks for words in PROGRAM.findall(block)]


SHOWN = shown(README)


def test_the_first_screen_has_what_it_is_a_graded_day_and_the_two_commands() -> None:
    top = README.splitlines()[:30]
    assert "GPU kernel programming" in top[2]
    assert any(f"]({cast.PICTURE.relative_to(catalog.ROOT)})" in line for line in top)
    assert any(line.startswith("./track tour") for line in top)
    assert any(line.startswith("./track start 1") for line in top)
    assert len(README.splitlines()) <= 120


def test_what_will_be_built_has_figures_that_were_measured() -> None:
    measured = (catalog.ROOT / "solutions" / "README.md").read_text(encoding="utf-8").splitlines()
    rows = re.findall(r"^\| (\d+) \| .+? \| (.+) \| (.+) \| (.+) \|$", README, re.MULTILINE)
    assert len(rows) == 10
    for day, *figures in rows:
        own = [re.split(r" *\| *", row) for row in measured if f"day{int(day):02}_" in row]
        assert any(cells[5:7] + cells[8:9] == figures for cells in own), day


@pytest.mark.parametrize("words", SHOWN + shown(CONTRIBUTING) + shown(SETUP) + shown(TEACHING))
def test_a_command_that_is_shown_exists_with_its_options(words: str) -> None:
    command: click.Command = track
    rest = shlex.split(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        found = dev if name == "dev" else command.commands.get(name)
        assert found, f"there is no command {name}"
        command = found
    if command.context_settings.get("ignore_unknown_options"):
        return  # they are pytest's, say
    options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    assert [word for word in rest if word.startswith("-") and word not in options] == []


def test_every_command_is_shown() -> None:
    shown = {words.split()[0] for words in SHOWN if words}
    assert set(track.commands) <= shown


@pytest.mark.parametrize("option", sorted(set(re.findall(r"(?<![\w-])--[a-z]+|(?<![\w-])-k\b", README))))
def test_an_option_that_is_named_belongs_to_some_command(option: str) -> None:
    groups = [track, *(one for one in track.commands.values() if isinstance(one, click.Group))]
    commands = [track, *(command for group in groups for command in group.commands.values())]
    assert option in {
        "--help",
        *(name for command in commands for one in command.params for name in one.opts),
    }


def test_links_lead_to_files() -> None:
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", README + CONTRIBUTING + SETUP + TEACHING):
        assert (catalog.ROOT / link).is_file(), link


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:grader|tests|days)/[\w./]+)`", CONTRIBUTING))))
def test_a_file_that_contributors_are_sent_to_exists(path: str) -> None:
    assert "/extras/rope" in path or (catalog.ROOT / path).exists()


def test_versions_are_the_pinned_and_the_supported_ones() -> None:
    pins = dict(pin.split("==") for pin in Clone(catalog.ROOT).pins("pinned") if ";" not in pin)
    assert f"torch {pins['torch']} with Triton {pins['triton']}" in README
    assert f"torch=={pins['torch']} triton=={pins['triton']}" == day_as_notebook.PAIR
    first, *_, last = doctor.PAIRS
    assert f"Triton {first} to {last}" in " ".join(README.split())
    assert ", ".join(" or ".join(torches) for torches in doctor.PAIRS.values()) in " ".join(README.split())


def test_the_recorded_terminal_shows_what_a_real_grading_prints(learner: Learner) -> None:
    events = cast.CAST.read_text(encoding="utf-8").splitlines()[1:]
    shown = untimed(re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", "".join(json.loads(event)[2] for event in events)))
    for slip in ((cast.RIGHT, cast.SLIP), ()):
        screen = graded(learner, cast.SEED, *slip)
        _, verdict, below = re.split(r"(?=Not yet|Passed)(.)", screen, maxsplit=1)
        assert verdict + below in shown


def graded(learner: Learner, seed: str, *slip: str) -> str:
    """The screen for day 13's solution, with a slip or without, as a terminal leaves it."""
    learner.environment["TRACK_COMMAND"] = "./track"
    learner.types("start", "13")
    source = catalog.find("13").solution.read_text(encoding="utf-8")
    assert not slip or source.count(slip[0]) == 1
    kernel = learner.kernel(catalog.find("13").stem)
    kernel.write_text(source.replace(*slip) if slip else source, encoding="utf-8")
    shown = learner.types("grade", "--cpu", "--seed", seed).out
    return untimed(shown.replace("  loading torch and triton\n", "").strip())


def untimed(screen: str) -> str:
    """Without seconds, and without the line breaks that a narrow terminal makes."""
    return " ".join(re.sub(r"\d+\.\d s\b", "… s", screen).split())
