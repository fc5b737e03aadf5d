"""Compiles, for several days at once, what `track dev measured` then times one by one.

python -m tools.precompile DAY      the kernels of one day, each called once; their caches keep them
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from grader.course import catalog
from grader.course.catalog import Day
from grader.grading.grade import choose_device
from tools.measure import planted_files


def ahead(days: Sequence[Day], jobs: int) -> None:
    """Compile for so many days at once; what cannot be compiled is told when it is timed.

    Raises:
        CannotGrade: there is no GPU.
    """
    choose_device("gpu")
    environment = os.environ | {"TORCHINDUCTOR_COMPILE_THREADS": "1"}

    def compile_one(day: Day) -> None:
        command = [sys.executable, "-m", "tools.precompile", str(day.key)]
        silent = subprocess.DEVNULL
        subprocess.run(command, cwd=catalog.ROOT, env=environment, stdout=silent, stderr=silent, check=False)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(compile_one, days))


def main(day: Day) -> None:
    """Call every kernel of a day once on each of its bars, and torch's."""
    import torch

    from grader.cli.benchmark import contenders
    from grader.cli.benchmark.interleaved_timing import Turns
    from grader.cli.benchmark.main import stops
    from grader.cli.benchmark.sweep import OWN, Wanted
    from grader.performance.timing.stopwatch import own_stream

    with tempfile.TemporaryDirectory() as folder, own_stream():
        given = contenders.files(day, planted_files(day, Path(folder)))
        for stop in stops(day, Wanted(OWN, every=False)):
            turns = Turns(stop.challenge, stop.speed, stop.case, lambda name: None)
            for one in contenders.contenders(day, stop.challenge, stop.speed, given):
                with suppress(Exception):
                    turns.once(one)
                torch.cuda.empty_cache()
            del turns


if __name__ == "__main__":
    main(catalog.find(sys.argv[1]))
