"""On a GPU: arguments that a judge lends, for the command that comes next."""

from __future__ import annotations

from typing import Any

import torch

from grader.cuda_ipc import Unlendable, borrowed
from grader.runner.command_loop import Command, Reply
from grader.runner_answers import Borrowed


class Borrower:
    """Holds what was borrowed until a command asks for it."""

    def __init__(self) -> None:
        self.held: list[torch.Tensor] = []

    def borrow(self, header: dict[str, Any], _: list[bytearray]) -> Reply:
        """Copy what is lent; the answer says whether that can be done here."""
        try:
            self.held = borrowed(header["lent"])
        except (Unlendable, torch.cuda.OutOfMemoryError):
            return Borrowed(False), []
        return Borrowed(True), []

    def lending(self, command: Command) -> Command:
        """The same command, with what was borrowed in the place of bytes where it says so."""

        def called(header: dict[str, Any], blobs: list[Any]) -> Reply:
            if header.get("borrowed"):
                blobs, self.held = self.held, []
            return command(header, blobs)

        return called
