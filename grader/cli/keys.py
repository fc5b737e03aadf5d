"""Single key presses from a terminal, which is always given back as it was found."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Iterator

# An arrow or function key arrives as an escape and more letters: it is no command.
ESCAPED = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)


@contextlib.contextmanager
def single() -> Iterator[bool]:
    """Keys arrive one by one while the context lasts; yields False without a keyboard."""
    if not _keyboard():
        yield False
        return
    file = sys.stdin.fileno()
    before = termios.tcgetattr(file)
    old = signal.getsignal(signal.SIGCONT)
    try:
        tty.setcbreak(file)
        # After Ctrl-Z and fg the shell has set its own mode.
        signal.signal(signal.SIGCONT, lambda *_: tty.setcbreak(file))
        yield True
    finally:
        signal.signal(signal.SIGCONT, old)
        termios.tcsetattr(file, termios.TCSADRAIN, before)


def _keyboard() -> bool:
    """A terminal on stdin that belongs to this process; a background job must not touch it."""
    try:
        return sys.stdin.isatty() and os.getpgrp() == os.tcgetpgrp(sys.stdin.fileno())
    except (OSError, ValueError, AttributeError):
        return False


def pressed(seconds: float) -> str:
    """The keys that are pressed now, or next within so many seconds."""
    letters = b""
    if select.select([sys.stdin], [], [], seconds)[0]:
        with contextlib.suppress(OSError):
            letters = os.read(sys.stdin.fileno(), 64)
        if not letters:  # the terminal is gone
            time.sleep(seconds)
    return ESCAPED.sub(b"", letters).decode(errors="ignore").lower()
