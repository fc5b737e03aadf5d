"""The door for Python: `from grader import grade, Pool, Verdict`. These names, their arguments and the fields
of a Verdict stay as they are within a major version.

    verdict = grade(13, "import torch\\n…", device="cpu")
    verdict.status, verdict.score(), verdict.diagnosis

    async with Pool(workers=4, device="cpu") as pool:
        verdicts = await asyncio.gather(*(pool.grade(13, source) for source in candidates))
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Literal

from grader.course import catalog
from grader.course.catalog import Day, Key
from grader.grading import grade as engine
from grader.grading.warm_client import Warm
from grader.verdict import Verdict

__all__ = ["Pool", "Verdict", "grade"]

Where = Literal["auto", "cpu", "gpu"]
Source = str | bytes | Path


def grade(
    day: Key | Day,
    source: Source,
    *,
    device: Where = "auto",
    seed: int | None = None,
    strict: bool = False,
    speed: bool = True,
) -> Verdict:
    """Grade one kernel file on one day. It takes seconds, most of them imports: a Pool pays these once.

    Args:
        day: 13, "softmax" or "rope"; whatever `track grade` answers to.
        source: the file's text or bytes, or the path of a file. Only of a path can `from mine import …` find
            kernels of the same learner.
        device: `cpu` evaluates, `gpu` compiles and times; `auto` takes a GPU if there is one.
        seed: draws the same inputs again; fresh ones when None.
        strict: confine the file's code as far as the machine allows; the verdict says how far. For code that
            nobody has read.
        speed: measure or predict it.

    Raises:
        UnknownDay: no day answers to it.
        BadSubmission: the path cannot be read.
        CannotGrade: no verdict can be given here; the fault is never the file's.
    """
    return graded(day, source, None, device=device, seed=seed, strict=strict, speed=speed)


def graded(
    day: Key | Day,
    source: Source,
    warm: Warm | None,
    *,
    device: Where = "auto",
    seed: int | None = None,
    strict: bool = False,
    speed: bool = True,
    private: Sequence[str] = (),
) -> Verdict:
    """`grade` by a warm parent, where there is one; confined code may not read what is `private` either."""
    found = day if isinstance(day, Day) else catalog.find(str(day))
    options: dict[str, Any] = {"device": device, "seed": seed, "warm": warm, "strict": strict, "speed": speed}
    try:
        if isinstance(source, Path):
            return engine.grade(found, source, private=private, **options)
        with tempfile.TemporaryDirectory(prefix="track-source-") as folder:
            path = Path(folder, "kernel.py")
            path.write_bytes(source.encode("utf-8", "replace") if isinstance(source, str) else source)
            return engine.grade(found, path, private=private, **options)
    finally:
        if warm:
            warm.stand_by()


class Pool:
    """Warm parents, each of which grades one file at a time: what a reward loop or a search awaits.

    Args:
        workers: how many files are graded at once. Without a GPU one a core; on a GPU one, as two would
            time each other: a second GPU has a process of its own, under another CUDA_VISIBLE_DEVICES.
        device: as of `grade`.

    Raises:
        CannotGrade: there is no such device here.
    """

    def __init__(self, workers: int = 1, device: Where = "auto") -> None:
        where = engine.choose_device(device)
        if workers < 1 or (where == "gpu" and workers > 1):
            raise ValueError(f"{workers} workers: one or more without a GPU, exactly one on a GPU")
        self._parents = [Warm(where) for _ in range(workers)]
        self._idle: SimpleQueue[Warm] = SimpleQueue()
        for parent in self._parents:
            self._idle.put(parent)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="track-pool")

    async def grade(
        self,
        day: Key | Day,
        source: Source,
        *,
        seed: int | None = None,
        strict: bool = False,
        speed: bool = True,
    ) -> Verdict:
        """`grade` above, by the next parent that is idle; any number may be awaited at once.

        A task that is cancelled while its file is graded leaves that grading to end by itself.
        """

        def run() -> Verdict:
            parent = self._idle.get()
            try:
                return graded(day, source, parent, seed=seed, strict=strict, speed=speed)
            finally:
                self._idle.put(parent)

        return await asyncio.get_running_loop().run_in_executor(self._threads, run)

    def close(self) -> None:
        """End the parents once the gradings that run are done; those that wait are dropped."""
        self._threads.shutdown(cancel_futures=True)
        for parent in self._parents:
            parent.__exit__()

    async def __aenter__(self) -> Pool:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)
