"""What runs elsewhere, workflows and container, as far as it can be checked here."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from grader.cli.commands import track
from grader.course import catalog
from tests import environments
from tools.commands import dev

WORKFLOWS = sorted((catalog.ROOT / ".github" / "workflows").glob("*.yml"))
DOCKERFILE = (catalog.ROOT / "Dockerfile").read_text(encoding="utf-8")
TEXTS = [*(path.read_text(encoding="utf-8") for path in WORKFLOWS), DOCKERFILE]


def accepted(path: Path) -> bool:
    """Whether it is a workflow by GitHub's own schema."""
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    return subprocess.run([*check, path], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_one_by_githubs_schema_and_a_slip_is_noticed(path: Path, tmp_path: Path) -> None:
    pytest.importorskip("check_jsonschema")
    assert accepted(path)
    slip = tmp_path / path.name
    slip.write_text(path.read_text().replace("runs-on:", "run-on:", 1))
    assert not accepted(slip)


def test_every_command_of_ours_that_runs_there_exists() -> None:
    lines = [line for text in TEXTS for line in re.findall(r"(?:run:|RUN) (\S.*)$", text, re.MULTILINE)]
    ours = [shlex.split(line) for line in lines if line.startswith(("./track", ".ci/"))]
    assert ["./track", "tour"] in ours
    assert [".ci/run"] in ours
    for program, *words in ours:
        assert os.access(catalog.ROOT / program, os.X_OK)
        group = dev if words[:1] == ["dev"] else track
        assert not words or words[group is dev] in group.commands


def test_the_matrix_has_pythons_that_the_launcher_looks_for() -> None:
    matrix = re.search(r"python: \[(.+?)\]", TEXTS[0])
    assert matrix
    looked_for = re.findall(r"python(3\.\d+)\b", (catalog.ROOT / "track").read_text(encoding="utf-8"))
    assert set(re.findall(r"[\d.]+", matrix[1])) <= set(looked_for)


def test_what_a_container_takes_along_is_a_whole_clone(tmp_path: Path) -> None:
    """Everything that git keeps, but git itself, passes .dockerignore; nothing that is only here does."""
    ignored = (catalog.ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    clone = environments.clone(tmp_path / "clone")
    kept = [path.name for path in clone.iterdir() if path.name != ".git"]
    assert not [name for name in kept if any(Path(name).match(pattern) for pattern in ignored)]
    assert {".venv", "my-track", ".git"} <= set(ignored)
