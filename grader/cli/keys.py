"""Single key presses from a terminal, which is always given back as it was found."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import termios
import threading
import tty
from collections.abc import Callable, Iterator
from typing import Any

# An arrow or function key arrives as an escape and more letters: it is no command.
ESCAPED = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)


@contextlib.contextmanager
def pressed(on_key: Callable[[str], None]) -> Iterator[bool]:
    """Calls `on_key` from a thread for every key while the context lasts; yields False without a keyboard."""
    if not _keyboard():
        yield False
        return
    file = sys.stdin.fileno()
    before = termios.tcgetattr(file)
    wake, stop = os.pipe()
    thread = threading.Thread(target=_read, args=(file, wake, on_key), daemon=True)
    old: Any = None
    try:
        tty.setcbreak(file)
        # After Ctrl-Z and fg the shell has set its own mode.
        old = signal.signal(signal.SIGCONT, lambda *_: tty.setcbreak(file))
        thread.start()
        yield True
    finally:
        os.write(stop, b"x")
        if old is not None:
            signal.signal(signal.SIGCONT, old)
            thread.join(timeout=1)
        termios.tcsetattr(file, termios.TCSADRAIN, before)
        os.close(stop)


def _keyboard() -> bool:
    """A terminal on stdin that belongs to this process; a background job must not touch it."""
    try:
        return sys.stdin.isatty() and os.getpgrp() == os.tcgetpgrp(sys.stdin.fileno())
    except (OSError, ValueError, AttributeError):
        return False


def _read(file: int, wake: int, on_key: Callable[[str], None]) -> None:
    try:
        while True:
            ready, _, _ = select.select([file, wake], [], [])
            if wake in ready:
                return
            letters = os.read(file, 64)
            if not letters:
                return
            for letter in ESCAPED.sub(b"", letters).decode(errors="ignore"):
                on_key(letter.lower())
    except OSError:
        return
    finally:
        os.close(wake)
