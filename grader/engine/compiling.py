"""The warm parent of builders: torch and Triton imported once, without TRITON_INTERPRET.

It forks a builder for every message on its socket, and ends when that closes.
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

# What the first compilation would import.
MODULES = (
    "torch",
    "triton.language.extra.cuda",
    "triton.compiler.code_generator",
    "triton.backends.nvidia.compiler",
    "triton.runtime.cache",
    "triton.tools.tensor_descriptor",
)
BUILDER = "grader.runner.building"


def main() -> None:
    """Import what every builder needs, then serve."""
    for module in (*MODULES, BUILDER):
        importlib.import_module(module)
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
        hand_over(control, *fork_runner(BUILDER))


def name_triton_quickly() -> None:
    """Triton's cache names its version by a hash over 300 MB of itself, 1 s: size and date will do."""
    from triton import __file__ as home
    from triton import __version__
    from triton.runtime import cache

    library = next((Path(home).parent / "_C").glob("libtriton.*"), Path(home)).stat()
    name = f"triton-track-{__version__}-{library.st_size}-{library.st_mtime_ns}"
    cache.triton_key = lambda: name


def _reap() -> bool:
    """Collect one builder that is done."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


if __name__ == "__main__":
    main()
