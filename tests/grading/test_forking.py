"""What a child leaves behind is ended, however it hides."""

from __future__ import annotations

import subprocess
import sys

import pytest

# A child that dies and leaves the first two processes of a PID namespace: the first cannot end before the
# second is collected.
NAMESPACE = """
import os, signal, time
from grader.grading.forking import adopt, children, sweep
from grader.runner.sandbox.syscalls import call

adopt()
if os.fork() == 0:
    try:
        call("unshare", 0x10000000 | 0x20000000)
    except OSError:
        os._exit(77)
    for _ in range(2):
        if os.fork() == 0:
            time.sleep(600)
    os._exit(0)
if os.waitstatus_to_exitcode(os.wait()[1]) == 77:
    print("refused")
else:
    assert len(children()) == 2
    sweep(set())
    print(children())
"""


def test_processes_of_a_namespace_are_ended_as_well() -> None:
    ran = subprocess.run([sys.executable, "-c", NAMESPACE], capture_output=True, text=True, timeout=30)
    if ran.stdout == "refused\n":
        pytest.skip("the kernel grants no user namespaces here")
    assert ran.stdout == "set()\n", ran.stderr
