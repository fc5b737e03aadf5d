"""What of the file's own could work while a kernel runs, where nobody looks."""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any

from grader.operators import tensors_in
from grader.runner.held import INSTALLED


def beside(arguments: list[Any]) -> set[str]:
    """In words, what is there when a kernel is about to run on these; what traces Python is ended."""
    sys.settrace(None)
    sys.setprofile(None)
    found = {
        f"an argument of type {type(value).__name__}, which is no tensor"
        for value in arguments
        if hasattr(value, "data_ptr") and not tensors_in([value])
    }
    threads = {name: frame for name, frame in sys._current_frames().items() if name != threading.get_ident()}
    return found | ({"another thread of your file"} if any(map(_theirs, threads.values())) else set())


def _theirs(frame: FrameType | None) -> bool:
    """Whether a function of the file's is among the callers: torch and its like may have threads, too."""
    while frame is not None:
        if not frame.f_code.co_filename.startswith((*INSTALLED, "<")):
            return True
        frame = frame.f_back
    return False
