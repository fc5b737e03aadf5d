"""The loop of a runner and of a builder: one command after another, each answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from grader.runner import error_messages
from grader.runner.sandbox.confine import confine
from grader.runner_answers import Failed
from grader.wire import Channel, Closed

Reply = tuple[Any, list[Any]]  # an answer of runner_answers.py, and the bytes that follow it
Command = Callable[[dict[str, Any], list[bytearray]], Reply]


def answering(channel: Channel, commands: Mapping[str, Command], path: Callable[[], str]) -> None:
    """Answer the judge until it hangs up; `Failed` where the learner's code raised.

    Args:
        path: of the learner's file, known once it is loaded.
    """
    commands = {"confine": confine, **commands}
    while True:
        try:
            header, blobs = channel.receive()
        except Closed:
            return
        try:
            answer, data = commands[header["do"]](header, blobs)
        except (Exception, SystemExit) as error:
            answer, data = Failed(error_messages.describe(error, path())), []
        channel.send(asdict(answer), data)
