"""What of the file's own could work while a kernel runs, where nobody looks."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
import triton.language as tl
from torch.autograd.graph import _engine_run_backward

from grader.runner.monkeypatches import INSTALLED, OWN
from grader.tensor_storage import is_memory
from grader.torch_operators import tensors_in

INITIALISED: Callable[[], bool] = torch.cuda.is_initialized
MONITORING: Any = getattr(sys, "monitoring", None)  # from Python 3.12 on
TOOLS = 6  # that may use it
WAITING = _engine_run_backward.__code__
TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)


def beside(arguments: list[Any]) -> set[str]:
    """In words, what is there when a kernel is about to run on these; timers and tracers are ended."""
    sys.settrace(None)
    sys.setprofile(None)
    _unmonitored()
    gc.callbacks.clear()
    for timer in TIMERS:
        signal.setitimer(timer, 0)
    found = {
        f"an argument of type {type(value).__name__}, which is no tensor"
        for value in map(_bare, arguments)
        if is_memory(value) or (hasattr(value, "data_ptr") and not tensors_in([value]))
    }
    threads = {name: frame for name, frame in sys._current_frames().items() if name != threading.get_ident()}
    # Without a GPU no library has any; with one some may.
    theirs = [frame for frame in threads.values() if not INITIALISED() or _theirs(frame)]
    return found | ({"another thread of your file"} if theirs else set())


def _unmonitored() -> None:
    """End what sees each line by way of sys.monitoring."""
    events = [event for event in vars(MONITORING.events).values() if event] if MONITORING else []
    for tool in range(TOOLS if MONITORING else 0):
        for event in events:  # but NO_EVENTS, which is 0
            MONITORING.register_callback(tool, event, None)
        MONITORING.free_tool_id(tool)


def _bare(value: Any) -> Any:
    """What a constant holds."""
    return value.value if type(value) is tl.constexpr else value


def _theirs(frame: FrameType | None) -> bool:
    """Whether a function of the file's is among the callers.

    A thread that waits for a backward pass does nothing: on a GPU autograd runs it in a thread of its own.
    """
    if frame is not None and frame.f_code is WAITING:
        return False
    while frame is not None:
        if not frame.f_code.co_filename.startswith((*INSTALLED, OWN, "<")):
            return True
        frame = frame.f_back
    return False
