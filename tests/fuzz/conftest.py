"""The same examples every time, and few: `HYPOTHESIS_PROFILE=deep` draws hundreds, anew in every run."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

from grader.cli import shell_integration
from grader.cli.commands import track
from grader.course.learner.workspace import Workspace

# A workspace is made once, and every example puts into it what it needs.
CALM = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
set_hypothesis_home_dir(Path(tempfile.gettempdir(), f"hypothesis-{os.getuid()}"))  # not into the clone
settings.register_profile("any", deadline=None, database=None, suppress_health_check=CALM)
settings.register_profile("brief", settings.get_profile("any"), max_examples=40, derandomize=True)
settings.register_profile("deep", settings.get_profile("any"), max_examples=300)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "brief"))

Types = Callable[..., str]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """An empty workspace to stand in."""
    monkeypatch.delenv("TRACK_HOME", raising=False)
    root = tmp_path / "my-track"
    (root / ".track").mkdir(parents=True)
    monkeypatch.chdir(root)
    return Workspace(root)


@pytest.fixture
def types(place: Workspace) -> Types:
    """All that `track` with these words prints; it ends with an exit code that is promised."""

    def run(*words: str) -> str:
        printed = io.StringIO()
        with redirect_stdout(printed), redirect_stderr(printed), pytest.raises(SystemExit) as left:
            shell_integration.run(track, list(words))
        told = printed.getvalue()
        assert left.value.code in (0, 1, 2, 3), told
        assert "Traceback" not in told
        assert "itself failed" not in told
        return told

    return run
