"""`./track` in a fresh clone: real environments and a real pip, with empty wheels for the large ones."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from grader.course import catalog
from grader.course.setup import bootstrap_venv
from grader.course.setup.bootstrap_venv import Command, Steps
from grader.course.setup.nvidia import has_nvidia_gpu
from tests import environments

ROOT = catalog.ROOT
PINS = bootstrap_venv.Clone(ROOT).pins("pinned") + bootstrap_venv.Clone(ROOT).pins("dev")


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty wheel for every pin; together they make what is installed here visible."""
    house = tmp_path_factory.mktemp("wheelhouse")
    for pin in PINS:
        name, version = pin.partition(";")[0].split("==")
        stub(house, name.replace("-", "_"), f"{version}+cpu" if name == "torch" else version)
    return house


def stub(house: Path, name: str, version: str) -> None:
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(house / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.pth", f"{environments.SITE}\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def around(wheelhouse: Path | str) -> dict[str, str]:
    python = str(Path(sys.executable).resolve())
    return environments.plain(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheelhouse), TRACK_PYTHON=python)


def track(clone: Path, *words: str, wheelhouse: Path | str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [clone / "track", *words]
    return subprocess.run(
        command, cwd=cwd, env=around(wheelhouse), capture_output=True, text=True, check=False
    )


def test_help_installs_nothing(tmp_path: Path) -> None:
    clone = environments.clone(tmp_path / "it's a clone")
    for words in (["--help"], ["grade", "--help"], ["dev"]):
        answer = track(clone, *words, wheelhouse="/nowhere", cwd=tmp_path)
        assert (answer.returncode, answer.stderr) == (0, "")
        assert "Nothing is installed yet." in answer.stdout
        assert shlex.split(answer.stdout.splitlines()[-1])[:3] == ["Next:", str(clone / "track"), "tour"]
    assert not (clone / ".venv").exists()


def helped(clone: Path, *words: str, cwd: Path) -> tuple[str, str]:
    """What help says where nothing can be installed."""
    answer = track(clone, *words, wheelhouse="/nowhere", cwd=cwd)
    return answer.stdout, answer.stderr


Said = list[tuple[str, str]]


@pytest.fixture(scope="module")
def resumed(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int], Said]:
    """A clone whose environment had lost its Python: a run that makes it anew is killed, and two go on."""
    clone = environments.clone(tmp_path_factory.mktemp("resumed") / "a clone, größer")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (clone / ".venv" / "bin").mkdir(parents=True)
    (clone / ".venv" / "bin" / "python").symlink_to("/nowhere/python3.9")
    (clone / ".venv" / "ready").write_text(f"{clone}\n")
    command = [clone / "track", "status", "--json"]
    surroundings = around(wheelhouse)
    first = subprocess.Popen(command, env=surroundings, start_new_session=True, stderr=subprocess.DEVNULL)
    log = clone / ".venv" / "setup.log"
    while not (log.exists() and "torch" in log.read_text()) and first.poll() is None:
        time.sleep(0.02)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert not (clone / ".venv" / "ready").exists()

    options = {"cwd": elsewhere, "env": surroundings, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    both = [subprocess.Popen(command, text=True, **options) for _ in range(2)]  # type: ignore[call-overload]
    said = [process.communicate() for process in both]
    assert not list(elsewhere.iterdir())
    return clone, [process.returncode for process in both], said


# On one core: the three need one environment, which takes ten core seconds of pip's.
@pytest.mark.xdist_group("resumed")
def test_a_killed_run_that_makes_a_lost_python_anew_is_resumed_by_two_at_once(
    resumed: tuple[Path, list[int], Said],
) -> None:
    clone, codes, said = resumed
    assert codes == [0, 0], said
    assert said[0][0] == said[1][0]
    assert json.loads(said[0][0])["days"]
    assert sum("PyTorch" in err and "everything imports" in err for _, err in said) == 1
    assert sum("waiting for it" in err for _, err in said) == 1
    if not has_nvidia_gpu():
        assert re.search(r"torch==[\d.]+\+cpu\n", (clone / ".venv" / "setup.log").read_text())


@pytest.mark.xdist_group("resumed")
def test_a_clone_is_set_up_once_and_survives_a_move(
    resumed: tuple[Path, list[int], Said], wheelhouse: Path, tmp_path: Path
) -> None:
    clone = resumed[0]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    second = track(clone, "list", wheelhouse="/nowhere", cwd=elsewhere)
    assert second.returncode == 0
    assert second.stderr == ""

    moved = clone.rename(clone.with_name("moved"))
    third = track(moved, "list", wheelhouse="/nowhere", cwd=elsewhere)
    assert third.returncode == 0, third.stderr
    code = "from grader.course import catalog; print(catalog.ROOT)"
    found = [moved / ".venv" / "bin" / "python", "-Ic", code]
    assert subprocess.check_output(found, text=True).strip() == str(moved)
    assert str(moved) in (moved / ".venv" / "bin" / "activate").read_text()

    link = tmp_path / "link"
    link.symlink_to(moved / "track")
    fourth = subprocess.run([link, "status"], cwd=elsewhere, capture_output=True, text=True, check=False)
    assert fourth.returncode == 0
    assert fourth.stderr == ""
    assert f"Next: {link} start 1" in fourth.stdout
    found_by_name = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    answer = subprocess.check_output(["link", "status"], cwd=elsewhere, env=found_by_name, text=True)
    assert "Next: link start 1" in answer

    for words in (["dev"], ["dev", "--help"], ["dev", "test", "--help"]):
        assert "Usage: " in "".join(helped(moved, *words, cwd=tmp_path))
    assert not (moved / ".venv" / "readydev").exists()
    os.utime(moved / "pyproject.toml", (time.time() + 5, time.time() + 5))
    assert helped(moved, "grade", "--help", cwd=tmp_path)[0].startswith("Usage: ")
    pulled = track(moved, "list", wheelhouse=wheelhouse, cwd=elsewhere)
    assert "the course itself" in pulled.stderr

    assert track(moved, "start", "1", wheelhouse="/nowhere", cwd=moved).returncode == 0
    found = track(moved, "status", "--json", wheelhouse="/nowhere", cwd=elsewhere)
    assert json.loads(found.stdout)["workspace"] == str(moved / "my-track"), "from any folder"
    moved.rename(clone)


@pytest.mark.xdist_group("resumed")
def test_an_environment_that_does_not_import_is_built_anew(
    resumed: tuple[Path, list[int], Said], wheelhouse: Path, tmp_path: Path
) -> None:
    clone = resumed[0]
    site = next((clone / ".venv" / "lib").glob("python*/site-packages"))
    (site / "click").mkdir()
    (site / "click" / "__init__.py").write_text("from cut_off import")
    (clone / ".venv" / "ready").unlink()
    answer = track(clone, "list", wheelhouse=wheelhouse, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "Setting up" in answer.stderr


def test_what_cannot_be_fetched_is_one_line_and_a_log(tmp_path: Path) -> None:
    clone = environments.clone(tmp_path / "clone")
    answer = track(clone, "status", wheelhouse="/nowhere", cwd=tmp_path)
    assert answer.returncode == 3
    assert answer.stdout == ""
    assert "setup.log" in answer.stderr
    assert "Traceback" not in answer.stderr


def bare(folder: Path, **programs: str) -> dict[str, str]:
    """Surroundings whose path has these shell scripts, what the launcher needs of the system, and no more."""
    folder.mkdir()
    for name in ("uname", "readlink"):
        (folder / name).symlink_to(str(shutil.which(name)))
    for name, body in programs.items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    return {"PATH": str(folder)}


MISSING = {
    "no Python": ({}, "needs Python 3.10"),
    "an old Python": ({"python3": "[ $1 != --version ] && exit 10; echo Python 3.8.2"}, "Python 3.8.2"),
    "no venv": (
        {"python3": "case $2 in *print*) echo 3.12 ;; *) exit 11 ;; esac"},
        "sudo apt install python3.12-venv",
    ),
    "macOS": ({"uname": "echo Darwin"}, "no build for macOS"),
    "Windows": ({"uname": "echo MINGW64_NT-10.0"}, "wsl --install"),
    "another processor": ({"uname": "[ $1 = -s ] && echo Linux || echo riscv64"}, "riscv64"),
}


@pytest.mark.parametrize("case", MISSING)
def test_what_is_missing_is_said_kindly(case: str, tmp_path: Path) -> None:
    programs, expected = MISSING[case]
    clone = tmp_path / "clone"
    clone.mkdir()
    for name in ("track", "pyproject.toml"):
        shutil.copy(ROOT / name, clone / name)
    surroundings = bare(tmp_path / "bin", **programs)
    answer = subprocess.run([clone / "track"], env=surroundings, capture_output=True, text=True, check=False)
    assert answer.returncode == 3
    assert expected in answer.stderr
    assert answer.stderr.startswith("track: ")
    assert not (clone / ".venv").exists()


class Recorded(Steps):
    """Steps that succeed when their command has one of some words in it, and are noted."""

    def tries(self, title: str, command: Command) -> bool:
        words = [str(part) for part in command]
        tried.append(words)
        return bool(working.intersection(words))


tried: list[list[str]] = []
working: set[str] = set()
TORCH = next(pin for pin in PINS if pin.startswith("torch=="))
SOURCES = {
    "a GPU": (True, {TORCH}, [TORCH]),
    "a CPU build that pip finds": (False, {f"{TORCH}+cpu"}, [f"{TORCH}+cpu"]),
    "a CPU build that uv finds": (False, {"uv"}, [f"{TORCH}+cpu", "uv", TORCH]),
    "no CPU build": (False, {TORCH}, [f"{TORCH}+cpu", "uv", TORCH]),
}


@pytest.mark.parametrize("case", SOURCES)
def test_cuda_comes_only_with_a_gpu_or_when_there_is_nothing_else(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu, works, asked = SOURCES[case]
    monkeypatch.setattr(bootstrap_venv, "has_nvidia_gpu", lambda: gpu)
    monkeypatch.setattr(bootstrap_venv, "GIGABYTES", {"cpu": 0, "cuda": 0})
    tried.clear()
    working.clear()
    working.update(works)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "log").open("w") as log:
        bootstrap_venv._torch(bootstrap_venv.Clone(tmp_path), Recorded(log, 0))
    assert [words[-1] for words in tried] == asked
    assert ("--torch-backend" in tried[-1]) == (case == "a CPU build that uv finds")


def test_ci_runs_the_test_command_of_the_readme() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        'exec "$(dirname "$0")/../track" dev test'
    ]
    assert "./track dev test" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert os.access(ROOT / "track", os.X_OK)
