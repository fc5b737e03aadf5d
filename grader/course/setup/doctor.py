"""`track doctor`: whether this machine can grade. A broken torch is a finding and no crash."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from grader.course.setup import torch_probe
from grader.course.setup.nvidia import gpus, has_nvidia_gpu
from grader.course.setup.torch_probe import PACKAGE
from grader.errors import pasted

# Which torch goes with which Triton; each torch wheel names its own.
PAIRS = {"3.6": ("2.10", "2.11"), "3.7": ("2.12", "2.13"), "3.8": ("2.14",), "3.9": ("2.15",)}

PIP = f"{pasted(sys.executable)} -m pip install"

# Enough for compiled kernels, the journal and the inputs of a grading.
FREE_GB = 1.0


@dataclass(frozen=True)
class Condition:
    """One line of `track doctor`.

    Attributes:
        ok: True when fine, False when it has to be mended, None when it is worth knowing.
        what: what was found.
        fix: what to type or change; empty when there is nothing to do.
    """

    ok: bool | None
    what: str
    fix: str = ""


def doctor() -> list[Condition]:
    """Everything that has to be right before a grading, most basic first. Takes seconds: it imports torch."""
    torch = torch_probe.torch() if _installed("torch") else {}
    findings = [Condition(True, f"Python {platform.python_version()}"), _platform(), _torch(torch), _triton()]
    findings += [*_pair(), _numpy(), _gpu(torch), *_compiler(), _disk()]
    return findings if any(finding.ok is False for finding in findings) else [*findings, *_evaluation()]


def unfit() -> Condition | None:
    """The first reason why nothing can be graded; of those that show without an import."""
    return next((finding for finding in (_torch({}), _triton()) if finding.ok is False), None)


def _platform() -> Condition:
    fix = "" if sys.platform == "linux" else "Triton is built for Linux: use WSL on Windows, or Colab."
    return Condition(not fix, f"{platform.system()} on {platform.machine()}", fix)


def _torch(torch: dict[str, Any]) -> Condition:
    version = _installed("torch")
    if version is None:
        return Condition(False, "torch is not installed", _reinstall())
    if "error" in torch:
        return Condition(False, f"torch {version} does not import: {torch['error']}", _reinstall())
    return Condition(True, f"torch {version}")


def _triton() -> Condition:
    version = _installed("triton")
    if version is None:
        return Condition(False, "triton is not installed", _reinstall())
    if _minor(version) not in PAIRS:
        first, *_, last = PAIRS
        return Condition(False, f"triton {version} is not supported, {first} to {last} are", _reinstall())
    return Condition(True, f"triton {version}")


def _pair() -> list[Condition]:
    """Torch and Triton are released together, and torch.compile breaks on a mixed pair."""
    torch, triton = _installed("torch"), _installed("triton")
    fitting = PAIRS.get(_minor(triton or ""))
    if torch is None or fitting is None or _minor(torch) in fitting:
        return []
    what = f"torch {torch} and triton {triton} are no pair"
    for own, torches in PAIRS.items():  # Triton is a tenth of torch's size
        if _minor(torch) in torches:
            return [
                Condition(False, f"{what}: that torch goes with triton {own}", f'{PIP} "triton=={own}.*"')
            ]
    told = f"{what}: that triton goes with {' or '.join(fitting)}"
    return [Condition(False, told, f'{PIP} "torch=={fitting[-1]}.*"')]


def _numpy() -> Condition:
    version = _installed("numpy")
    what = f"numpy {version}" if version else "numpy is not installed"
    return Condition(bool(version), what, "" if version else _reinstall())


def _gpu(torch: dict[str, Any]) -> Condition:
    found = gpus()
    if not found and not has_nvidia_gpu():
        return Condition(None, "no NVIDIA GPU: kernels run on the CPU; speed is predicted")
    if not found:
        return Condition(
            False, "there is a GPU, but nvidia-smi does not answer", "Install the NVIDIA driver."
        )
    names = ", ".join(f"{gpu.name} ({gpu.memory_bytes / 2**30:.0f} GB, driver {gpu.driver})" for gpu in found)
    if not torch or "error" in torch:
        return Condition(None, names)
    if torch["cuda"] is None:
        return Condition(False, f"{names}, but this torch is a CPU build", _reinstall())
    oldest = min((int(arch[3:]) for arch in torch["arches"] if arch[3:].isdigit()), default=0)
    if found[0].capability < (oldest // 10, oldest % 10):
        what = f"{names} is older than this torch supports (sm_{oldest})"
        return Condition(False, what, "track grade --cpu grades without it.")
    if not torch["available"]:
        what = f"{names}, but torch cannot use it: {torch.get('reason') or 'no reason given'}"
        fix = "Free it, update the NVIDIA driver, or install a torch built for an older CUDA."
        return Condition(False, what, fix)
    return Condition(True, f"{names}: torch computes on it")


def _compiler() -> list[Condition]:
    """Triton compiles its launcher with the system's C compiler and Python's header, on a GPU only."""
    if not has_nvidia_gpu():
        return []
    findings = []
    if not any(shutil.which(name) for name in (os.environ.get("CC", ""), "gcc", "clang", "cc") if name):
        what = "there is no C compiler, and Triton needs one on a GPU"
        findings.append(Condition(False, what, "sudo apt install gcc"))
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        install = "sudo apt install python{}.{}-dev".format(*sys.version_info)
        findings.append(Condition(False, "Python.h is missing, and Triton needs it on a GPU", install))
    return findings


def _disk() -> Condition:
    free = shutil.disk_usage(tempfile.gettempdir()).free / 1e9
    fix = "" if free >= FREE_GB else f"Free {FREE_GB:.0f} GB, or set TMPDIR."
    return Condition(not fix, f"{free:.1f} GB free in {tempfile.gettempdir()}", fix)


def _evaluation() -> list[Condition]:
    """Whether a kernel is compiled and gives the right sums with these versions, without a GPU."""
    answer = torch_probe.evaluated()
    if isinstance(answer, dict):
        return [Condition(False, f"Kernels do not run without a GPU: {answer['error']}", _reinstall())]
    if not answer:
        return [Condition(False, "Kernels give wrong results without a GPU", _reinstall())]
    return [Condition(True, "Kernels run without a GPU, too")]


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _reinstall() -> str:
    """How to get the tested versions: the launcher installs them in a clone, pip elsewhere."""
    venv = PACKAGE / ".venv"
    if Path(sys.prefix).resolve() == venv:
        return f"rm -r {pasted(venv)} && {pasted(PACKAGE / 'track')} doctor"
    if (PACKAGE / "pyproject.toml").is_file():
        return f"{PIP} -e {pasted(f'{PACKAGE}[pinned]')}"
    needs = metadata.requires("triton-track") or ()
    pins = [need.partition(";")[0].strip() for need in needs if "pinned" in need]
    wanted = " ".join(f'"{pin}"' for pin in pins if pin.startswith(("torch=", "triton=")))
    return f"{PIP} {wanted}"


def extra(name: str) -> str:
    """How to get what an extra of pyproject.toml names. The course itself is on no index, its parts are."""
    if (PACKAGE / "pyproject.toml").is_file():
        return f"{PIP} -e {pasted(f'{PACKAGE}[{name}]')}"
    needs = [need.split(";") for need in metadata.requires("triton-track") or () if ";" in need]
    asked = re.compile(f"extra == ['\"]{name}['\"]")
    return " ".join([PIP, *(pasted(need.strip()) for need, marker in needs if asked.search(marker))])


def _version(text: str) -> tuple[int, int]:
    """(3, 7) for "3.7.1" and "3.7rc1"; (0, 0) for what is no version."""
    match = re.match(r"(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _minor(text: str) -> str:
    return "{}.{}".format(*_version(text))
