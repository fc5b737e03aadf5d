"""The second warm parent: of builders beside one that interprets, of interpreters beside one that compiles.

Triton reads TRITON_INTERPRET as it is imported, so that no process does both. This one is started by the
first one. It forks a child for every message on its socket, and ends when that closes.
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
import sys
from pathlib import Path

from grader.engine.forking import fork_runner, hand_over
from grader.wire import Channel, Closed

BUILDER, INTERPRETER = "grader.runner.building", "grader.runner.main"
# What the first compilation would import, and what a learner's file and a walk would.
COMPILING = (
    "torch",
    "triton.language.extra.cuda",
    "triton.compiler.code_generator",
    "triton.backends.nvidia.compiler",
    "triton.runtime.cache",
    "triton.tools.tensor_descriptor",
    BUILDER,
)
INTERPRETING = (
    "torch",
    "torch._subclasses.schema_check_mode",
    "triton.language",
    "triton.compiler.code_generator",
    "grader.runner.metering",
    INTERPRETER,
)


def main() -> None:
    """Import what every child needs, then serve."""
    interprets = os.environ.get("TRITON_INTERPRET") == "1"
    for module in INTERPRETING if interprets else COMPILING:
        importlib.import_module(module)
    if interprets:
        from grader.interpreter import repairs

        repairs.install()
    else:
        name_triton_quickly()
    gc.freeze()
    control = Channel(socket.socket(fileno=int(sys.argv[1])))
    while True:
        try:
            control.receive()
        except Closed:
            return
        while _reap():
            pass
        hand_over(control, *fork_runner(INTERPRETER if interprets else BUILDER))


def name_triton_quickly() -> None:
    """Triton's cache names its version by a hash over 300 MB of itself, 1 s: size and date will do."""
    from triton import __file__ as home
    from triton import __version__
    from triton.runtime import cache

    library = next((Path(home).parent / "_C").glob("libtriton.*"), Path(home)).stat()
    name = f"triton-track-{__version__}-{library.st_size}-{library.st_mtime_ns}"
    cache.triton_key = lambda: name


def _reap() -> bool:
    """Collect one child that is done."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


if __name__ == "__main__":
    main()
