"""Confined, a file gets the verdict that it gets without, and reaches nothing but its scratch folder."""

from __future__ import annotations

import dataclasses
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.challenge.loading import load_challenges
from grader.course import catalog
from grader.runner_answers import CONFINEMENTS
from grader.verdict import Verdict
from tests.conftest import Grade
from tools import planted

DAY = catalog.find("1")
SOLUTION = DAY.solution.read_text(encoding="utf-8")
HEAD = "import os, resource, socket, sys\nfrom pathlib import Path\n"

# Each passes where nothing is confined.
REACHES = {
    "the solutions": ("hidden files", f"open({str(DAY.solution)!r}).read()"),
    "the hidden tests": ("hidden files", f"open({str(DAY.hidden_tests)!r}).read()"),
    "the hints": ("hidden files", f"open({str(DAY.hints)!r}).read()"),
    "the tests' kernels": ("hidden files", f"open({str(planted.TESTS / 'conftest.py')!r}).read()"),
    "the journal": ("hidden files", "open('../.track/journal.jsonl').read()"),
    "another's file": ("hidden files", "open('../bob/kernel.py').read()"),
    "the folder of all": ("hidden files", "assert 'bob' in os.listdir('..')"),
    "another grading's scratch folder": ("hidden files", "open(OTHER).read()"),
    "a new line of the journal": ("read-only files", "open('../.track/journal.jsonl', 'a').write('x')"),
    "an empty journal": ("read-only files", "os.truncate('../.track/journal.jsonl', 0)"),
    "a file beside it": ("read-only files", "open('left', 'w').close()"),
    "a file of everyone's": ("read-only files", "open('/dev/shm/left-by-a-kernel', 'w').close()"),
    "its own source": ("read-only files", "open('kernel.py', 'a').close()"),
    "a server": ("no network", "socket.create_connection(('127.0.0.1', PORT)).recv(1)"),
    "the parent": ("hidden processes", "os.kill(PARENT, 0)"),
    "what the parent runs": ("hidden processes", "Path('/proc', str(PARENT), 'cmdline').read_text()"),
    "more files than it may": ("limited files", "assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 512"),
    "other rights": ("no new privileges", "assert 'NoNewPrivs:\t0' in open('/proc/self/status').read()"),
}


@pytest.fixture
def server() -> Iterator[int]:
    """The port of a server that greets whoever comes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_greet, args=(listening,), daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)  # ends the thread's waiting


def _greet(listening: socket.socket) -> None:
    while True:
        try:
            listening.accept()[0].send(b"h")
        except OSError:
            return


TRIED = """
for name, reach in REACHES.items():
    try:
        exec(reach)
        print(name)
    except (OSError, AssertionError):
        pass
"""


def test_what_a_file_could_reach_it_cannot_when_confined(
    graded: Grade, server: int, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, journal = tmp_path / "day", tmp_path / ".track" / "journal.jsonl"
    bob, other = tmp_path / "bob" / "kernel.py", tmp_path_factory.mktemp("track-strict-") / "found"
    for place in (folder, journal.parent, bob.parent):
        place.mkdir()
    for file in (journal, bob, other):
        file.write_text("what happened\n")
    kernel = folder / "kernel.py"
    given = f"PORT, PARENT, OTHER = {server}, {os.getpid()}, {str(other)!r}\n"
    given += f"REACHES = { {name: reach for name, (_, reach) in REACHES.items()} }\n"
    kernel.write_text(SOLUTION.replace("\nimport torch", f"\n{HEAD}import torch", 1) + given + TRIED)
    free, confined = (graded(1, kernel, strict=strict, speed=False, only="n=8-") for strict in (False, True))
    Path("/dev/shm/left-by-a-kernel").unlink(missing_ok=True)
    assert free.status == confined.status == "passed"
    assert free.output.splitlines() == list(REACHES)
    # What this machine does not grant, the verdict says.
    left = [name for name, (confinement, _) in REACHES.items() if confinement in confined.not_confined]
    assert confined.output.splitlines() == left


def test_what_is_denied_is_told_as_any_exception(graded: Grade) -> None:
    source = f"{SOLUTION}{REACHES['the solutions'][1]}\n"
    verdict = graded(1, source, strict=True, speed=False, only="n=8-")
    if "hidden files" in verdict.not_confined:
        pytest.skip("hidden files: not granted here")
    assert verdict.status == "failed"
    assert f"line {source.count(chr(10))} raised" in verdict.diagnosis


def test_a_scratch_folder_can_be_written_and_is_gone_afterwards(graded: Grade, tmp_path: Path) -> None:
    writes = "\nimport os, tempfile\nprint(tempfile.mkstemp()[1], os.environ['TRITON_CACHE_DIR'])\n"
    verdict = graded(1, SOLUTION + writes, strict=True, speed=False)
    assert verdict.status == "passed", verdict.diagnosis
    written, cache = map(Path, verdict.output.split())
    assert written.parent == cache.parent
    assert not written.parent.exists()


def test_what_lies_beside_a_file_and_what_the_day_provides_can_be_imported(
    graded: Grade, tmp_path: Path
) -> None:
    (tmp_path / "beside.py").write_text("HERE = True\n")
    source = SOLUTION + "\nimport beside\nassert beside.HERE\n"
    assert graded(1, source, strict=True, speed=False, only="n=8-").status == "passed"
    provides = next(day for day in catalog.course() if day.provided.is_dir())
    case = load_challenges(provides.hidden_tests)[0].cases[0].id
    assert graded(provides.key, provides.solution, strict=True, speed=False, only=case).status == "passed"


def alike(verdict: Verdict) -> object:
    """Of a verdict what no clock decides."""
    told = dataclasses.replace(verdict, seconds=0.0, confined=(), not_confined=()).to_json()
    for check in told["checks"]:
        check["seconds"] = 0.0
    return told


def sample() -> Iterator[tuple[catalog.Key, str, str, str]]:
    """A solution, a mistake of another day, and the exploits that end a process or leave one."""
    yield 13, "solution", catalog.find("13").solution.read_text(), "passed"
    mistake = planted.mistakes(catalog.find("24"))[0]
    yield 24, mistake.name, mistake.source(catalog.find("24")), ""
    ends = "segmentation_fault exit_with_success memory_hog a_fork processes_left_behind forged_message"
    for exploit in planted.exploits(DAY):
        if exploit.stem in ends.split():
            yield 1, exploit.stem, exploit.path.read_text(), ""


SAMPLE = list(sample())


@pytest.mark.parametrize(("day", "name", "source", "status"), SAMPLE, ids=[f"{s[0]} {s[1]}" for s in SAMPLE])
def test_a_verdict_is_the_same_confined(
    day: catalog.Key, name: str, source: str, status: str, graded: Grade
) -> None:
    free, confined = (graded(day, source, strict=strict, call_timeout=5) for strict in (False, True))
    assert status in ("", free.status), free.diagnosis
    assert alike(confined) == alike(free)


def test_a_strict_verdict_says_what_is_in_force_and_what_is_not(graded: Grade) -> None:
    verdict = graded(1, DAY.solution, strict=True, speed=False)
    assert sorted(verdict.confined + verdict.not_confined) == sorted(CONFINEMENTS)
    assert Verdict.from_json(verdict.to_json()) == verdict
    assert graded(1, DAY.solution, speed=False).confined == ()


STRICT = [(day, one) for day in catalog.course() for one in planted.exploits(day) if one.strict]


@pytest.mark.parametrize(("day", "exploit"), STRICT, ids=lambda value: getattr(value, "stem", ""))
def test_an_exploit_that_needs_confinement_does(
    day: catalog.Day, exploit: planted.Exploit, graded: Grade
) -> None:
    assert graded(day.key, exploit.path, speed=False).status == "passed"
    confined = graded(day.key, exploit.path, strict=True)
    if "hidden files" not in confined.not_confined:
        assert exploit.heard(confined.diagnosis)
