"""What people look at: pages, files for learners, tables for other programs, and their commands."""

from __future__ import annotations

import csv
import json
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli.commands import track
from grader.cli.screens import cohort_feedback, cohort_pages
from grader.course import catalog
from grader.errors import TrackError
from grader.grading.cohort import report
from grader.grading.cohort.likeness import alike
from grader.grading.cohort.store import Conditions, Store, reading
from grader.grading.cohort.submission import Submission, Trouble
from grader.verdict import Check, SpeedResult, Status, Verdict

HERE = Conditions("0.1.0+abc", "2.13.0", "3.7.1", "cpu", True)
OWN = """
def f(x):
    total = 7
    for k, row in enumerate(x):
        total += row[k] * (k - 7) // 2
    return total
"""
EVE = "Eve <script>alert(1)<script> & co"
SPEED = SpeedResult("predicted", 50.0, 100.0, 0.0, 40.0, 0.8, 0.0, "3×", 2.0, (2.0, 2.0), 0, gpu="H200")


@pytest.fixture
def cohort(tmp_path: Path) -> Path:
    """Five learners: two alike, one with HTML for a name, one whose file waits."""
    handed: list[tuple[str, int, str, Status | None]] = [
        ("ann", 1, OWN, "passed"),
        ("bob", 1, OWN.replace("total", "mine").replace("7", "8  # <b>"), "passed"),
        ("bob", 2, "x", "failed"),
        ("cy", 2, "y", "failed"),
        (EVE, 13, "z", "slow"),
        ("dora", 13, "w", None),
    ]
    with Store(tmp_path / "cohort.db", HERE) as kept:
        for id, key, source, status in handed:
            where = f"{id}_12_assignsubmission_file_/{key}.py" if id == "ann" else ""
            submission = Submission(id, catalog.find(str(key)), source.encode(), where=where)
            sha256 = kept.hand_in(submission)
            if status:
                checks = (
                    Check("imports", "passed"),
                    Check("correct[n=1]", "passed" if status == "passed" else "failed"),
                )
                said = (
                    ""
                    if status == "passed"
                    else f"The mask of `{source}` is missing on line {len(id)}: <b>look</b>."
                    if id != "bob"
                    else f"the mask of `{source}` is missing: <b>look</b>."
                )
                speed = SPEED if status == "passed" else None
                verdict = Verdict(key, status, 1, HERE.gpu, {}, checks, speed, said, sha256=sha256)
                kept.keep(verdict)
        kept.note(Trouble("../<i>.zip", "it is a <torn> zip"))
    return tmp_path / "cohort.db"


class Reader(HTMLParser):
    """Which elements and addresses a page has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [
            value or "" for name, value in attrs if name in ("src", "href") or name.startswith("on")
        ]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_pages_ask_nobody_for_anything_and_run_nothing(cohort: Path) -> None:
    with reading(cohort) as db:
        shared = cohort_pages.Report("A & B", "1 May", [EVE], {(EVE, "13"): "feedback/a b.txt"}, alike(db))
        pages = [cohort_pages.of_class(db, shared), cohort_pages.leaderboard(db, shared)]
        pages += [cohort_pages.feedback(shared), cohort_pages.side_by_side(shared.alike[0], shared)]
    for page in pages:
        found = Reader(page)
        assert found.open == []
        assert not [address for address in found.addresses if ":" in address]
        assert "A &amp; B · 1 May · Triton Track" in page
        assert found.tags.isdisjoint({"script", "i", "b", "torn", "link", "img", "iframe"})
        assert "url(" not in page
    assert all("Eve &lt;script&gt;alert(1)&lt;script&gt; &amp; co" in page for page in pages[:3])


def test_the_class_page_says_who_is_where_and_what_stops_them(cohort: Path) -> None:
    with reading(cohort) as db:
        page = cohort_pages.of_class(db, cohort_pages.Report("", "1 May"))
        common, days = report.mistakes(db), report.by_day(db)
    assert "4 learners" not in page
    assert "5 learners, 6 files handed in, 2 of them passed." in page
    assert [(one.learners, one.days) for one in common] == [(3, "2, 13")], "names and lines set nothing apart"
    assert [(one.day, one.handed_in, one.passed, one.stopped, one.waiting) for one in days] == [
        ("1", 2, 2, 0, 0),
        ("2", 2, 0, 2, 0),
        ("13", 2, 0, 1, 1),
    ]
    assert page.index("Day 2 · ") < page.index("Day 1 · "), "the day that stops most comes first"
    assert "it is a &lt;torn&gt; zip" in page


def test_the_leaderboard_ranks_by_passes_then_by_score(cohort: Path) -> None:
    with reading(cohort) as db:
        standings, fastest = report.standings(db), report.fastest(db)
    assert [(one.place, one.id) for one in standings][:3] == [(1, "ann"), (1, "bob"), (3, EVE)]
    assert standings[0].score == pytest.approx(0.8 + 0.2 * 50 / 60)
    assert [(one.day, one.id, one.evidence) for one in fastest] == [("1", "ann", "predicted")]


def test_a_learner_gets_back_what_the_terminal_would_have_shown(cohort: Path, tmp_path: Path) -> None:
    out = tmp_path / "feedback"
    with reading(cohort) as db:
        cohort_feedback.write(db, out)
    shown = (out / "bob" / "day02.txt").read_text(encoding="utf-8")
    assert "✗  correct" in shown
    assert "Next: ./track grade 2" in shown
    names = ["ann_12_assignsubmission_file_", "bob", "cy", "Eve _script_alert(1)_script_ & co"]
    assert sorted(folder.name for folder in out.iterdir()) == sorted(names)
    assert "ann_12_assignsubmission_file_/day01.txt" in zipfile.ZipFile(out.with_suffix(".zip")).namelist()


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("Ann Lee_12_assignsubmission_file_/day13.py", "Ann Lee_12_assignsubmission_file_/day13.txt"),
        ("Ann Lee_12_assignsubmission_file/a.zip/day13.py", "Ann Lee_12_assignsubmission_file/day13.txt"),
        ("Ann Lee_12_assignsubmission_file_day13.py", "Ann Lee_12_assignsubmission_file_/day13.txt"),
        ("leeann_LATE_12_345_day13-1.py", "Ann Lee/leeann_LATE_12_345_day13.txt"),
        ("leeann_12_345_all.zip/my-track/day13/kernel.py", "Ann Lee/leeann_12_345_day13.txt"),
        ("LATE_anon_x7Kq_345_day13.py", "Ann Lee/LATE_anon_x7Kq_345_day13.txt"),
        ("submission_1002/day13.py", "Ann Lee/day13.txt"),
    ],
)
def test_feedback_has_the_name_that_the_hand_in_came_with(place: str, path: str) -> None:
    assert str(cohort_feedback.path_of("Ann Lee", catalog.find("13"), place)) == path


def test_no_folder_is_given_to_two(tmp_path: Path) -> None:
    with Store(tmp_path / "cohort.db", HERE) as kept:
        for id in ("Ann", "ann", "a?", "a*"):
            sha256 = kept.hand_in(Submission(id, catalog.find("1"), id.encode()))
            kept.keep(Verdict(1, "crashed", 1, HERE.gpu, {}, sha256=sha256))
    with reading(tmp_path / "cohort.db") as db:
        written = cohort_feedback.write(db, tmp_path / "feedback")
    assert len({str(path).casefold() for path in written.values()}) == 4


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_table_has_a_row_for_each_submission(cohort: Path, tmp_path: Path, form: str) -> None:
    path = tmp_path / f"results.{form}"
    shown = CliRunner().invoke(track, ["cohort", "export", str(path), "--db", str(cohort)])
    assert "6 rows" in shown.output
    if form == "csv":
        rows = list(csv.DictReader(path.open(encoding="utf-8")))
    else:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert Verdict.from_json(rows[0]["verdict"]).status == "slow"
    assert [(row["id"], row["day"], row["status"] or None) for row in rows][:3] == [
        (EVE, "13", "slow"),
        ("ann", "1", "passed"),
        ("bob", "1", "passed"),
    ]
    assert float(rows[1]["score"]) > 0.9


def test_the_commands_show_and_write_it(cohort: Path, tmp_path: Path) -> None:
    def typed(*words: str) -> str:
        return (
            CliRunner().invoke(track, ["cohort", *words, "--db", str(cohort)], catch_exceptions=False).output
        )

    assert "grades the 1 that is missing" in typed("status")
    assert json.loads(typed("status", "--json"))["days"][1]["stopped"] == 2
    assert "is missing: <b>" in typed("show", "bob", "2")
    assert "bob" in typed("show", "bo")
    assert "Passed" in typed("show", "12", "1")  # in the path, as Moodle writes it
    assert '"o" can be 4 learners' not in typed("show", "o", "13")
    assert json.loads(typed("show", "bob", "2", "--json"))["status"] == "failed"
    assert "5 files in feedback/" in typed("pages", str(tmp_path / "report"))
    assert (tmp_path / "report" / "class.html").is_file()


def test_what_is_not_there_is_said(cohort: Path, tmp_path: Path) -> None:
    for words in (
        ["show", "nobody", "1", "--db", str(cohort)],
        ["show", "dora", "13", "--db", str(cohort)],
        ["status", "--db", str(tmp_path / "no.db")],
        ["export", "results.xls", "--db", str(cohort)],
    ):
        with pytest.raises(TrackError):
            CliRunner().invoke(track, ["cohort", *words], catch_exceptions=False, standalone_mode=False)


def test_two_databases_are_told_apart(cohort: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "after.db", HERE) as kept:
        for id, source, status in (("bob", "x", "passed"), ("cy", "y", "failed"), ("fay", "z", None)):
            sha256 = kept.hand_in(Submission(id, catalog.find("2"), source.encode()))
            if status:
                kept.keep(Verdict(2, status, 1, HERE.gpu, {}, sha256=sha256))  # type: ignore[arg-type]

    def typed(*words: str) -> str:
        return CliRunner().invoke(track, ["cohort", "diff", *words], catch_exceptions=False).output

    both = str(cohort), str(tmp_path / "after.db")
    assert "Verdicts that differ: 6" in typed(*both)
    assert "wrong → passed" in typed(*both)
    found = {
        one["id"]: (one["before"], one["after"]) for one in json.loads(typed(*both, "--json"))["changes"]
    }
    assert "cy" not in found
    assert (found["dora"], found["fay"]) == (("waiting", None), (None, "waiting"))
    assert "Verdicts that differ: 0" in typed(both[0], both[0])
