"""Runs a file as `python FILE` does, for `track python`: it can import from `mine`, and without a GPU
its kernels are evaluated.

python -m grader.cli.run_file FILE [ARGUMENTS …]
"""

from __future__ import annotations

import runpy
import sys
import traceback
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from grader import kernel
from grader.course.learner import earlier_kernels


def main() -> None:
    """Be that program: its arguments, its folder, its exit code; a traceback that begins in its file."""
    path = sys.argv[1]
    del sys.argv[0]
    sys.path[0] = str(Path(path).resolve().parent)
    sys.excepthook = lambda kind, error, trace: _told(path, error, trace)
    sys.modules[earlier_kernels.MODULE] = _mine(Path(path).resolve())
    if kernel.EVALUATES:
        from grader.kernel import autotuning, launch_hook
        from grader.performance.counting.fake_gpu import without_gpu

        without_gpu()
        launch_hook.install()
        autotuning.install()
    runpy.run_path(path, run_name="__main__")


def _mine(path: Path) -> ModuleType:
    """The module `mine`, which finds a function when it is asked for it, and says on stderr whose it is."""

    def bring(name: str) -> Any:
        from grader.runner import loading

        one = earlier_kernels.brought(name, path)
        if one is None:
            raise AttributeError(f"no earlier day asks for {name}")
        print(one.told, file=sys.stderr)
        sys.path.append(str(one.day.provided))
        function = getattr(
            loading.module(f"{earlier_kernels.MODULE}.{name}", one.path, one.source.encode()), name
        )
        setattr(whole, name, function)
        return function

    whole = ModuleType(earlier_kernels.MODULE)
    vars(whole)["__getattr__"] = bring
    return whole


def _told(path: str, error: BaseException, trace: TracebackType | None) -> None:
    if isinstance(error, KeyboardInterrupt):
        return print("Stopped.", file=sys.stderr)
    own = trace
    while own is not None and own.tb_frame.f_code.co_filename != path:
        own = own.tb_next
    traceback.print_exception(type(error), error, own or trace)


if __name__ == "__main__":
    main()
