"""The journal loses nothing, survives anything, and folds into progress."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grader.bug_hunt_result import Hunt, Hunted
from grader.course.learner import journal
from grader.errors import TrackError
from grader.verdict import Check, Limit, Verdict
from tests.learner import REPO

WRITER = """
import sys
from pathlib import Path
from grader.course.learner import journal
for number in range(500):
    facts = {"writer": int(sys.argv[2]), "number": number, "padding": "x" * (number % 300)}
    journal.append(Path(sys.argv[1]), "hint", 13, **facts)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def verdict(status: str = "passed", device: str = "cpu", **more: object) -> Verdict:
    return Verdict(13, status, 4021, device, {}, **more)  # type: ignore[arg-type]


def test_eight_processes_that_append_500_records_each_lose_none(path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, str(n)], cwd=REPO) for n in range(8)]
    assert [writer.wait() for writer in writers] == [0] * 8

    read = journal.read(path)

    assert read.skipped == 0
    seen = {(record["writer"], record["number"]) for record in read.records}
    assert seen == {(writer, number) for writer in range(8) for number in range(500)}


def test_a_journal_that_does_not_exist_is_empty(path: Path) -> None:
    assert journal.read(path) == journal.Journal()


def test_a_torn_last_line_is_skipped_and_the_next_record_stands_on_its_own_line(path: Path) -> None:
    journal.append(path, "started", 1)
    with path.open("a") as file:
        file.write('{"schema": 1, "event": "grad')

    journal.append(path, "started", 8)

    read = journal.read(path)
    assert [record["day"] for record in read.records] == [1, 8]
    assert read.skipped == 1


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x00\xff\xfe\x80", b"not json", b"[]", b"null", b"3", b'{"schema": 1}',
        b'{"schema": 1, "event": "hint"}',
        b'{"schema": 1, "event": "hint", "day": "13"}', b'{"schema": 1, "event": "hint", "day": true}',
        b'{"schema": 2, "event": "hint", "day": 13}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_line_that_is_no_record_is_counted_and_costs_no_other(path: Path, garbage: bytes) -> None:
    journal.append(path, "started", 1)
    with path.open("ab") as file:
        file.write(garbage + b"\n")
    journal.append(path, "started", 8)

    read = journal.read(path)

    assert [record["day"] for record in read.records] == [1, 8]
    assert read.skipped == 1


def test_blank_lines_are_no_damage(path: Path) -> None:
    path.write_text("\n\n")
    journal.append(path, "started", 1)
    assert journal.read(path).skipped == 0


def test_fields_of_the_wrong_kind_do_not_break_the_fold(path: Path) -> None:
    odd = {
        "schema": 1,
        "event": "graded",
        "day": 13,
        "status": None,
        "speed": "fast",
        "failed": 3,
        "on_gpu": "yes",
    }
    path.write_text(
        json.dumps(odd) + "\n" + json.dumps({"schema": 1, "event": "hint", "day": 13, "tier": "2"}) + "\n"
    )
    progress = journal.fold(journal.read(path).records)[13]
    assert not progress.done
    assert progress.hints == 0


def test_a_journal_that_cannot_be_read_is_one_clear_error(path: Path) -> None:
    path.mkdir()
    with pytest.raises(TrackError, match="journal cannot be read"):
        journal.read(path)


def test_a_full_disk_is_an_error_and_no_silence() -> None:
    with pytest.raises(OSError, match="No space left"):
        journal.append(Path("/dev/full"), "started", 1)


def test_a_record_keeps_the_verdict_in_short(path: Path) -> None:
    checks = (Check("imports", "passed"), Check("correct[n=1]", "failed"), Check("edges", "not reached"))
    journal.append(
        path, "graded", 13, **journal.summary(verdict("failed", checks=checks, sha256="abc", seconds=1.23456))
    )
    (record,) = journal.read(path).records
    assert record["at"].endswith("+00:00")
    del record["at"]
    assert record == {
        "schema": 1, "event": "graded", "day": 13, "status": "failed",
        "device": "cpu", "on_gpu": False,
        "failed": "correct[n=1]", "sha256": "abc", "seed": 4021, "seconds": 1.235, "speed": None,
    }  # fmt: skip


def folded(path: Path, *events: tuple[str, dict[str, object]]) -> journal.Progress:
    for event, facts in events:
        journal.append(path, event, 13, **facts)  # type: ignore[arg-type]
    return journal.fold(journal.read(path).records)[13]


def graded(status: str, device: str = "cpu", only: str | None = None) -> tuple[str, dict[str, object]]:
    return ("graded", journal.summary(verdict(status, device), only))


def test_a_day_is_new_then_started_then_not_yet_then_done(path: Path) -> None:
    assert journal.Progress().state == "new"
    assert folded(path, ("started", {})).state == "started"
    assert folded(path, graded("unstarted")).state == "started"
    assert folded(path, graded("unstarted")).gradings == 0
    assert folded(path, graded("failed")).state == "not yet"
    assert folded(path, graded("passed")).state == "done on CPU"
    assert folded(path, graded("passed", "NVIDIA H200")).state == "done on GPU"


def test_a_pass_outlives_a_later_failure_and_a_reset(path: Path) -> None:
    progress = folded(path, graded("passed"), graded("failed"), ("reset", {}))
    assert progress.state == "done on CPU"
    assert progress.last == ""


def test_limits_are_kept_and_make_no_pass_less(path: Path) -> None:
    limit = Limit("int32_overflow", "edges[n=9-walked]", "line 9 counts pid * BLOCK in int32")
    journal.append(path, "graded", 13, **journal.summary(verdict(limits=(limit,))))
    journal.append(path, "graded", 13, **journal.summary(verdict("failed")))
    made = journal.fold(journal.read(path).records)[13]
    assert (made.done, made.limits) == (True, 1)
    journal.append(path, "graded", 13, **journal.summary(verdict()) | {"limits": 7})
    assert journal.fold(journal.read(path).records)[13].limits == 0


def test_one_case_alone_never_counts_as_a_pass(path: Path) -> None:
    progress = folded(path, ("started", {}), graded("passed", only="n=1"))
    assert progress.state == "started"
    assert progress.gradings == 0


def test_a_reset_closes_the_hints_again(path: Path) -> None:
    assert folded(path, ("hint", {"tier": 1}), ("hint", {"tier": 2})).hints == 2
    assert folded(path, ("reset", {})).hints == 0


def test_the_diagnosis_that_was_left_to_the_hint_is_that_of_the_last_grading(path: Path) -> None:
    standing = Hunt((Hunted("standing"),), changed=1, ours=2)
    failed = verdict("failed", checks=(Check("correct[n=4]", "failed"),), diagnosis="3x.", hunt=standing)
    assert journal.summary(failed)["untold"] == "3x."
    assert "untold" not in journal.summary(verdict("failed", diagnosis="3x."))
    told = []
    for event, facts in (("graded", journal.summary(failed)), ("hint", {"tier": 1}), ("reset", {})):
        journal.append(path, event, 13, **facts)  # type: ignore[arg-type]
        told.append(journal.untold(journal.read(path).records, 13, last_hint=False))
    assert told == ["3x.", "3x.", ""]
    assert journal.untold(journal.read(path).records, 14, last_hint=False) == ""


def test_the_current_day_is_the_one_started_last_whichever_is_graded(path: Path) -> None:
    assert journal.current(journal.read(path).records) is None
    journal.append(path, "started", 1)
    journal.append(path, "started", 13)
    journal.append(path, "graded", 1, status="failed")
    journal.append(path, "solution", 13)
    assert journal.current(journal.read(path).records) == 13


def test_a_measured_speed_outlasts_a_predicted_one(path: Path) -> None:
    predicted, measured = {"evidence": "predicted", "of_copy": 0.9}, {"evidence": "measured", "of_copy": 0.8}
    assert folded(path, ("graded", {"status": "passed", "speed": predicted})).speed == predicted
    assert folded(path, ("graded", {"status": "passed", "speed": measured})).speed == measured
    assert folded(path, ("graded", {"status": "passed", "speed": predicted})).measured
