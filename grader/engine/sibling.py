"""The second warm parent: of builders beside one that interprets, of interpreters beside one that compiles.

Triton reads TRITON_INTERPRET as it is imported, so that no process does both. This one is started by the
first one, or forked from it before it imports Triton: what takes longest is torch, and that both have then.
It forks a child for every message on its socket, and ends when that closes.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import socket
import subprocess
import sys
from pathlib import Path

from grader.engine.forking import become, fork_runner, hand_over, run
from grader.engine.surroundings import environment
from grader.request import Device
from grader.wire import Channel, Closed

NAME = "track-sibling"  # of the process, as /proc/PID/comm has it

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


def start(theirs: socket.socket, device: Device) -> int:
    """One that imports all for itself; its pid. `cpu` interprets kernels, `gpu` compiles them."""
    process = subprocess.Popen(
        [sys.executable, "-m", "grader.engine.sibling", str(theirs.fileno())],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # what keeps it from its imports keeps its parent from them, who says it
        env=environment(device),
        pass_fds=[theirs.fileno()],
    )
    process.returncode = 0  # for subprocess; forking.py collects it with all others
    return process.pid


def fork(theirs: socket.socket, device: Device) -> int:
    """One that has imported what this process has, torch but not Triton; its pid."""
    pid = os.fork()
    if pid == 0:
        around = environment(device)
        os.environ.clear()
        os.environ.update(around)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        become({theirs.fileno()})
        run(lambda: serve(theirs))
    return pid


def serve(asked: socket.socket) -> None:
    """Import what every child needs, then fork one for each message."""
    ctypes.CDLL(None).prctl(15, NAME.encode())  # PR_SET_NAME
    interprets = os.environ.get("TRITON_INTERPRET") == "1"
    for module in INTERPRETING if interprets else COMPILING:
        importlib.import_module(module)
    if interprets:
        from grader.interpreter import repairs

        repairs.install()
    else:
        name_triton_quickly()
    gc.freeze()
    control = Channel(asked)
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
    serve(socket.socket(fileno=int(sys.argv[1])))
