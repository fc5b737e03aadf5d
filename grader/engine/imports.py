"""What a warm parent imports for all its children."""

from __future__ import annotations

import gc
import importlib
import os
import sys

from grader.engine.sibling import name_triton_quickly
from grader.setup.doctor import PAIRS
from grader.spans import watch_compiler

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
RUNNING = (
    "torch",
    "torch._subclasses.schema_check_mode",
    "triton.language",
    "triton.compiler.code_generator",  # every launch asks for it
    "grader.runner.main",
    "grader.runner.metering",
    "grader.runner.scout",
    "grader.runner.awake",
)
JUDGING = (
    "pytest",
    "pytest_timeout",
    "grader.judge.main",
    "grader.judge.suite",
    "grader.interpreter.canaries",
    "grader.judge.look.inspect",
    "grader.judge.checks.predicted",
)
COMPILING = ("triton.backends.nvidia.compiler", "grader.runner.building")  # where kernels are compiled here


def for_runners() -> None:
    """What runners need.

    Raises:
        SystemExit: this version of Triton lacks a private name that we need.
    """
    if INTERPRETED:
        _has_what_we_hang_on()
    for module in RUNNING if INTERPRETED else RUNNING + COMPILING:
        importlib.import_module(module)
    watch_compiler()
    if INTERPRETED:
        from grader.interpreter import repairs

        repairs.install()
    else:
        name_triton_quickly()
    gc.freeze()  # children share these pages as long as no collection touches them


def for_judges() -> None:
    """What judges need beside that."""
    from _pytest.config import default_plugins

    for module in (*JUDGING, *(f"_pytest.{plugin}" for plugin in default_plugins)):
        importlib.import_module(module)
    gc.freeze()


def _has_what_we_hang_on() -> None:
    """Ends with one line where this version of Triton lacks a private name that we need."""
    import torch  # noqa: F401  # where both are missing, it is the one to be told of
    import triton

    from grader.interpreter import private

    lacking = private.missing()
    if lacking:
        first, *_, last = PAIRS
        needs = f"has no {lacking}, which the grader needs"
        sys.exit(f"Triton {triton.__version__} {needs}; use one of {first} to {last}.")
