"""A wheel of the course works outside of the clone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from trove_classifiers import classifiers as known

from grader import __version__
from grader.course import catalog
from grader.course.setup.bootstrap_venv import Clone
from grader.course.setup.doctor import PAIRS
from tests import environments

pytestmark = pytest.mark.xdist_group("packaging")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = environments.clone(tmp_path_factory.mktemp("source") / "clone")
    target = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", target, source], check=True, env=environments.plain())
    return next(target.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment that has the wheel."""
    return environments.venv(tmp_path_factory.mktemp("outside") / "venv", wheel=wheel).parent


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    surroundings = environments.plain(HOME=str(cwd))
    return subprocess.run(command, cwd=cwd, env=surroundings, capture_output=True, text=True, check=False)


def test_the_wheel_carries_every_day_and_nothing_of_the_workshop(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for day in catalog.course():
        for path in (day.lesson, *day.folder.glob("*.py"), day.solution, day.hints):
            assert f"grader/_content/{path.relative_to(catalog.ROOT)}" in names
    roots = {name.split("/")[0] for name in names}
    assert roots == {"grader", f"triton_track-{__version__}.dist-info"}
    assert not [name for name in names if name.endswith(".pyc")]


def test_the_wheel_says_whose_it_is_and_carries_its_licence(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    info = f"triton_track-{__version__}.dist-info"
    metadata = message_from_string(archive.read(f"{info}/METADATA").decode())
    said = {name: metadata.get_all(name) for name in ("License-Expression", "License-File", "Author")}
    assert said == {
        "License-Expression": ["MIT"],
        "License-File": ["LICENSE"],
        "Author": ["The Triton Track authors"],
    }
    assert archive.read(f"{info}/licenses/LICENSE") == (catalog.ROOT / "LICENSE").read_bytes()
    classifiers = metadata.get_all("Classifier") or []
    assert set(classifiers) <= set(known), "PyPI knows no such classifier"
    assert "Environment :: GPU :: NVIDIA CUDA" in classifiers
    launcher = (catalog.ROOT / "track").read_text(encoding="utf-8")
    ours = {name.rpartition(" ")[2] for name in classifiers if "Python :: 3." in name}
    assert ours == set(re.findall(r"python(3\.\d+)\b", launcher)), "the versions that ./track looks for"
    assert metadata["Keywords"]
    assert metadata["Description-Content-Type"] == "text/markdown"


def test_a_source_archive_is_a_clone_that_can_be_worked_in(tmp_path: Path) -> None:
    clone = environments.clone(tmp_path / "clone")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=clone, check=True, capture_output=True, env=environments.plain())
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = {path.name for path in clone.iterdir()} - {name.partition("/")[0] for name in names}
    assert missing <= {".gitignore"}, "an entry is missing in [tool.hatch.build.targets.sdist]"


def test_the_changelog_tells_of_this_version() -> None:
    text = (catalog.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\S+)", text, re.MULTILINE)
    assert headings[:2] == ["Unreleased", __version__]


def test_status_works_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    answer = run(installed / "track", "status", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert f"0 of {len(catalog.days())} days" in answer.stdout
    assert not list(tmp_path.iterdir())


def test_a_file_is_graded_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    solution = catalog.find("1").solution
    command = [installed / "track", "grade", "1", "--file", solution, "--json", "--cpu"]
    answer = run(*command, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["status"] == "passed"
    # The folder is also $HOME, where Triton keeps what it compiled.
    assert [path.name for path in tmp_path.iterdir()] == [".triton"]


def test_the_course_in_use_is_the_one_in_the_wheel(installed: Path, tmp_path: Path) -> None:
    code = "from grader.course import catalog; print(catalog.ROOT)"
    answer = run(installed / "python", "-c", code, cwd=tmp_path)
    content = next(installed.parent.glob("lib/python*/site-packages/grader/_content"))
    assert Path(answer.stdout.strip()) == content
    told = run(installed / "track", "--version", cwd=tmp_path).stdout
    assert told == f"track, version {__version__}, from {content.parents[1]}\n"


IN_A_NOTEBOOK = """
import nbclient, nbformat, sys
made = nbformat.read("day01_hello_triton.ipynb", as_version=4)
first = next(cell for cell in made.cells if cell.cell_type == "code")
made.cells = [first, nbformat.v4.new_code_cell("%%grade 1 --cpu\\n" + open(sys.argv[1]).read())]
nbclient.NotebookClient(made, timeout=150, kernel_name="python3").execute()
print("".join(one.get("text", "") for one in made.cells[-1].outputs))
"""


def test_a_notebook_of_an_empty_folder_is_the_same_course(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("nbclient")
    assert run(installed / "track", "notebook", "1", cwd=tmp_path).returncode == 0
    solution = catalog.find("1").solution
    answer = run(installed / "python", "-c", IN_A_NOTEBOOK, solution, cwd=tmp_path)
    assert "Passed. The day is done on CPU." in answer.stdout, answer.stderr
    assert (
        tmp_path / "my-track" / "day01_hello_triton" / "kernel.py"
    ).read_text() == "\n" + solution.read_text()
    told = run(installed / "track", "status", cwd=tmp_path).stdout
    assert f"1 of {len(catalog.days())} days done" in told


def test_development_commands_say_that_they_need_a_clone(installed: Path, tmp_path: Path) -> None:
    answer = run(installed / "track", "dev", "test", cwd=tmp_path)
    assert answer.returncode == 3
    assert "./track dev test" in answer.stderr


def test_the_package_runs_from_a_clone_without_installing(tmp_path: Path) -> None:
    clone = environments.clone(tmp_path / "clone")
    python = environments.venv(tmp_path / "venv")
    answer = run(python, "-m", "grader", "list", cwd=clone)
    assert answer.returncode == 0, answer.stderr
    assert "fused_softmax" in answer.stdout


def test_an_editable_install_uses_the_clone_itself(tmp_path: Path) -> None:
    clone = environments.clone(tmp_path / "clone")
    python = environments.venv(tmp_path / "venv")
    environments.install(python, "--editable", clone)
    answer = run(python, "-c", "from grader.course import catalog; print(catalog.ROOT)", cwd=tmp_path)
    assert Path(answer.stdout.strip()) == clone, answer.stderr
    told = run(python.with_name("track"), "--version", cwd=tmp_path).stdout
    assert told == f"track, version {__version__}, from {clone}\n"


def test_what_may_be_installed_is_what_doctor_knows(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    metadata = next(name for name in archive.namelist() if name.endswith("METADATA"))
    fields = message_from_string(archive.read(metadata).decode()).get_all("Requires-Dist") or []
    always = [need for need in map(Requirement, fields) if "extra" not in str(need.marker)]
    needs = {need.name: need.specifier for need in always}
    for triton, torches in PAIRS.items():
        assert f"{triton}.1" in needs["triton"]
        assert all(f"{torch}.0" in needs["torch"] for torch in torches)
    older, newer = next(iter(PAIRS)), list(PAIRS)[-1]
    for outside in (previous(older), following(newer)):
        assert outside not in needs["triton"]
    for outside in (previous(PAIRS[older][0]), following(PAIRS[newer][-1])):
        assert outside not in needs["torch"]


def test_the_pinned_versions_are_a_pair() -> None:
    pins = [Requirement(pin) for pin in Clone(catalog.ROOT).pins("pinned")]
    versions = {pin.name: re.sub("^==", "", str(pin.specifier)) for pin in pins}
    triton, torch = (versions[name].rpartition(".")[0] for name in ("triton", "torch"))
    assert torch in PAIRS[triton]


@pytest.mark.parametrize("extra", ["pinned", "dev"])
def test_each_pin_is_installed_whatever_is_written_behind_it(extra: str) -> None:
    text = (catalog.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = text.partition(f"\n{extra} = [\n")[2].partition("\n]")[0]
    written = [line.split('"')[1] for line in block.splitlines() if line.startswith('    "')]
    assert written
    assert Clone(catalog.ROOT).pins(extra) == written


def previous(version: str) -> str:
    major, minor = map(int, version.split("."))
    return f"{major}.{minor - 1}.9"


def following(version: str) -> str:
    major, minor = map(int, version.split("."))
    return f"{major}.{minor + 1}.0"
