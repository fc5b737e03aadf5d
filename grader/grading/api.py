"""The door for Python: `from grader import grade, grade_many, Pool, Verdict`. These names, their arguments
and the fields of a Verdict stay as they are within a major version.

    verdict = grade(13, "import torch\\n…", device="cpu")
    verdict.status, verdict.score(), verdict.diagnosis

    verdicts = grade_many(13, candidates, workers=4, device="cpu", strict=True)

    async with Pool(workers=4, device="cpu") as pool:
        verdicts = await asyncio.gather(*(pool.grade(13, source) for source in candidates))
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any, Literal

from grader.course import custom_tasks
from grader.course.catalog import Day, Key
from grader.errors import BadSubmission, TrackError
from grader.grading import grade as engine
from grader.grading.llm_answer import code
from grader.grading.warm_client import Warm
from grader.verdict import Verdict

__all__ = ["Pool", "Verdict", "grade", "grade_many"]

Where = Literal["auto", "cpu", "gpu"]
What = Key | Day | Path
Source = str | bytes | Path


def grade(
    day: What,
    source: Source,
    *,
    device: Where = "auto",
    seed: int | None = None,
    strict: bool = False,
    speed: bool = True,
    timeout: float | None = None,
    fail_fast: bool = False,
) -> Verdict:
    """Grade one kernel file on a day or task. It takes seconds, most of them imports: a Pool pays these once.

    Args:
        day: 13, "softmax" or "rope", whatever `track grade` answers to; or the folder of a task of your own,
            a Path or a text with a `/`. Its hidden_tests.py runs unconfined: it must be code that you trust.
        source: the file's text or bytes, or the path of a file. Only of a path can `from mine import …` find
            kernels of the same learner. Of a text that is no Python, such as a model's answer, the last
            fenced block with a kernel is graded.
        device: `cpu` evaluates, `gpu` compiles and times; `auto` takes a GPU if there is one.
        seed: draws the same inputs again; fresh ones when None.
        strict: confine the file's code as far as the machine allows; the verdict says how far. For code that
            nobody has read.
        speed: measure or predict it.
        timeout: seconds that the whole grading may take, imports not counted; then its status is `timeout`.
            When None, 900 on a CPU and 1800 on a GPU.
        fail_fast: end at the first case that fails, and look for nothing that explains it: a pass costs the
            same, a failure less. The score of a failure is lower, as what was not reached counts as failed.

    Raises:
        UnknownDay: no day answers to it, and no task lies there.
        BadSubmission: the path cannot be read.
        CannotGrade: no verdict can be given here; the fault is never the file's.
        ValueError: there is no such device, or no time.
    """
    options: dict[str, Any] = {"device": device, "seed": seed, "strict": strict, "speed": speed}
    return graded(day, source, None, **options, timeout=timeout, fail_fast=fail_fast)


def grade_many(
    day: What, sources: Iterable[Source], *, workers: int = 1, device: Where = "auto", **options: Any
) -> list[Verdict | TrackError]:
    """`Pool.grade_many` by a Pool that is made for it, and ended after it."""
    with Pool(workers, device) as pool:
        return pool.grade_many(day, sources, **options)


def graded(
    day: What, source: Source, warm: Warm | None, *, private: Sequence[str] = (), **options: Any
) -> Verdict:
    """`grade` by a warm parent, where there is one; confined code may not read what is `private` either."""
    if not isinstance(source, str | bytes | Path):
        raise BadSubmission(f"A {type(source).__name__} is no source.", "Give a text, bytes or a Path.")
    timeout = options.get("timeout")
    if timeout is not None and timeout <= 0:
        raise ValueError("timeout is a number of seconds above 0, or None")
    found = (
        day if isinstance(day, Day) else custom_tasks.find(f"{day}/" if isinstance(day, Path) else str(day))
    )
    try:
        if isinstance(source, Path):
            return engine.grade(found, source, warm=warm, private=private, **options)
        with tempfile.TemporaryDirectory(prefix="track-source-") as folder:
            path = Path(folder, "kernel.py")
            path.write_bytes(code(source).encode("utf-8", "replace") if isinstance(source, str) else source)
            return engine.grade(found, path, warm=warm, private=private, **options)
    finally:
        if warm:
            warm.stand_by()


class Pool:
    """Warm parents, each of which grades one file at a time: what a reward loop or a search awaits.

    Args:
        workers: how many files are graded at once. Without a GPU one a core; on a GPU one, as two would
            time each other: a second GPU has a process of its own, under another CUDA_VISIBLE_DEVICES.
        device: as of `grade`.
        task: what is graded where a call names only sources.
        options: of each grading where a call has no other: `seed`, `strict`, `speed`, `timeout`, `fail_fast`.

    Raises:
        CannotGrade: there is no such device here.
    """

    def __init__(
        self, workers: int = 1, device: Where = "auto", task: What | None = None, **options: Any
    ) -> None:
        where = engine.choose_device(device)
        if workers < 1 or (where == "gpu" and workers > 1):
            raise ValueError(f"{workers} workers: one or more without a GPU, exactly one on a GPU")
        self._task, self._options = task, options
        self._parents = [Warm(where) for _ in range(workers)]
        self._idle: SimpleQueue[Warm] = SimpleQueue()
        for parent in self._parents:
            self._idle.put(parent)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="track-pool")
        self._lock = Lock()

    async def grade(self, *asked: Any, **options: Any) -> Verdict:
        """`grade(day, source, …)` above, by the next parent that is idle; any number may be awaited at once.
        Of a Pool with a `task`, `grade(source, …)`. A task that is cancelled ends its grading.

        Raises:
            TypeError: there is no day, or no source.
        """
        taken: list[Warm] = []
        day, source = self._meant(asked)
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._run, day, source, options, taken)
        except asyncio.CancelledError:
            with self._lock:  # while it holds this, none of them is given to another grading
                for parent in taken:
                    parent.abandon()
            raise

    def grade_many(self, *asked: Any, **options: Any) -> list[Verdict | TrackError]:
        """`grade_many(day, sources, …)`: a verdict for each source, in their order, and where none could be
        given the error, which is not the source's fault. Of a Pool with a `task`, `grade_many(sources, …)`.

        Raises:
            UnknownDay: no day answers to it, and no task lies there.
            TypeError: there is no day, or no source.
        """
        day, sources = self._meant(asked)
        day = day if isinstance(day, Day | Path) else custom_tasks.find(str(day))
        futures = [self._threads.submit(self._run, day, source, options, []) for source in sources]
        errors = [future.exception() for future in futures]
        return [e if isinstance(e, TrackError) else f.result() for e, f in zip(errors, futures, strict=True)]

    def _meant(self, asked: tuple[Any, ...]) -> tuple[Any, Any]:
        """The day, and the source or sources."""
        given = asked if self._task is None or len(asked) > 1 else (self._task, *asked)
        if len(given) != 2:
            raise TypeError("grade(day, source); of a Pool(task=…) also grade(source)")
        return given

    def _run(self, day: What, source: Source, options: dict[str, Any], taken: list[Warm]) -> Verdict:
        parent = self._idle.get()
        taken.append(parent)
        try:
            return graded(day, source, parent, **{**self._options, **options})
        finally:
            with self._lock:
                taken.clear()
                parent.abandoned = False
            self._idle.put(parent)

    def close(self) -> None:
        """End the parents once the gradings that run are done; those that wait are dropped."""
        self._threads.shutdown(cancel_futures=True)
        for parent in self._parents:
            parent.__exit__()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for parent in self._parents if kind else ():  # nobody waits for what they grade
            parent.abandon()
        self.close()

    async def __aenter__(self) -> Pool:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await asyncio.to_thread(self.__exit__, kind)
