"""Runs a file as `python FILE` does, its kernels in the repaired interpreter: for `track python`.

python -m grader.interpreter.script FILE [ARGUMENTS …]
"""

from __future__ import annotations

import runpy
import sys
import traceback
from pathlib import Path
from types import TracebackType

from grader.interpreter import repairs


def main() -> None:
    """Be that program: its arguments, its folder, its exit code; a traceback that begins in its file."""
    path = sys.argv[1]
    del sys.argv[0]
    sys.path[0] = str(Path(path).resolve().parent)
    sys.excepthook = lambda kind, error, trace: _told(path, error, trace)
    repairs.install()
    runpy.run_path(path, run_name="__main__")


def _told(path: str, error: BaseException, trace: TracebackType | None) -> None:
    own = trace
    while own is not None and own.tb_frame.f_code.co_filename != path:
        own = own.tb_next
    traceback.print_exception(type(error), error, own or trace)


if __name__ == "__main__":
    main()
