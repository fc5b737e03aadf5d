"""The environment of processes of ours: where they import from, and whether they evaluate kernels."""

from __future__ import annotations

import os
from importlib.util import cache_from_source, find_spec
from pathlib import Path

from grader import kernel
from grader.course.setup.nvidia import cache
from grader.request import Device

PACKAGE = Path(__file__).resolve().parents[2]


def environment(device: Device, gpu: str = "") -> dict[str, str]:
    """For a process that evaluates kernels (`cpu`) or runs them (`gpu`), and all that it forks.

    `gpu` is the only one that it sees, as CUDA_VISIBLE_DEVICES names it; where empty, those that we see.
    """
    found = dict(os.environ, PYTHONPATH=import_path())
    for name in ("TRITON_INTERPRET", "TRACK_EVALUATES"):
        found.pop(name, None)
    if not _keeps_bytecode():
        found.pop("PYTHONDONTWRITEBYTECODE", None)
        found["PYTHONPYCACHEPREFIX"] = str(bytecode())
    if gpu:
        found["CUDA_VISIBLE_DEVICES"] = gpu
    # Blocks are small: on two cores more threads cost a third of a product's time. NumPy multiplies them, and
    # beside a GPU too: who evaluates there is forked of who has it.
    found["OPENBLAS_NUM_THREADS"] = "1"
    if device == "cpu":
        found |= kernel.ENVIRONMENT | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return found


def _keeps_bytecode() -> bool:
    """Whether torch's sources and ours are compiled once, and not for each warm parent.

    Images of containers often have PYTHONDONTWRITEBYTECODE set, or are written by another user than who
    grades in them: in one, beside an H200, all imports took 6.1 s, of which compiling sources was 3.5.
    """
    torch = find_spec("torch")
    sources = [Path(origin) for origin in (torch and torch.origin, __file__) if origin]
    never = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    return all(
        Path(cache_from_source(str(source))).exists() or (os.access(source.parent, os.W_OK) and not never)
        for source in sources
    )


def bytecode() -> Path:
    """Where bytecode is kept that may not lie beside its source."""
    return cache() / "bytecode"


def first_gpu() -> str:
    """The GPU that torch takes here, as CUDA_VISIBLE_DEVICES names it."""
    return os.environ.get("CUDA_VISIBLE_DEVICES", "").partition(",")[0] or "0"


def import_path() -> str:
    """PYTHONPATH for a process that imports this package."""
    return os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get("PYTHONPATH", "")]))
