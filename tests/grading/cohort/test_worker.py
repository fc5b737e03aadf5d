"""One grading on a node."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course import catalog
from grader.grading import confinement
from grader.grading.cohort import worker
from grader.grading.cohort.store import Store, files_of
from grader.grading.cohort.submission import Submission

DAY = catalog.find("1")
HERE = worker.ready("cpu", strict=False)
ON_DAY = HERE.of(DAY)
# Unconfined code can end the warm parent, whose child runs it.
DEADLY = b"""
import os, signal
if "grader.grading.warm_parent" in open(f"/proc/{os.getppid()}/cmdline").read():
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
    outcome = worker.grade("1", DAY.solution.read_bytes() + crash.encode(), "cpu", {"seed": 1}, ON_DAY)
    assert outcome["verdict"]["status"] == "passed"


def test_a_source_that_ends_its_warm_parent_is_tried_three_times_and_the_next_is_graded() -> None:
    outcome = worker.grade("1", DAY.solution.read_bytes() + DEADLY, "cpu", {"seed": 1}, ON_DAY)
    assert "ended" in outcome or outcome["verdict"]["status"] == "crashed"
    outcome = worker.grade("1", DAY.solution.read_bytes(), "cpu", {"seed": 1}, ON_DAY)
    assert outcome["verdict"]["status"] == "passed"
    worker._parents.popitem()[1].stop()


def test_a_node_with_another_course_or_gpu_grades_nothing() -> None:
    for other in (HERE, replace(ON_DAY, course="0.0.1+abc"), replace(ON_DAY, gpu="NVIDIA H200")):
        assert "the run is for" in worker.grade("1", b"", "cpu", {"seed": 1}, other)["problem"]


def test_the_edit_that_mends_a_file_is_looked_for_where_it_is_asked_for() -> None:
    wrong = DAY.solution.read_bytes().replace(b"2 * x + 1", b"2 * x + 2")
    edits = [
        worker.grade("1", wrong, "cpu", {"seed": 1, "explain": seconds}, ON_DAY)["verdict"]["edit"]
        for seconds in (0.0, 9.0)
    ]
    assert edits[0] == ""
    assert "every case that was tried is right" in edits[1]


def test_a_node_says_under_what_it_grades() -> None:
    assert (HERE.gpu, HERE.strict) == ("cpu", False)
    assert worker.ready("cpu", strict=False) == HERE


# Looks for somebody else's kernel wherever it is said to lie, and among all processes.
PRYING = """
import os, zipfile
WORD, found = "".join(reversed({drow!r})).encode(), set()
def pry(path, name):
    try:
        if os.path.isdir(path):
            return [pry(os.path.join(path, one), one) for one in os.listdir(path)]
        packed = path.endswith(".zip")
        if WORD in (zipfile.ZipFile(path).read("bob/day01.py") if packed else open(path, "rb").read()):
            found.add(name)
    except OSError:
        pass
for place in {places!r}:
    pry(place, os.path.basename(place))
try:
    pids = os.listdir("/proc")
except OSError:
    pids = map(str, range(1, 1 << 15))  # what it cannot list it can guess
for pid in pids:
    if pid.isdecimal() and int(pid) != os.getpid():
        pry(f"/proc/{{pid}}/environ", "environ")
        pry(f"/proc/{{pid}}/cwd/bob/day01.py", "cwd")
assert not found, sorted(found)
"""
WORD = "what bob alone knows"


@pytest.fixture
def room(tmp_path: Path) -> Iterator[list[str]]:
    """Where what bob handed in lies while others are graded: a folder, a zip, the database, a copy."""
    (tmp_path / "class" / "bob").mkdir(parents=True)
    (tmp_path / "class" / "bob" / "day01.py").write_text(f"# {WORD}")
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("bob/day01.py", f"# {WORD}")
    with Store(tmp_path / "cohort.db", HERE) as kept:
        kept.hand_in(Submission(WORD, DAY, b"x = 1"))
        kept.commit()
        with tempfile.TemporaryDirectory(prefix="track-source-") as folder:
            Path(folder, "kernel.py").write_text(f"# {WORD}")
            sleeps = [sys.executable, "-c", "import time; time.sleep(600)"]
            other = subprocess.Popen(sleeps, cwd=tmp_path / "class", env={**os.environ, "BOBS": WORD})
            yield [
                *map(str, (tmp_path / "class", tmp_path / "class.zip", *files_of(tmp_path / "cohort.db"))),
                folder,
            ]
            other.kill()
            other.wait()


@pytest.mark.parametrize("shared", [confinement.SHARED, ()], ids=["by rule", "as it was told"])
def test_confined_code_finds_nothing_of_what_others_handed_in(
    shared: tuple[str, ...], room: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "SHARED", shared)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "class" / "tmp"))  # of the rule as well
    Path(tempfile.tempdir).mkdir()
    source = DAY.solution.read_bytes() + PRYING.format(drow=WORD[::-1], places=room).encode()
    free = worker.grade("1", source, "cpu", {"seed": 1}, ON_DAY)["verdict"]
    for place in ("day01.py", "class.zip", "cohort.db-wal", "kernel.py", "environ", "cwd"):
        assert place in free["diagnosis"], "unconfined it finds it"
    confined = worker.grade("1", source, "cpu", {"seed": 1}, replace(ON_DAY, strict=True), room)["verdict"]
    if not {"hidden files", "hidden processes"} <= set(confined["confined"]):
        pytest.skip("not granted here, as the verdict says")
    assert confined["status"] == "passed", confined["diagnosis"]
