"""Nobody is lost, nothing wrong is graded: each file that was handed in is graded, or has a reason."""

from __future__ import annotations

import io
import json
import os
import shutil
import time
import zipfile
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli import cohort
from grader.cli.commands import track
from grader.course import catalog
from grader.errors import TrackError
from grader.grading.cohort import archive_entries, layouts
from grader.grading.cohort.layouts import PATTERNS
from grader.grading.cohort.submission import Submission, Trouble, chosen
from grader.grading.cohort.submission_formats import HandIn, read

Files = Mapping[str, bytes]
NOON = time.mktime((2026, 4, 26, 12, 0, 0, 0, 0, -1))


def solution(day: int | str) -> bytes:
    return catalog.find(str(day)).solution.read_bytes()


def zipped(files: Files, minutes: Mapping[str, int] | None = None) -> bytes:
    """A zip whose files were changed so many minutes after NOON."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in files.items():
            at = time.localtime(NOON + 60 * (minutes or {}).get(name, 0))
            archive.writestr(zipfile.ZipInfo(name, at[:6]), content)
    return written.getvalue()


def folder(root: Path, files: Files, minutes: Mapping[str, int] | None = None) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (NOON, NOON + 60 * (minutes or {}).get(name, 0)))
    return root


def lists(found: HandIn) -> tuple[dict[str, str], dict[str, str]]:
    """By path whose and which day's is graded, and why another is not, with a ! where it looks like work."""
    items = list(found.items)
    graded = {one.where: f"{one.id} {one.day.key}" for one in items if isinstance(one, Submission)}
    left = {one.where: one.problem + "!" * one.work for one in items if isinstance(one, Trouble)}
    return graded, left


def sent(path: Path, files: Files, **options: str) -> tuple[str, dict[str, str]]:
    """The layout of a zip of `files`, and what of it is graded."""
    path.write_bytes(zipped(files))
    found = read(str(path), **options)
    return found.layout, lists(found)[0]


ASSIGN = "assignsubmission_file"
METADATA = b"""submission_1002:
  :submitters:
  - :name: Ann Smith
    :sid: '111'
    :email: ann@uni.edu
  - :name: Bo Lee
    :sid: 222
  :created_at: 2026-04-26 17:34:00.861687000 Z
  :results:
    output: |-
      :submitters: none
  :history:
  - :created_at: 2026-04-25 09:00:00.000000000 Z
submission_1003:
  :submitters: []
"""
SYSTEMS = {
    "moodle": {
        f"Smith, Ann_12345_{ASSIGN}_/day13.py": "Smith, Ann 13",
        f"Müller, Jörg_12346_{ASSIGN}/hw/day12.py": "Müller, Jörg 12",
        f"Lee, Bo_12347_{ASSIGN}_/a.zip": "",
        f"Kim, Cy_12348_{ASSIGN}_day 11 final.py": "Kim, Cy_12348 11",
        f"Kim, Cy_12399_{ASSIGN}_day11.py": "Kim, Cy_12399 11",
        f"Default group_{ASSIGN}_/day10.py": "Default group 10",
        "Roe, Di_12351_assignsubmission_onlinetext_/onlinetext.html": "",
    },
    "canvas": {
        "smithann_12345_678910_day13.py": "smithann_12345 13",
        "müllerjörg_LATE_12346_678911_day13-1.py": "müllerjörg_12346 13",
        "o_brienbo_12347_678912_day_12.py": "o_brienbo_12347 12",
        "anon_x7Kq2_678913_day13.py": "anon_x7Kq2 13",
        "LATE_anon_Aa1_678914_day13.py": "anon_Aa1 13",
        "roedi_12348_text.html": "",
    },
    "gradescope": {
        "assignment_77_export/submission_metadata.yml": "",
        "assignment_77_export/submission_1002/day13.py": "ann@uni.edu 13",  # and 222's
        "assignment_77_export/submission_1003/day13/kernel.py": "submission_1003 13",
        "assignment_77_export/submission_1004/day12.py": "submission_1004 12",
    },
    "classroom": {
        "hw-1-submissions/hw-1-ann-s/my-track/day13_fused_softmax/kernel.py": "ann-s 13",
        "hw-1-submissions/hw-1-bob/day13.py": "bob 13",
    },
    "plain": {
        "week 2/ann/day13.py": "ann 13",
        "week 2/ann/bob/day12.py": "ann 12",
        "week 2/huber/huber.py": "huber huber",
        "week 2/bob.zip": "",
        "week 2/cy/my-track/rope/kernel.py": "cy rope",
    },
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_system_is_recognised_and_read_by_its_names(name: str, tmp_path: Path) -> None:
    contents = {"zip": zipped({"hw/day09.py": b"9"}), "yml": METADATA}
    files = {path: contents.get(path.rpartition(".")[2], b"import triton\n") for path in SYSTEMS[name]}
    within = {"moodle": f"Lee, Bo_12347_{ASSIGN}_/a.zip", "plain": "week 2/bob.zip"}.get(name)
    wanted = {path: whose for path, whose in SYSTEMS[name].items() if whose}
    if within:
        wanted[f"{within}/hw/day09.py"] = "Lee, Bo 9" if name == "moodle" else "bob 9"
    assert sent(tmp_path / "class.zip", files) == (name, wanted)
    assert sent(tmp_path / "class.zip", files, layout=name) == (name, wanted)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "class.zip").write_bytes((tmp_path / "class.zip").read_bytes())
    layout, graded = read(str(tmp_path / "in")).layout, lists(read(str(tmp_path / "in")))[0]
    assert (layout, graded) == (name, {f"class.zip/{path}": whose for path, whose in wanted.items()})


def test_gradescope_says_who_handed_in_together_and_when(tmp_path: Path) -> None:
    files = {"submission_metadata.yml": METADATA + b"#" * 2_000_000, "submission_1002/day13.py": b"x"}
    items = [one for one in read(str(folder(tmp_path, files))).items if isinstance(one, Submission)]
    at = datetime(2026, 4, 26, 17, 34, tzinfo=timezone.utc)
    assert [(one.id, one.when) for one in items] == [("222", at), ("ann@uni.edu", at)]


def test_a_regular_expression_says_whose_a_file_is_and_when(tmp_path: Path) -> None:
    files = {
        "ps1_ann_attempt_2026-01-30-15-00-10_13.py": b"x",
        "ps1_ann_attempt_2026-01-31-15-00-10_13.py": b"y",
    }
    pattern = r".*_(?P<learner>\w+)_attempt_(?P<time>[0-9\-]+)_(?P<day>\w+)\.py"
    found = read(str(folder(tmp_path, files)), match=pattern)
    graded, left = lists(found)
    assert (found.layout, graded) == ("match", {"ps1_ann_attempt_2026-01-31-15-00-10_13.py": "ann 13"})
    assert list(left.values()) == ["older than ps1_ann_attempt_2026-01-31-15-00-10_13.py, which is graded"]
    for wrong, told in (("(", "no regular expression"), ("(.*)", "no group named learner")):
        with pytest.raises(TrackError, match=told):
            read(str(tmp_path), match=wrong)


SKELETON = catalog.find("13").skeleton.read_bytes()
WORK, CLONE = "my-track/day13_fused_softmax/kernel.py", {"grader/version.py": b"", "days/x/kernel.py": b""}
# What a learner handed in, the minute of each; the days asked for; what is graded; why another one is not.
PICKS: dict[str, tuple[Files, Mapping[str, int], str, dict[str, str], dict[str, str]]] = {
    "a workspace in a clone": (
        {**CLONE, WORK: b"1", "solutions/day13_fused_softmax.py": b"2", "day13.py": b"3"},
        {"day13.py": 9},
        "",
        {WORK: "13"},
        {"day13.py": f"ann/{WORK} is graded: a workspace", "days/x/kernel.py": "the course's own file"},
    ),
    "a workspace by its .track": (
        {"mine/.track/journal.jsonl": b"", "mine/rope/kernel.py": b"1", "rope.py": b"2"},
        {"rope.py": 9},
        "",
        {"mine/rope/kernel.py": "rope"},
        {"mine/.track": "hidden or a cache"},
    ),
    "an untouched skeleton": (
        {WORK: SKELETON, "day13.py": b"1"},
        {},
        "",
        {"day13.py": "13"},
        {WORK: "the skeleton as it was handed out"},
    ),
    "a clone alone": (dict(CLONE), {}, "", {}, {"": "nothing is graded: only the course itself"}),
    "the newest": (
        {"day13.py": b"1", "day13 (1).py": b"2"},
        {"day13.py": 1},
        "",
        {"day13.py": "13"},
        {"day13 (1).py": "older than ann/day13.py"},
    ),
    "of one age the later copy": (
        {"day13.py": b"1", "day13 (2).py": b"2", "day13 (1).py": b"3"},
        {},
        "",
        {"day13 (2).py": "13"},
        {"day13.py": "older than ann/day13 (2).py", "day13 (1).py": "older"},
    ),
    "of two folders": (
        {"a/day13.py": b"1", "b/day13.py": b"2"},
        {"a/day13.py": 1},
        "",
        {"a/day13.py": "13"},
        {"b/day13.py": "older than ann/a/day13.py, which is graded!"},
    ),
    "of one age": (
        {"a/day13.py": b"1", "b/day13.py": b"2", "c/day13.py": b"2"},
        {},
        "",
        {"c/day13.py": "13"},
        {"a/day13.py": "as old as ann/c/day13.py, which is graded!", "b/day13.py": "a copy of ann/c"},
    ),
    "by entry and parameters": ({"kernel.py": solution(12)}, {}, "", {"kernel.py": "12"}, {}),
    "by entry, of other parameters": (
        {"kernel.py": solution(12).replace(b"x: torch.Tensor", b"z: torch.Tensor")},
        {},
        "",
        {},
        {"kernel.py": "nothing says which day it is for: grade it with --days and its day!"},
    ),
    "for one of two days": (
        {"kernel.py": solution(13)},
        {},
        "",
        {},
        {"kernel.py": "it has the functions of day 13 and day 14: grade it with --days 13 or --days 14!"},
    ),
    "for one of two days, of which one is asked": (
        {"kernel.py": solution(13)},
        {},
        "14",
        {"kernel.py": "14"},
        {},
    ),
    "a bare kernel and one day": ({"kernel.py": b"?"}, {}, "13", {"kernel.py": "13"}, {}),
    "another day's kernel": (
        {"kernel.py": solution(12)},
        {},
        "13",
        {},
        {"kernel.py": "--days does not ask for it"},
    ),
    "a name that says nothing": (
        {"softmax.py": solution(12), "helper.py": b""},
        {},
        "",
        {},
        {
            "softmax.py": "it is not named as a day, and has the functions of day 12!",
            "helper.py": "it is not named",
        },
    ),
    "beside a kernel": (
        {"day13/kernel.py": b"1", "day13/tiles.py": b"", "day13/README.md": b"", "day12/softmax.py": b""},
        {},
        "",
        {"day13/kernel.py": "13"},
        {
            "day13/tiles.py": "only kernel.py is graded in a folder of day 13",
            "day13/README.md": "the course's own file",
            "day12/softmax.py": "only kernel.py is graded in a folder of day 12!",
        },
    ),
    "other kinds": (
        {
            "ann_day13.py": b"1",
            "day13.ipynb": b"",
            "day12.ipynb": b"",
            "a.tgz": b"",
            "b.pdf": b"",
            "day77.py": b"",
        },
        {},
        "",
        {"ann_day13.py": "13"},
        {
            "day13.ipynb": "it is no Python file, as day13.py is",
            "day12.ipynb": "it is no Python file, as day12.py is!",
            "a.tgz": "it is packed, and not as a zip: unpack it!",
            "b.pdf": "it is no Python file",
            "day77.py": "There is no day 77: the last one is day 35.!",
        },
    ),
    "the warm-up": (
        {"my-track/day00_warm_up/kernel.py": b"1", "day13.py": b"1"},
        {},
        "",
        {"day13.py": "13"},
        {"my-track/day00_warm_up/kernel.py": "The warm-up is not graded."},
    ),
    "too large": (
        {"day13.py": b" " * 1_000_001},
        {},
        "",
        {},
        {"day13.py": "the file has more than 1,000,000"},
    ),
}


@pytest.mark.parametrize("case", PICKS)
def test_of_what_a_learner_handed_in_the_right_file_is_graded(case: str, tmp_path: Path) -> None:
    files, minutes, days, graded, left = PICKS[case]
    folder(tmp_path / "ann", files, minutes)
    folder(tmp_path / "bob", {"day01.py": b"x"})
    found = lists(read(str(tmp_path), wanted=chosen(days) if days else None))
    assert {path: f"ann {day}" for path, day in graded.items()} == {
        path.removeprefix("ann/"): whose for path, whose in found[0].items() if path.startswith("ann/")
    }
    for path, reason in left.items():
        told = found[1][f"ann/{path}" if path else "ann"]
        assert told.startswith(reason.rstrip("!"))
        assert told.endswith("!") == (reason.endswith("!") or path == "" or case == "too large")


def test_what_came_later_counts_however_old_the_file_in_a_zip_is(tmp_path: Path) -> None:
    old, new = zipped({"day13.py": b"1"}, {"day13.py": 99}), zipped({"day13.py": b"2"})
    folder(tmp_path, {"ann/a/old.zip": old, "ann/b/new.zip": new}, {"ann/b/new.zip": 60})
    (one,) = (one for one in read(str(tmp_path)).items if isinstance(one, Submission))
    assert (one.where, one.when) == (
        "ann/b/new.zip/day13.py",
        datetime.fromtimestamp(NOON + 3600).astimezone(),
    )


@pytest.mark.parametrize(
    "named", ["Smith, Ann_1_assignsubmission_file_/{}", "smithann_LATE_1_10_{}"], ids=layouts.UNDATED
)
def test_a_download_of_moodle_or_canvas_does_not_say_when_a_file_was_handed_in(
    named: str, tmp_path: Path
) -> None:
    files = {named.format(name): b"x" for name in ("day13 (1).py", "day13.py")}
    files[named.format("my.zip").replace("_10_", "_11_")] = zipped({"day12.py": b"x"})
    minutes = {named.format("day13.py"): 9}  # as the zip was written, file by file
    (tmp_path / "all.zip").write_bytes(zipped(files, minutes))
    found = [one for one in read(str(tmp_path / "all.zip")).items if isinstance(one, Submission)]
    assert [one.when for one in found] == [None, None]
    assert [Path(one.where).name for one in found][1].endswith("day13 (1).py")


def test_zips_within_zips_are_read_within_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = zipped({"day01.py": b"x"})
    for _ in range(archive_entries.DEEPEST - 1):
        deep = zipped({"in.zip": deep})
    monkeypatch.setattr(archive_entries, "MOST_BYTES", 100_000)
    folder(
        tmp_path,
        {
            "ann.zip": deep,
            "bob.zip": zipped({"in.zip": deep}),
            "dora.zip": zipped({"big.zip": zipped({"day03.py": b" " * 200_000}), "day04.py": b"x"}),
            "eve.zip": zipped({"day05.py": b"x", "torn.zip": deep[:-9]}),
        },
    )
    graded, left = lists(read(str(tmp_path)))
    assert graded == {
        "ann.zip/in.zip/in.zip/day01.py": "ann 1",
        "dora.zip/day04.py": "dora 4",
        "eve.zip/day05.py": "eve 5",
    }
    assert left == {
        "bob.zip/in.zip/in.zip/in.zip": "it is a zip within 3 others: unpack it!",
        "dora.zip/big.zip": "it is a zip of more than 100,000 bytes within another: unpack it!",
        "eve.zip/torn.zip": "it cannot be read: File is not a zip file!",
    }


def test_names_are_read_that_a_mac_wrote(tmp_path: Path) -> None:
    mac = zipped({"Jörg/day01.py": b"1", "Ann/day01.py": b""}).replace(
        b"\x00\x08\x00\x00", b"\x00\x00\x00\x00"
    )
    (tmp_path / "class.zip").write_bytes(mac)
    assert set(lists(read(str(tmp_path / "class.zip")))[0].values()) == {"Jörg 1", "Ann 1"}


def test_the_command_prints_both_lists_and_says_so(tmp_path: Path) -> None:
    files = {"ann/day13.py": b"1", "ann/b\u202ea\n.txt": b"", "ann/.git/HEAD": b"", "bob/day12.ipynb": b""}
    folder(tmp_path, files)
    typed = ["cohort", "collect", str(tmp_path)]
    shown = CliRunner().invoke(track, typed)
    assert shown.exit_code == 1
    assert "Layout: plain." in shown.output
    assert "2026-04-26 12:00  1      ann/day13.py" in shown.output
    assert "Not graded, and may be work: 1\n  bob/day12.ipynb  it is no Python file" in shown.output
    assert "ann/b\\u202ea\\n.txt  it is no Python file" in shown.output
    assert "1 × hidden or a cache" in shown.output
    document = json.loads(CliRunner().invoke(track, [*typed, "--json"]).output)
    assert document["graded"][0]["path"] == "ann/day13.py"
    assert [one["work"] for one in document["not_graded"]] == [False, False, True]
    shutil.rmtree(tmp_path / "bob")
    assert CliRunner().invoke(track, typed).exit_code == 0


def test_a_layout_has_one_name_everywhere() -> None:
    assert set(cohort.LAYOUTS) == set(PATTERNS)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2026-04-26 17:34:00.861687000 Z", datetime(2026, 4, 26, 17, 34, tzinfo=timezone.utc)),
        ("20260426T1734", datetime(2026, 4, 26, 17, 34).astimezone()),
        ("2016-01-30-15-00-10", datetime(2016, 1, 30, 15, 0, 10).astimezone()),
        ("yesterday", None),
        ("2026-99-99", None),
    ],
)
def test_a_time_is_read_in_the_forms_that_names_have(text: str, wanted: datetime | None) -> None:
    assert layouts.stamp(text) == wanted
