"""Nothing lost, nothing twice: what goes to the slots, and what is written down."""

from __future__ import annotations

import hashlib
import sqlite3
import tracemalloc
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.course import catalog
from grader.errors import TrackError
from grader.grading.cohort import store
from grader.grading.cohort.course_digest import of_day
from grader.grading.cohort.grading_queue import AHEAD, Feed, Tally
from grader.grading.cohort.store import Conditions, Store, reading
from grader.grading.cohort.submission import Submission, Trouble
from grader.grading.cohort.worker import Outcome
from grader.verdict import Check, Verdict

HERE = Conditions("0.1.0+abc", "2.13.0", "3.7.1", "cpu", True)
DAY = catalog.find("1")


class Played:
    """Slots that grade by looking: a source that says `wrong` is. What is begun ends when it is asked for."""

    slots = 2

    def __init__(self, stop_after: int = 10**9) -> None:
        self.begun: list[bytes] = []
        self.most, self.left = 0, stop_after

    def begin(self, submission: Submission, conditions: Conditions) -> Any:
        self.begun.append(submission.source[:20])
        return len(self.begun), submission

    def ended(self, references: Collection[Any], timeout: float) -> Iterator[tuple[Any, Outcome]]:
        self.most = max(self.most, len(references))
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt
        first = min(references, key=lambda reference: reference[0])
        yield first, self.outcome(first[1])

    def outcome(self, one: Submission) -> Outcome:
        if b"ends" in one.source:
            return {"ended": 3}
        if b"problem" in one.source:
            return {"problem": "no torch"}
        status = "failed" if b"wrong" in one.source else "passed"
        digest = hashlib.sha256(one.source).hexdigest()
        checks = (Check("imports", "passed"), Check("correct[n=1]", "passed"))
        verdict = Verdict(one.day.key, status, 1, HERE.gpu, {}, checks, sha256=digest)  # type: ignore[arg-type]
        return {"verdict": verdict.to_json()}


def run(path: Path, items: Iterable[Any], slots: Played, here: Conditions = HERE) -> Tally:
    with Store(path, here) as kept:
        return Feed(kept, slots, lambda tally: None).all(items)


def some(*sources: str) -> list[Submission]:
    return [Submission(f"ann{n}", DAY, one.encode()) for n, one in enumerate(sources)]


def table(path: Path) -> dict[str, str | None]:
    with reading(path) as db:
        return {one.id: one.status for one in store.results(db)}


def test_identical_sources_are_graded_once(tmp_path: Path) -> None:
    slots = Played()
    tally = run(tmp_path / "c.db", some("a", "a", "wrong", "a"), slots)
    assert slots.begun == [b"a", b"wrong"]
    assert (tally.graded, tally.known) == ({"passed": 1, "failed": 1}, 2)
    assert table(tmp_path / "c.db") == {
        "ann0": "passed",
        "ann1": "passed",
        "ann2": "failed",
        "ann3": "passed",
    }


def test_started_again_it_grades_only_what_is_missing(tmp_path: Path) -> None:
    items, first, second = some(*(f"source {n}" for n in range(20))), Played(stop_after=9), Played()
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "c.db", items, first)
    assert run(tmp_path / "c.db", items, second).known == 8
    assert set(second.begun).isdisjoint(first.begun[:8])
    assert set(table(tmp_path / "c.db").values()) == {"passed"}


def test_under_other_conditions_it_is_graded_anew_and_both_verdicts_stay(tmp_path: Path) -> None:
    for here in (HERE, replace(HERE, gpu="NVIDIA H200"), replace(HERE, strict=False), HERE):
        run(tmp_path / "c.db", some("a"), Played(), here)
    with reading(tmp_path / "c.db") as db:
        assert db.execute("SELECT count(*) FROM verdict").fetchone() == (3,)
        assert len(list(store.results(db))) == 1


def test_a_change_of_one_days_files_grades_that_day_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [Submission("ann", catalog.find(key), f"day {key}".encode()) for key in ("1", "20")]
    run(tmp_path / "c.db", items, Played())
    monkeypatch.setattr(store, "of_day", lambda day: "mended" if day.key == 20 else of_day(day))
    slots = Played()
    assert run(tmp_path / "c.db", items, slots).known == 1
    assert slots.begun == [b"day 20"]


def test_a_new_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    run(tmp_path / "c.db", some("wrong"), Played())
    run(tmp_path / "c.db", some("a"), Played())
    assert table(tmp_path / "c.db") == {"ann0": "passed"}


def test_a_second_file_for_the_same_day_is_named_and_the_first_counts(tmp_path: Path) -> None:
    twice = [Submission("ann", DAY, one) for one in (b"a", b"wrong", b"a")]
    assert run(tmp_path / "c.db", twice, Played()).troubles == 1
    with reading(tmp_path / "c.db") as db:
        assert store.troubles(db) == [
            Trouble("ann", "another file for day 1 was handed in before, and counts")
        ]
    assert table(tmp_path / "c.db") == {"ann": "passed"}


def test_what_ends_its_process_is_reported_and_not_tried_again(tmp_path: Path) -> None:
    run(tmp_path / "c.db", some("ends"), Played())
    slots = Played()
    run(tmp_path / "c.db", some("ends"), slots)
    assert slots.begun == []
    with reading(tmp_path / "c.db") as db:
        verdict, source = store.verdict_of(db, "ann0", "1")
    assert verdict is not None
    assert (verdict.status, verdict.score(), source) == ("crashed", 0.0, b"ends")
    assert "3 times" in verdict.diagnosis


def test_what_is_no_fault_of_the_source_is_tried_again_next_time(tmp_path: Path) -> None:
    assert run(tmp_path / "c.db", some("problem", "a"), Played()).troubles == 1
    assert table(tmp_path / "c.db") == {"ann0": None, "ann1": "passed"}
    slots = Played()
    run(tmp_path / "c.db", some("problem", "a"), slots)
    assert slots.begun == [b"problem"]


def test_a_cohort_of_any_size_is_never_in_memory(tmp_path: Path) -> None:
    slots, number = Played(), 500
    items = (Submission(f"a{n}", DAY, b"%09d" % n * 4000) for n in range(number))  # 18 MB in all
    tracemalloc.start()
    run(tmp_path / "c.db", items, slots)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert slots.most == AHEAD * slots.slots
    assert peak < 2e6
    assert len(table(tmp_path / "c.db")) == number


def test_a_database_has_one_writer_and_any_number_of_readers(tmp_path: Path) -> None:
    with Store(tmp_path / "c.db", HERE), reading(tmp_path / "c.db") as db:
        assert store.troubles(db) == []
        with pytest.raises(TrackError, match="Another run writes"):
            Store(tmp_path / "c.db", HERE)


def test_what_is_no_database_of_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello, this is no database at all" * 40)
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("CREATE TABLE mine (x)")
    for name in ("notes.txt", "other.db"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(TrackError, match="is no"):
            Store(tmp_path / name, HERE)
        with pytest.raises(TrackError, match="is no"), reading(tmp_path / name):
            pass
        assert (tmp_path / name).read_bytes() == before


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    run(tmp_path / "c.db", some(*(f"source {n}" for n in range(200))), Played())
    with (tmp_path / "c.db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)
    with (
        pytest.raises(TrackError, match="cannot be read: database disk image"),
        reading(tmp_path / "c.db") as db,
    ):
        list(store.results(db))


def test_a_database_needs_a_folder_and_is_none(tmp_path: Path) -> None:
    for path, words in ((tmp_path, "is a folder"), (tmp_path / "no" / "c.db", "There is no folder")):
        with pytest.raises(TrackError, match=words):
            Store(path, HERE)
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_no_unicode_can_be_written_down(tmp_path: Path) -> None:
    run(tmp_path / "c.db", [Trouble("b\udcffb\n\x1b[2J", "an id is printable")], Played())
    with reading(tmp_path / "c.db") as db:
        assert store.troubles(db) == [Trouble("b\\udcffb\\n\\x1b[2J", "an id is printable")]
