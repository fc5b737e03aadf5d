"""The NVIDIA GPUs of this machine, as the driver tells them."""

from __future__ import annotations

import glob
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

# WSL keeps nvidia-smi off the path of some shells.
SMI = ("nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi")


@dataclass(frozen=True)
class InstalledGpu:
    """A GPU as the driver sees it. `capability` is (9, 0) for an H200."""

    name: str
    uuid: str
    capability: tuple[int, int]
    memory_bytes: int
    driver: str


def has_nvidia_gpu() -> bool:
    """Whether there is one, seen by the driver's tool or by its device files."""
    return "GPU" in _smi("-L") or bool(glob.glob("/dev/nvidia*"))


def gpus() -> tuple[InstalledGpu, ...]:
    """The GPUs that nvidia-smi lists, in its order."""
    fields = "name,uuid,compute_cap,memory.total,driver_version"
    listing = _smi(f"--query-gpu={fields}", "--format=csv,noheader,nounits")
    rows = [[cell.strip() for cell in line.split(",")] for line in listing.splitlines()]
    return tuple(
        InstalledGpu(name, uuid, (int(capability[:-2]), int(capability[-1:])), int(memory) << 20, driver)
        for name, uuid, capability, memory, driver in (row for row in rows if len(row) == 5)
        if memory.isdigit() and capability.replace(".", "").isdigit()
    )


def clocks(index: int) -> tuple[int, int, float, str]:
    """Of the GPU that torch has under this number: the clock of its multiprocessors now and at most, MHz, the
    power that it may take, W, and the driver's version; 0 where the driver does not say.
    """
    import torch

    uuid = f"GPU-{torch.cuda.get_device_properties(index).uuid}"
    fields = "clocks.sm,clocks.max.sm,power.limit,driver_version"
    answer = _smi(f"--query-gpu={fields}", "--format=csv,noheader,nounits", f"--id={uuid}")
    now, most, watts, driver, *_ = [*(cell.strip() for cell in answer.split(",")), "", "", "", ""]
    return _number(now), _number(most), float(_number(watts)), driver


def _number(cell: str) -> int:
    """A number of nvidia-smi; `[N/A]` is none."""
    whole = cell.partition(".")[0]
    return int(whole) if whole.isdigit() else 0


def cache() -> Path:
    """Where the course keeps for this user what can be made again."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "triton-track"


def _smi(*arguments: str) -> str:
    for tool in SMI:
        try:
            command = [tool, *arguments]
            answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if answer.returncode == 0:
            return answer.stdout
    return ""
