"""What a warm parent imports for all its children."""

from __future__ import annotations

import gc
import importlib
from pathlib import Path

from grader.timing_spans import watch_compiler

RUNNING = (
    "torch",
    "torch._subclasses.schema_check_mode",
    "triton.language",
    "triton.compiler.code_generator",  # every launch asks for it
    "grader.runner.main",
    "grader.runner.metering",
)
JUDGING = ("grader.judge.main", "grader.judge.inspection.inspect", "grader.judge.checks.predicted_speed")
COMPILING = (
    "triton.language.extra.cuda",
    "triton.language.extra.libdevice",
    "triton.backends.nvidia.compiler",
    "triton.runtime.cache",
    "triton.tools.tensor_descriptor",
    "grader.kernel.launch",
    "grader.runner.compile_server",
)


def for_runners() -> None:
    """What runners need."""
    for module in RUNNING + COMPILING:
        importlib.import_module(module)
    watch_compiler()
    _name_triton_quickly()
    gc.freeze()  # children share these pages as long as no collection touches them


def for_judges() -> None:
    """What judges need beside that."""
    for module in JUDGING:
        importlib.import_module(module)
    gc.freeze()


def _name_triton_quickly() -> None:
    """Triton's cache names its version by a hash over 300 MB of itself, 1 s: size and date will do."""
    from triton import __file__ as home
    from triton import __version__
    from triton.runtime import cache

    library = next((Path(home).parent / "_C").glob("libtriton.*"), Path(home)).stat()
    name = f"triton-track-{__version__}-{library.st_size}-{library.st_mtime_ns}"
    cache.triton_key = lambda: name
