"""Linux's system calls that Python has no function for."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 38, 22
# Numbers that are the same on every architecture.
SYS_LANDLOCK_CREATE_RULESET, SYS_LANDLOCK_ADD_RULE, SYS_LANDLOCK_RESTRICT_SELF = 444, 445, 446


def call(function: str, *arguments: Any) -> int:
    """What a function of libc returns; whole numbers are passed as wide as a register.

    Raises:
        OSError: it failed.
    """
    wide = [ctypes.c_ulong(argument) if isinstance(argument, int) else argument for argument in arguments]
    result = getattr(_libc, function)(*wide)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)


def prctl(option: int, *arguments: Any) -> None:
    """prctl(2), with the zeros that it asks for.

    Raises:
        OSError: the kernel refuses.
    """
    call("prctl", option, *arguments, *[0] * (4 - len(arguments)))
