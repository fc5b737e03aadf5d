"""`track dev faults` kills whom it says, and notices what is left."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from tests.learner import REPO
from tools.fault_injection import processes
from tools.fault_injection.processes import left


def test_a_runner_and_a_command_line_that_are_killed_leave_nothing() -> None:
    command = [sys.executable, "-m", "tools.fault_injection.gradings", "--times", "2"]
    command += ["--role", "runner", "--role", "command line"]
    ran = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=170)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert sum(int(line.rpartition("/")[2]) for line in ran.stdout.splitlines()) == 2


def test_a_process_that_stays_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "SETTLE", 0.2)
    mark = f"TRACK_FAULTS=test-{os.getpid()}"
    name, _, value = mark.partition("=")
    stays = subprocess.Popen(["sleep", "60"], env={**os.environ, name: value})
    try:
        while stays.poll() is None and not processes.told(
            stays.pid, "environ"
        ):  # for a moment of its exec it has none
            time.sleep(0.01)
        assert left(mark, set()) == [stays.pid]
        assert left(mark, {stays.pid}) == []
    finally:
        stays.kill()
        stays.wait()
    assert left(mark, set()) == []
