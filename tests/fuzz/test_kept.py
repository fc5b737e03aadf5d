"""Whatever stands in a workspace: its journal, its kernels, what was handed out."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from grader.course import catalog
from grader.course.learner import journal
from grader.course.learner.journal import Progress
from grader.course.learner.workspace import Workspace
from grader.grading.precheck import Refusal, precheck
from tests.fuzz.conftest import Types

DAY = catalog.find("1")
SOLUTION = DAY.solution.read_text(encoding="utf-8")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
EVENTS = st.sampled_from(("started", "graded", "hint", "solution", "reset", "restored", "a newer one"))
FIELDS = ("at", "status", "on_gpu", "failed", "speed", "tier", "only", "device", "seed", "seconds")
# Records that are read, with anything at all in their fields, and lines that are none.
RECORDS = st.builds(
    lambda event, day, facts: json.dumps({"schema": 1, "event": event, "day": day, **facts}).encode(),
    EVENTS,
    st.sampled_from((1, 2, 13, 99, -1, "rope", "no_such_extra")),
    st.dictionaries(st.sampled_from(FIELDS), JSON),
)
LINES = st.one_of(RECORDS, st.binary(max_size=40), JSON.map(lambda value: json.dumps(value).encode()))
TOKENS = st.sampled_from(
    (
        *(
            "import torch",
            "@triton.jit",
            "def f(x_ptr, n):",
            "return",
            "lambda:",
            "tl.load",
            "class",
            "async",
        ),
        *("    ", "\t", "(", ")", "[", "\n", "\\", '"""', "'", "#", ":=", "0x", "1e", "match x:"),
        *("é", "\x00", "\ufeff", "\u2028", "# coding: latin-1"),
    )
)
TEXTS = st.lists(TOKENS, max_size=30).map(lambda words: " ".join(words).encode())
SOURCES = st.one_of(st.binary(max_size=200), TEXTS)


@given(st.lists(LINES, max_size=8))
@example([b'{"schema": 1, "event": "graded", "day": 1, "speed": {"evidence": "measured"}}'])
@example([b'{"schema": 1, "event": "started", "day": 1, "at": "9999-12-31T23:59:59+00:00"}'])
@example([b"[" * 100_000])
def test_any_journal_is_read_and_shown(place: Workspace, types: Types, lines: list[bytes]) -> None:
    place.journal.write_bytes(b"\n".join(lines))
    before = journal.read(place.journal)
    assert all(isinstance(made, Progress) for made in journal.fold(before.records).values())
    for words in ((), ("status",), ("status", "--all"), ("status", "--json"), ("list",), ("list", "--json")):
        assert types(*words).strip()
    journal.append(place.journal, "started", 1)
    assert len(journal.read(place.journal).records) == len(before.records) + 1


@given(SOURCES)
@example(b"(" * 5000)
@example(b"x = " + b"-" * 100_000 + b"1")
@example(b"\xff\xfe" + "x = 1".encode("utf-16-le"))
@example(b"# -*- coding: no-such-thing -*-\nx = 1\n")
@example(b"# coding: utf-7\n#+AAo-import ctypes\nx = 1\n")
def test_any_file_is_refused_or_can_be_run(source: bytes) -> None:
    refusal = precheck(DAY, source)
    if isinstance(refusal, Refusal):
        assert refusal.reason
        assert refusal.diagnosis
        assert "\n" not in refusal.reason + refusal.diagnosis
        return
    compile(source.decode("utf-8-sig"), "kernel.py", "exec", dont_inherit=True)


@given(SOURCES, SOURCES, st.integers(0, len(SOLUTION)))
def test_any_files_of_a_workspace_are_compared_put_away_and_brought_back(
    place: Workspace, types: Types, kernel: bytes, copy: bytes, cut: int
) -> None:
    types("start", "1")
    place.kernel(DAY).write_bytes(kernel or SOLUTION[:cut].encode())
    place.handed_out(DAY).write_bytes(copy)
    for words in ("diff 1", "upgrade", "start 1", "solution 1 --yes", "reset 1", "restore 1"):
        assert types(*words.split()).strip()


PLACES = st.sampled_from(("my-track", ".track", "journal.jsonl", "kernel.py", "README.md", "trash", "logs"))


@given(st.lists(PLACES, max_size=4))
def test_folders_in_the_place_of_files_are_one_line(place: Workspace, types: Types, names: list[str]) -> None:
    for name in names:
        for folder in (place.root, place.hidden, place.folder(DAY)):
            try:
                Path(folder, name).mkdir(parents=True, exist_ok=True)
            except OSError:
                continue
    for words in ("status", "start 1", "hint 1", "diff 1", "reset 1", "grade 1 --cpu"):
        assert types(*words.split()).strip()
