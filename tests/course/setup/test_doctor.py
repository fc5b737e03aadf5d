"""`track doctor` says what is wrong with a machine and how to mend it, whatever is missing."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course import catalog
from grader.course.setup import doctor, nvidia
from tests import environments

pytestmark = pytest.mark.xdist_group("doctor")

H200 = "NVIDIA H200, GPU-1b2c, 9.0, 143771, 580.65.06"


@pytest.fixture(scope="module")
def heavyless(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An environment's Python and its packages: all of ours but torch, triton and numpy."""
    folder = tmp_path_factory.mktemp("heavyless")
    site = environments.farm(folder / "site", ("torch", "functorch", "triton", "numpy"))
    return environments.venv(folder / "venv", site), site


def track(python: Path, *words: str, cwd: Path, **surroundings: str) -> subprocess.CompletedProcess[str]:
    around = environments.plain(PYTHONPATH=str(catalog.ROOT), HOME=str(cwd), **surroundings)
    return subprocess.run(
        [python, "-m", "grader", *words], cwd=cwd, env=around, capture_output=True, text=True, check=False
    )


def diagnose(python: Path, cwd: Path, **surroundings: str) -> dict[str, str]:
    """What is wrong, each with its fix."""
    answer = track(python, "doctor", "--json", cwd=cwd, **surroundings)
    assert answer.stderr == ""
    findings = json.loads(answer.stdout)["findings"]
    wrong = {one["what"]: one["fix"] for one in findings if one["ok"] is False}
    assert answer.returncode == (3 if wrong else 0)
    return wrong


def test_a_machine_that_runs_these_tests_is_healthy() -> None:
    assert [finding for finding in doctor.doctor() if finding.ok is False] == []


def test_without_torch_doctor_names_each_missing_package_and_a_fix(
    heavyless: tuple[Path, Path], tmp_path: Path
) -> None:
    wrong = diagnose(heavyless[0], tmp_path)
    missing = ("torch is not installed", "triton is not installed", "numpy is not installed")
    assert set(missing) <= set(wrong)
    assert all("pip install" in wrong[what] for what in missing)


def test_an_extra_is_installed_by_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip = f"{shlex.quote(sys.executable)} -m pip install"
    assert doctor.extra("notebook") == f"{pip} -e {shlex.quote(f'{doctor.PACKAGE}[notebook]')}"
    monkeypatch.setattr(doctor, "PACKAGE", tmp_path)
    needs = ["torch>=2", 'nbformat>=5.10; extra == "notebook"', "ray==2.60.*; extra == 'cohort'"]
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: needs)
    assert doctor.extra("notebook") == f"{pip} 'nbformat>=5.10'"


def test_without_torch_status_works_and_grade_says_what_to_install(
    heavyless: tuple[Path, Path], tmp_path: Path
) -> None:
    assert track(heavyless[0], "status", cwd=tmp_path).returncode == 0
    graded = track(heavyless[0], "grade", "1", "--file", str(catalog.find("1").solution), cwd=tmp_path)
    assert graded.returncode == 3
    assert "Nothing can be graded here: torch is not installed." in graded.stderr
    assert "pip install" in graded.stderr
    assert "Traceback" not in graded.stderr


# What is installed, as (torch, triton), and what doctor must find in it.
VERSIONS = {
    "a triton before ours": (("2.9.0", "3.5.0"), "triton 3.5.0 is not supported, 3.6 to 3.9 are"),
    "a triton after ours": (("2.16.0", "3.10.0"), "triton 3.10.0 is not supported, 3.6 to 3.9 are"),
    "no pair": (
        ("2.10.0", "3.7.1"),
        "torch 2.10.0 and triton 3.7.1 are no pair: that torch goes with triton 3.6",
    ),
    "the oldest pair": (("2.10.0", "3.6.0"), ""),
    "the newest pair": (("2.15.0+cpu", "3.9.0"), ""),
}
TORCH = """
class version: cuda = None
class cuda:
    is_available = staticmethod(lambda: False)
    get_arch_list = staticmethod(lambda: [])
"""


@pytest.mark.parametrize("case", VERSIONS)
def test_versions_that_do_not_go_together_are_named(
    case: str, heavyless: tuple[Path, Path], tmp_path: Path
) -> None:
    (torch, triton), expected = VERSIONS[case]
    site = tmp_path / "site"
    site.mkdir()
    environments.pretend(site, "torch", torch, TORCH)
    environments.pretend(site, "triton", triton)
    wrong = diagnose_in(site, heavyless[0], tmp_path)
    found = [what for what in wrong if what.startswith(("torch", "triton"))]
    assert len(found) == bool(expected), found
    assert all(what.startswith(expected) and wrong[what] for what in found)


def diagnose_in(site: Path, python: Path, cwd: Path, **surroundings: str) -> dict[str, str]:
    code = """import dataclasses, json
from grader.course.setup import doctor
print(json.dumps([dataclasses.asdict(finding) for finding in doctor.doctor()]))"""
    around = environments.plain(PYTHONPATH=f"{catalog.ROOT}:{site}", HOME=str(cwd), **surroundings)
    findings = json.loads(subprocess.check_output([python, "-c", code], cwd=cwd, env=around, text=True))
    return {one["what"]: one["fix"] for one in findings if one["ok"] is False}


def test_a_torch_that_does_not_import_is_a_finding(heavyless: tuple[Path, Path], tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    environments.pretend(
        site, "torch", "2.13.0", "raise ImportError('libcudart.so.13: cannot open shared object')"
    )
    wrong = diagnose_in(site, heavyless[0], tmp_path)
    assert any(what.startswith("torch 2.13.0 does not import: ImportError: libcudart") for what in wrong)


def smi(folder: Path, listing: str) -> str:
    """A path on which nvidia-smi gives this listing."""
    folder.mkdir()
    script = folder / "nvidia-smi"
    script.write_text(f'#!/bin/sh\n[ "$1" = -L ] && echo "GPU 0: it" || echo "{listing}"\n')
    script.chmod(0o755)
    return f"{folder}:{environments.plain()['PATH']}"


def test_the_driver_tells_what_gpu_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", smi(tmp_path / "bin", H200))
    assert nvidia.has_nvidia_gpu()
    assert nvidia.gpus() == (
        nvidia.InstalledGpu("NVIDIA H200", "GPU-1b2c", (9, 0), 143771 << 20, "580.65.06"),
    )


@pytest.mark.parametrize("listing", ["", "No devices were found", "NVIDIA H200, GPU-1b2c, [N/A], [N/A], 580"])
def test_a_driver_that_says_nothing_useful_is_no_crash(
    listing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", smi(tmp_path / "bin", listing))
    assert nvidia.gpus() == ()


@pytest.mark.skipif(nvidia.has_nvidia_gpu(), reason="its torch can use the GPU")
def test_a_gpu_that_a_cpu_build_cannot_use_is_named(heavyless: tuple[Path, Path], tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    environments.pretend(site, "torch", "2.13.0+cpu", TORCH)
    wrong = diagnose_in(site, heavyless[0], tmp_path, PATH=smi(tmp_path / "bin", H200))
    assert "NVIDIA H200 (140 GB, driver 580.65.06), but this torch is a CPU build" in wrong


def test_a_machine_without_compiler_is_told_where_triton_needs_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "has_nvidia_gpu", lambda: True)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "sudo apt install gcc" in [finding.fix for finding in doctor._compiler()]
    monkeypatch.setattr(doctor, "has_nvidia_gpu", lambda: False)
    assert doctor._compiler() == []


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        doctor.shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**12, 10**12, 10**8)
    )
    assert doctor._disk().ok is False
