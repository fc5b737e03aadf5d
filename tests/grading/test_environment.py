"""Processes of ours find what they import compiled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.grading.confinement import confinement
from grader.grading.environment import PACKAGE, bytecode, environment


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of bytecode; Python finds none beside torch's source or ours."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "none"))
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    return tmp_path / "triton-track" / "bytecode"


def test_where_python_would_keep_no_bytecode_we_do(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    subprocess.run(
        [sys.executable, "-c", "import grader.errors"], env=environment("cpu"), cwd=PACKAGE, check=True
    )
    assert [path.name.partition(".")[0] for path in elsewhere.rglob("errors.*.pyc")] == ["errors"]


def test_where_python_keeps_it_nothing_changes(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    assert "PYTHONPYCACHEPREFIX" not in environment("cpu")


def test_it_is_hidden_from_a_confined_file(elsewhere: Path) -> None:
    assert elsewhere == bytecode()
    elsewhere.mkdir(parents=True)
    with confinement(elsewhere.parent / "kernel.py", []) as fields:
        assert str(elsewhere.resolve()) in fields["hidden"]
