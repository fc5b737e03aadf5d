"""No new socket for this process, nor for any that it starts: a filter of its system calls; seccomp(2)."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from grader.runner.sandbox.syscalls import PR_SET_SECCOMP, prctl

SECCOMP_MODE_FILTER, ALLOW, REFUSE = 2, 0x7FFF0000, 0x00050000 | errno.EACCES
# By machine: what the kernel calls its architecture, and the number of socket(2).
MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
IO_URING_SETUP = 425  # by which a socket can be opened as well
FOREIGN = 0x40000000  # from here on the numbers are those of x32
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE = 0, 4  # where they lie in `struct seccomp_data`


def refuse() -> None:
    """From here on socket(2) fails; pairs of connected ones can still be made.

    Raises:
        OSError: the kernel refuses, or the machine is none of those above.
    """
    if os.uname().machine not in MACHINES:
        raise OSError(f"no filter for {os.uname().machine}")
    architecture, socket = MACHINES[os.uname().machine]
    lines = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 0, 5, architecture),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 3, 0, FOREIGN),
        (EQUAL, 2, 0, socket),
        (EQUAL, 1, 0, IO_URING_SETUP),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    program = struct.pack("HP", len(lines), ctypes.addressof(code))  # `struct sock_fprog`
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program)
