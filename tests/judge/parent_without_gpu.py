"""A process of its own for test_compile_ahead.py: compiles the kernels of a file ahead for an H200 that is
not there, then does what a runner would, and prints how many kernels Triton's cache holds after each.

    python -m tests.judge.parent_without_gpu HIDDEN_TESTS KERNEL PROVIDED CACHE CORES
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from triton.runtime.jit import JITFunction

from grader.challenge.harness.trial import draw
from grader.datasheets import GPUS
from grader.grading.warm_parent import Parent
from grader.judge import compile_ahead
from grader.judge.session import Session
from grader.performance.counting.fake_gpu import pretended
from grader.request import CACHE, Request
from grader.runner import loading
from grader.runner.device_functions import PROBES
from grader.runner_answers import Loaded
from grader.wire import Channel, Closed

H200 = SimpleNamespace(
    major=9,
    minor=0,
    name="NVIDIA H200",
    multi_processor_count=132,
    L2_cache_size=50 << 20,
    shared_memory_per_block_optin=232448,
    shared_memory_per_multiprocessor=233472,
    max_threads_per_multi_processor=2048,
    total_memory=141 << 30,
)


def parent() -> Channel:
    """The judge's channel to a process that forks scouts and builders."""
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        serving = Parent(socket.socketpair()[0])
        judge = Channel(theirs)
        serving.judges[judge] = []
        try:
            while True:
                serving._answer(judge)
        except Closed:
            serving._bury(judge)
            os._exit(0)
    theirs.close()
    return Channel(ours)


def launched(session: Session, provided: str) -> None:
    """What a runner compiles: all launches of all cases, one after the other."""
    module = loading.load(str(session.request.path), session.request.source, provided)
    stock = JITFunction.run

    def run(kernel: Any, *args: Any, grid: Any, warmup: bool = False, **options: Any) -> Any:
        return stock(kernel, *args, grid=grid, warmup=True, **options)

    with mock.patch.object(JITFunction, "run", run), pretended(GPUS["h200"]):
        for challenge, case in session.asked.cases("correct") + session.asked.cases("edges"):
            arguments = draw(challenge, case, session.request.seed, "cpu")
            entry = getattr(module, challenge.entry)
            (PROBES[challenge.probe](entry) if challenge.probe else entry)(*arguments)


def main() -> None:
    """Prints the kernels in the cache: compiled ahead, after the runner; and the recipes there were."""
    hidden, kernel, provided, cache = map(Path, sys.argv[1:5])
    cores = range(int(sys.argv[5]))
    scratch = str(cache.parent) if cache.name == CACHE else ""  # then it is confined code that compiles
    request = Request("grade", hidden, kernel, provided, kernel.read_bytes(), "gpu", 7, 60.0, scratch=scratch)
    session = Session(request, parent())
    session.names = {challenge.entry: ["x"] for challenge in session.challenges}
    session.gpu.set_result(H200)
    assert isinstance(session.load(session.fresh_runner()), Loaded), "a GPU that does not wake stops nobody"
    with mock.patch.object(os, "sched_getaffinity", return_value=cores):
        begun = compile_ahead.begin(session)
    assert begun is not None
    begun.finish()
    counts = [len(begun.compiled), len(list(cache.glob("*/*.cubin")))]
    launched(session, str(provided))
    print(json.dumps([*counts, len(list(cache.glob("*/*.cubin")))]))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
