"""A cohort graded on a Ray of this machine's own: what comes out is what single gradings say."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course import catalog
from tools.downloaded_tools import cohort_home
from tools.planted import mistakes

DAY = catalog.find("1")
RIGHT = DAY.solution.read_text(encoding="utf-8")
# Unconfined code can end the process that asked for its grading: the parent of the runner's parent. By name,
# since whoever adopts the orphans stands in its place afterwards.
DEADLY = """
import os, signal
def above(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
asked = above(os.getppid())
if "ray::" in open(f"/proc/{asked}/cmdline").read():
    os.kill(asked, signal.SIGKILL)
"""


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """Where Ray is found: beside what is installed, or among it."""
    found = cohort_home().is_dir()
    if not (found or importlib.util.find_spec("ray")):
        pytest.skip("Ray is fetched by `track dev test` without arguments, or by `track dev drill`")
    path = [str(cohort_home())] * found + [str(catalog.ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "TRACK_HOME": str(tmp_path)}


def test_a_cohort_is_graded_once_and_what_kills_is_told(tmp_path: Path, surroundings: dict[str, str]) -> None:
    handed = {"ann": RIGHT, "bob": RIGHT, "cy": mistakes(DAY)[0].source(DAY), "dora": RIGHT + DEADLY}
    records = [{"id": id, "day": 1, "source": source} for id, source in handed.items()]
    (tmp_path / "class.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records) + "{\n")

    def typed(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "grader", "cohort", *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout

    code, shown = typed("grade", "class.jsonl", "--no-strict", "--seed", "4021")
    assert code == 1, "a line could not be graded"
    assert "3 graded" in shown
    assert "1 had a verdict" in shown
    assert "line 5  it is no JSON" in shown
    _, shown = typed("export", "r.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert {row["id"]: row["status"] for row in rows} == {
        "ann": "passed",
        "bob": "passed",
        "cy": "failed",
        "dora": "crashed",
    }
    assert rows[2]["diagnosis"]
    assert "3 times" in rows[3]["diagnosis"]


def test_an_address_where_nobody_answers_is_told_at_once(
    tmp_path: Path, surroundings: dict[str, str]
) -> None:
    (tmp_path / "class.jsonl").write_text("")
    with socket.create_server(("127.0.0.1", 0)) as gone:
        address = f"127.0.0.1:{gone.getsockname()[1]}"
    command = [sys.executable, "-m", "grader", "cohort", "grade", "class.jsonl", "--ray", address]
    done = subprocess.run(
        command, cwd=tmp_path, env=surroundings, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 3
    assert f"Ray cannot be reached at {address}: [Errno 111] Connection refused" in done.stderr


def test_without_ray_it_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "class.jsonl").write_text("")
    (tmp_path / "ray.py").write_text("raise ModuleNotFoundError('No module named ray', name='ray')\n")
    surroundings = {**os.environ, "PYTHONPATH": f"{tmp_path}:{catalog.ROOT}"}
    command = [sys.executable, "-m", "grader", "cohort", "grade", "class.jsonl"]
    done = subprocess.run(
        command, cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "ray is not installed" in done.stderr
    assert "[cohort]'" in done.stderr
