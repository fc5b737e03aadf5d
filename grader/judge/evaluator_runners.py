"""Runners that evaluate kernels, beside the one of the cases: on a GPU they see what no GPU tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grader.challenge.harness.runner_client import Runner
from grader.datasheets import USUAL
from grader.request import Request
from grader.wire import Channel

PATIENCE = 20.0  # seconds for one call where it is evaluated beside a GPU


class Evaluators:
    """Whoever evaluates kernels for a grading.

    Args:
        request: what was asked.
        parent: the channel on which runners are asked for.
        load: has a runner import the learner's file.

    Attributes:
        request: as whoever asks an evaluator has it.
    """

    def __init__(self, request: Request, parent: Channel, load: Callable[[Runner], Any]) -> None:
        self.request = replace(request, device="cpu", call_timeout=min(request.call_timeout, PATIENCE))
        self.parent, self.load = parent, load
        self.walking: dict[str, Runner] = {}

    def runner(self) -> Runner:
        """A new runner that evaluates kernels, on a GPU too."""
        return Runner(self.parent, "evaluator")

    def walker(self, gpu: str = USUAL) -> Runner:
        """A runner with the file loaded that believes in a GPU, one for each: what a file asks it may keep. A
        fresh one after a loss.
        """
        if gpu not in self.walking:
            self.walking[gpu] = self.runner()
            self.load(self.walking[gpu])
        return self.walking[gpu]

    def drop_walkers(self) -> None:
        """End those that there are."""
        while self.walking:
            self.walking.popitem()[1].close()
