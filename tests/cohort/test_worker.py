"""One grading on a node."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grader import catalog
from grader.cohort import worker

DAY = catalog.find("1")
HERE = worker.ready("cpu", strict=False)
# Unconfined code can end the warm parent, whose child runs it.
DEADLY = b"""
import os, signal
if "grader.engine.parent" in open(f"/proc/{os.getppid()}/cmdline").read():
    os.kill(os.getppid(), signal.SIGKILL)
"""


def test_a_crash_is_not_believed_at_once(tmp_path: Path) -> None:
    """A runner may be killed for what others do on the machine."""
    crash = f"""
import os, signal
marks = os.listdir({str(tmp_path)!r})
if len(marks) < 2:
    open({str(tmp_path)!r} + "/" + str(len(marks)), "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    outcome = worker.grade("1", DAY.solution.read_bytes() + crash.encode(), "cpu", 1, HERE)
    assert outcome["verdict"]["status"] == "passed"


def test_a_source_that_ends_its_warm_parent_is_tried_three_times_and_the_next_is_graded() -> None:
    outcome = worker.grade("1", DAY.solution.read_bytes() + DEADLY, "cpu", 1, HERE)
    assert "ended" in outcome or outcome["verdict"]["status"] == "crashed"
    outcome = worker.grade("1", DAY.solution.read_bytes(), "cpu", 1, HERE)
    assert outcome["verdict"]["status"] == "passed"
    assert outcome["shape"] == worker.shape(DAY.solution.read_bytes())
    worker._parents.popitem()[1].stop()


def test_a_node_with_another_course_or_gpu_grades_nothing() -> None:
    for other in (replace(HERE, course="0.0.1+abc"), replace(HERE, gpu="NVIDIA H200")):
        assert "the run is for" in worker.grade("1", b"", "cpu", 1, other)["problem"]


def test_a_node_says_under_what_it_grades() -> None:
    assert (HERE.gpu, HERE.strict) == ("cpu (interpreter)", False)
    assert worker.ready("cpu", strict=False) == HERE
