"""What stands by for the next grading serves one, is replaced, and never stays behind."""

from __future__ import annotations

import subprocess
import sys

from grader.course import catalog
from tests import environments

HEAD = """
import os, socket, time
from grader.grading.forking import children
from grader.grading.warm_parent import Parent
from grader.grading.standby_judge import Pair
from grader.wire import Channel

def gone(pids):
    until = time.monotonic() + 10
    while time.monotonic() < until and any(os.path.exists(f"/proc/{pid}") for pid in pids):
        time.sleep(0.01)
    return not any(os.path.exists(f"/proc/{pid}") for pid in pids)
"""
PAIR = """
pair = Pair()
both, judge, runner = pair.pids, pair.take_judge(), pair.take_runner()
print(len(both), both == {judge.pid, runner[0]}, pair.take_judge(), pair.take_runner(), pair.pids)
judge.close()
os.waitpid(judge.pid, 0)
print(gone({judge.pid}))
ended = Pair()
os.kill(ended.judge.pid, 9)
time.sleep(0.1)
print(ended.take_judge(), ended.pids == {ended.runner[0]})
ended.dismiss()
print(ended.pids, children() == {runner[0]})
first = Pair(first=True)
print(first.take_judge(), first.pids == {first.take_runner()[0]}, first.pids)
"""
PARENT = """
ours, theirs = socket.socketpair()
parent = os.fork()
if parent == 0:
    ours.close()
    Parent(theirs).serve()
    os._exit(0)
theirs.close()
control = Channel(ours)
control.receive()
seen = []
for _ in range(2):
    control.send({"do": "stand by"})
    before = time.monotonic()
    while len(children(parent) - set(sum(seen, []))) < 2 and time.monotonic() < before + 10:
        time.sleep(0.01)
    seen.append(list(children(parent) - set(sum(seen, []))))
print([len(pids) for pids in seen], gone(seen[0]))
control.close()
os.waitpid(parent, 0)
print(gone(seen[1]))
"""


def printed(script: str) -> list[str]:
    around = environments.plain(PYTHONPATH=str(catalog.ROOT))
    ran = subprocess.run(
        [sys.executable, "-c", HEAD + script], env=around, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_each_is_given_once_and_whoever_ended_is_not() -> None:
    assert printed(PAIR) == ["2 True None None set()", "True", "None True", "set() True", "None True set()"]


def test_a_parent_replaces_what_stands_by_and_takes_it_along() -> None:
    assert printed(PARENT) == ["[2, 2] True", "True"]
