"""A scout: another process of the untrusted side that calls the learner's function where no kernel runs.

load   {path, provided, mine, made, gpu}, and the file's bytes         → Loaded, of no functions
survey {entry, probe, arguments, upstream, of, gpu}  → Surveyed   (see launch_survey.py)

It holds no CUDA context: a GPU is pretended, with tensors that take no memory.
"""

from __future__ import annotations

import contextlib
import os
from types import ModuleType
from typing import Any

from grader import kernel
from grader.datasheets import Gpu
from grader.performance.meter.fake_gpu import pretended, without_gpu
from grader.runner import limits, loading
from grader.runner.answering import Reply, answering
from grader.runner.launch_survey import survey
from grader.runner_answers import Loaded
from grader.wire import Channel


class Scout:
    """One learner's file, loaded to see what it would launch."""

    def __init__(self) -> None:
        self.path = ""
        self.module = ModuleType("kernel")

    def load(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Import the file, as it is imported where its kernels run."""
        self.path = header["path"]
        if kernel.EVALUATES:
            without_gpu()
        with contextlib.nullcontext() if kernel.EVALUATES else pretended(Gpu(**header["gpu"])):
            self.module = loading.load(self.path, bytes(blobs[0]), *loading.asked(header))
        return Loaded({}), []

    def survey(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Make one call without its kernels."""
        return survey(self.module, header, blobs), []


def serve(channel: Channel) -> None:
    """Answer the judge until it hangs up."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    limits.usual(on_cpu=True)
    scout = Scout()
    answering(channel, {"load": scout.load, "survey": scout.survey}, lambda: scout.path)
