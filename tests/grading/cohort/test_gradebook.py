"""From verdicts and a class file to points: who is on the roster has a row, and a wrong key a kind line."""

from __future__ import annotations

import csv
import hashlib
from datetime import datetime, timezone
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli.commands import track
from grader.course import catalog
from grader.errors import TrackError
from grader.grading.cohort import class_file, roster
from grader.grading.cohort.gradebook import Book, gradebook
from grader.grading.cohort.store import Conditions, Store, reading
from grader.grading.cohort.submission import Submission, Trouble
from grader.verdict import Check, SpeedResult, Status, Verdict

HERE = Conditions("0.1.0+abc", "2.13.0", "3.7.1", "cpu", True)
# Half of the way from the needed 100 µs to the copy's 40.
SPEED = SpeedResult("predicted", 70.0, 100.0, 0.0, 40.0, 0.8, 0.0, "3×", 2.0, (2.0, 2.0), 0, gpu="H200")
ROSTER = """id,First name,Last name,Email address,withdrawn
ann,Ann,Lovelace,ann@x.edu,
777,Cy,Babbage,cy@x.edu,no
,Bob,Byron,bob@x.edu,
dora,Dora,Somerville,dora@x.edu,yes
eve,Eve,Herschel,eve@x.edu,
"""
CLASS = """
roster = "roster.csv"
attempt = "best"
points = {passed = 10, slow = 7, partial = 4, bonus = 2}
weight = {2 = 2}
due = {"1-2" = 2026-10-09T12:00:00Z, 13 = 2026-10-09}
late = {grace = 15, per_day = 10, until = 3}
[[override]]
learner = "Byron, Bob"
day = 2
points = 9
note = "by mail"
"""
Handed = tuple[str, int, Status | None, datetime | None]


def at(day: int, hour: int = 12, minute: int = 0) -> datetime:
    return datetime(2026, 10, day, hour, minute, tzinfo=timezone.utc)


def hand_in(path: Path, *handed: Handed) -> None:
    """One run."""
    with Store(path, HERE) as kept:
        for id, key, status, when in handed:
            source = f"{id} {key} {status} {when}".encode()
            sha256 = kept.hand_in(Submission(id, catalog.find(str(key)), source, when=when))
            if status:
                right = status in ("passed", "slow")
                cases = (
                    Check("correct[n=1]", "passed"),
                    Check("correct[n=2]", "passed" if right else "failed"),
                )
                speed = SPEED if status == "passed" else None
                kept.keep(Verdict(key, status, 1, HERE.gpu, {}, cases, speed, sha256=sha256))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "roster.csv").write_text(ROSTER)
    (tmp_path / "class.toml").write_text(CLASS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def book(folder: Path, now: datetime | None = None) -> Book:
    with reading(folder / "cohort.db") as db:
        return gradebook(db, class_file.read(folder / "class.toml"), now or at(30))


@pytest.mark.parametrize(
    ("handed", "points", "said"),
    [
        (("ann", 1, "passed", at(9)), 11, "passed"),
        (("ann", 1, "passed", at(9, 12, 15)), 11, "passed"),
        (("ann", 1, "slow", at(9, 12, 16)), 6.3, "too slow, 1 day late: 10 % less"),
        (("ann", 1, "failed", at(8)), 1.2, "wrong"),
        (("ann", 1, "failed", at(12)), 0.84, "wrong, 3 days late: 30 % less"),
        (("ann", 1, "passed", at(20)), 0, "passed, 11 days late: 100 % less"),
        (("ann", 2, "passed", at(9)), 22, "passed"),
        (("ann", 1, "passed", None), 11, "passed, time unknown"),
        (("ann", 1, None, at(9)), None, "not graded"),
        (("Babbage, Cy_777", 1, "slow", at(9)), 7, "too slow"),
        (("cybabbage_12345", 1, "slow", at(9)), 7, "too slow"),
        (("BOB@x.edu", 1, "slow", at(9)), 7, "too slow"),
    ],
)
def test_a_hand_in_gets_its_points(handed: Handed, points: float | None, said: str, folder: Path) -> None:
    hand_in(folder / "cohort.db", handed)
    made = book(folder)
    assert made.strangers == []
    found = [(one.points, one.said) for _, grades in made.rows for one in grades if one.said == said]
    assert found == [(points, said)]


def test_everybody_has_a_row_but_who_is_withdrawn(folder: Path) -> None:
    hand_in(
        folder / "cohort.db",
        ("ann", 1, "slow", at(9)),
        ("dora", 1, "passed", at(9)),
        ("ida", 1, "slow", None),
    )
    made, before = book(folder), book(folder, at(1))
    assert [one.name for one, _ in made.rows] == ["Ann Lovelace", "Bob Byron", "Cy Babbage", "Eve Herschel"]
    assert [[grade.points for grade in grades] for _, grades in made.rows] == [
        [7, 0, 0],
        [0, 9, 0],
        [0, 0, 0],
        [0, 0, 0],
    ]
    assert [grade.points for grade in before.rows[3][1]] == [None] * 3
    assert made.strangers == ['Nobody on the roster is called "ida".']


def test_of_several_attempts_the_best_or_the_last_counts_and_an_old_file_keeps_its_time(folder: Path) -> None:
    runs: list[Handed] = [
        ("ann", 1, "slow", at(9)),
        ("ann", 1, "passed", at(14)),
        ("ann", 1, "failed", at(8)),
    ]
    for one in runs:
        hand_in(folder / "cohort.db", one)
    with Store(folder / "cohort.db", HERE) as kept:  # read again, by a clone that has another time
        kept.hand_in(Submission("ann", catalog.find("1"), f"ann 1 slow {at(9)}".encode(), when=at(25)))
    assert book(folder).rows[0][1][0].said == "too slow, the best of 3"
    hand_in(folder / "cohort.db", runs[2])
    assert book(folder).rows[0][1][0].points == 7
    (folder / "class.toml").write_text(CLASS.replace("best", "last"))
    assert book(folder).rows[0][1][0].said == "wrong, the last of 3"


def test_moodle_and_canvas_get_the_columns_that_they_know(folder: Path) -> None:
    hand_in(folder / "cohort.db", ("ann", 1, "slow", at(9)), ("777", 13, "passed", at(9)))

    def typed(*words: str) -> list[list[str]]:
        shown = CliRunner().invoke(track, ["cohort", "gradebook", "g.csv", *words], catch_exceptions=False)
        assert shown.exit_code == 0
        assert "4 learners, 3 days" in shown.output
        return list(csv.reader((folder / "g.csv").open(encoding="utf-8")))

    assert typed()[0] == ["learner", "Day 1", "Day 2", "Day 13", "total", "notes"]
    moodle = typed("--for", "moodle")
    assert moodle[0][:3] + moodle[0][5:6] == ["Email address", "Name", "Day 1", "Day 1 feedback"]
    assert moodle[1][:3] + moodle[1][5:6] == ["ann@x.edu", "Ann Lovelace", "7", "too slow"]
    canvas = typed("--for", "canvas")
    assert canvas[0] == [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        "Day 1",
        "Day 2",
        "Day 13",
    ]
    assert canvas[3] == ["Cy Babbage", "777", "", "", "", "0", "0", "11"]


def test_canvas_knows_by_number_who_is_called_otherwise_and_says_who_is_late(folder: Path) -> None:
    (folder / "roster.csv").write_text('Student,ID,Section\n    Points Possible,,\n"Byron, Ada",7,A\n')
    (folder / "class.toml").write_text(CLASS.partition("[[")[0])
    with Store(folder / "cohort.db", HERE) as kept:
        where = "lovelace_ada_LATE_7_123_day01.py"
        kept.hand_in(Submission("lovelace_ada_7", catalog.find("1"), b"x", where=where))
        kept.keep(Verdict(1, "passed", 1, HERE.gpu, {}, (), sha256=hashlib.sha256(b"x").hexdigest()))
        kept.note(Trouble("lovelace_ada_LATE_7_124_day02.7z", "it is packed"))
    words = ["cohort", "gradebook", "g.csv", "--days", "1"]
    shown = CliRunner().invoke(track, words, catch_exceptions=False)
    assert "1 learner, 1 day" in shown.output
    assert "Not gradable, in the last run: 1." in shown.output
    assert shown.exit_code == 0
    assert (folder / "g.csv").read_text().splitlines()[1:] == [
        '"Byron, Ada",10,10,"day 1: passed, late in Canvas"'
    ]


def test_moodle_needs_an_address_of_everybody(folder: Path) -> None:
    (folder / "roster.csv").write_text('name,email address\nAnn,ann@x.edu\nBob,\n"Li, Cy",\n')
    hand_in(folder / "cohort.db", ("ann", 1, "slow", at(9)))
    for text, told in (('roster = "roster.csv"', "no email address of Bob; Li, Cy"), ("", "names no roster")):
        (folder / "class.toml").write_text(text)
        with pytest.raises(TrackError, match=told):
            CliRunner().invoke(
                track,
                ["cohort", "gradebook", "g.csv", "--for", "moodle"],
                catch_exceptions=False,
                standalone_mode=False,
            )


def test_a_day_without_due_is_named_and_the_next_command_keeps_the_options(folder: Path) -> None:
    (folder / "class.toml").rename(folder / "my class.toml")
    hand_in(folder / "b.db", *((who, key, "slow", at(9)) for who in ("ann", "ida") for key in (1, 14, 4)))
    words = ["gradebook", "g.csv", "--db", "b.db", "--class", "my class.toml", "--for", "moodle"]
    shown = CliRunner().invoke(track, ["cohort", *words], catch_exceptions=False).output
    assert "Handed in, and not in [due]: 4, 14." in shown
    assert "cohort gradebook g.csv --db b.db --class 'my class.toml' --for moodle" in shown
    assert "0 points, because nothing was graded: 10 cells" in shown
    shown = (
        CliRunner().invoke(track, ["cohort", "show", "ann", "--db", "b.db"], catch_exceptions=False).output
    )
    assert shown.index("Day 1 · ") < shown.index("Day 4 · ") < shown.index("Day 14 · ")


def test_a_file_that_came_under_two_names_is_one_attempt_and_of_equals_the_earliest_counts(
    folder: Path,
) -> None:
    for number, (id, when, source) in enumerate(
        [("ann_2", at(14), b"1"), ("ann_1", at(8), b"1"), ("ann_3", at(9), b"2")]
    ):
        with Store(folder / "cohort.db", HERE) as kept:
            sha256 = kept.hand_in(Submission(id, catalog.find("1"), source, when=when))
            kept.keep(Verdict(1, "slow", 1, HERE.gpu, {}, sha256=sha256))
        counted = book(folder).rows[0][1][0]
        assert (
            counted.said
            == ("too slow, 5 days late: 100 % less", "too slow", "too slow, the best of 2")[number]
        )


WRONG = """
titel = "x"
attempt = "first"
points = {passed = "ten", quick = 1}
weight = {99 = 1, 2 = "twice"}
due = {1 = "tomorrow", nothing_such = 2026-10-09}
late = {perday = 1}
override = [{learner = "nobody", day = 1, points = 1, note = "x"}, {learner = "ann"}]
"""


def test_every_wrong_key_has_a_kind_line(folder: Path) -> None:
    (folder / "class.toml").write_text('roster = "roster.csv"' + WRONG)
    with pytest.raises(TrackError) as told:
        class_file.read(folder / "class.toml")
    for line in (
        "class.toml has 13 mistakes:",
        'The file has no key "titel". Did you mean "title"?',
        'The file: attempt must be "best" or "last".',
        "[points]: passed must be a number from 0 on.",
        '[points] has no key "quick". It may have: passed, slow, partial, bonus.',
        '[weight] "99": There is no day 99',
        '[weight] "2" must be a number from 0 on.',
        '[due] "1" must be a date, such as 2026-10-09',
        '[due] "nothing_such": No day is called "nothing_such".',
        '[late] has no key "perday". Did you mean "per_day"?',
        '[[override]] number 1: Nobody on the roster is called "nobody".',
        "[[override]] number 2 lacks note.",
    ):
        assert line in told.value.problem


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("= 1", "cannot be read"),
        (
            'roster = "no.csv"\ntitel = "x"',
            r'has 2 mistakes:[^"]*"titel"[^"]*"title"\?\n .*no.csv cannot be read: No ',
        ),
        ('roster = "class.toml"', "none of the columns"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(text: str, words: str, folder: Path) -> None:
    (folder / "class.toml").write_text(text)
    with pytest.raises(TrackError, match=words):
        class_file.read(folder / "class.toml")


def test_the_example_is_right_and_is_named_where_there_is_no_file(folder: Path) -> None:
    (folder / "class.toml").write_text(class_file.EXAMPLE.read_text(encoding="utf-8"))
    klass = class_file.read(folder / "class.toml")
    assert (klass.best, len(klass.due), klass.points["bonus"], len(klass.learners or ())) == (
        True,
        9,
        2,
        5,
    )
    with pytest.raises(TrackError, match=r"There is no .*other\.toml") as told:
        class_file.read(folder / "other.toml")
    assert "examples/class.toml" in told.value.fix


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            'Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"Li, Kim",42,,kim,A\n',
            ["Li, Kim"],
        ),
        ("\ufeffFirst name;Last name;Email address\nKim;Li;kim@x.edu\n\n", ["Kim Li"]),
        ("username\tSurname\nkim\tLi\n", ["Li"]),
    ],
)
def test_a_roster_comes_as_moodle_or_canvas_export_it(text: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    found = roster.read(tmp_path / "r.csv")
    assert [one.name for one in found] == names
    if names[0] != "Li":
        assert all(roster.find(id, found) for id in ("Li, Kim", "Kim Li", "likim_42_LATE", "Kim Li_7"))


def test_who_could_be_two_is_nobody_until_the_roster_tells(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("name,id\nKim Li,1\nKim Li,2\n")
    found = roster.read(tmp_path / "r.csv")
    assert roster.find("Kim Li_2", found).cells["id"] == "2"
    with pytest.raises(TrackError, match='"Kim Li" could be Kim Li or Kim Li'):
        roster.find("Kim Li", found)
