"""What a class hands in is read file by file; what cannot be graded gets a line, and the rest is read."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import zipfile
from pathlib import Path
from typing import Any

import pytest

from grader.course import catalog
from grader.errors import BadSubmission, TrackError
from grader.grading.cohort.submission import Submission, Trouble, chosen
from grader.grading.cohort.submission_formats import read
from grader.grading.precheck import LARGEST

KERNEL = b"import triton\n"


def given(items: Any) -> tuple[list[tuple[str, str]], list[str]]:
    """Who handed in which day, and in words what is not graded and looks like work."""
    items = list(items)
    files = [(one.id, str(one.day.key)) for one in items if isinstance(one, Submission)]
    return files, [f"{one.where}: {one.problem}" for one in items if isinstance(one, Trouble) and one.work]


def folder(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(KERNEL)
    return root


def packed(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def lines(path: Path, *records: Any) -> str:
    with path.open("wb") as file:
        for record in records:
            file.write(record if isinstance(record, bytes) else json.dumps(record).encode())
            file.write(b"\n")
    return str(path)


FORMS = (
    "ann/day01.py",
    "bob/Day 2 final.py",
    "cy/my-track/day13_fused_softmax/kernel.py",
    "dora/day35_complete_flash_attention/kernel.py",
    "eve/extras/rope/kernel.py",
    "fay/rope.py",
)
FOUND = [("ann", "1"), ("bob", "2"), ("cy", "13"), ("dora", "35"), ("eve", "rope"), ("fay", "rope")]


def test_a_folder_a_learner(tmp_path: Path) -> None:
    folder(
        tmp_path,
        *FORMS,
        "dora/day35_complete_flash_attention/tiles.py",
        "ann/.track/day02.py",
        "ann/notes.txt",
    )
    assert given(read(str(tmp_path)).items) == (FOUND, [])


def test_a_zip_of_one_learner_bears_their_name(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    path = packed(tmp_path / "class" / "ann.zip", **{"homework/day01.py": KERNEL, "day02.py": KERNEL})
    assert given(read(str(tmp_path / "class")).items) == ([("ann", "1"), ("ann", "2")], [])
    path = packed(tmp_path / "bob.zip", **{"day01.py": KERNEL, "day02/kernel.py": KERNEL})
    assert given(read(str(path)).items) == ([("bob", "1"), ("bob", "2")], [])


def test_json_lines_from_a_file_and_from_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = lines(tmp_path / "a.jsonl", *({"id": id, "day": day, "source": "x"} for id, day in FOUND), b"")
    assert given(read(path).items) == (FOUND, [])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(path).read_bytes())))
    assert given(read("-").items) == (FOUND, [])


def test_a_bad_line_is_named_and_the_next_is_read(tmp_path: Path) -> None:
    good = {"id": "ann", "day": 1, "source": "x"}
    bad: dict[Any, str] = {
        b"{": "it is no JSON",
        b"\xff\x00\x7f": "it is no JSON",
        b"[" * 100_000: "it is no JSON",
        b'{"id": "ann"}': 'it is no {"id"',
        b'{"id": "ann", "day": true, "source": "x"}': "day is a number",
        b'{"id": "ann", "day": 99, "source": "x"}': "There is no day 99",
        b'{"id": "ann", "day": 0, "source": "x"}': "The warm-up is not graded",
        b'{"id": "ann", "day": 1, "source": "\\ud800"}': "half of a character",
        b'{"id": "../../ann", "day": 1, "source": "x"}': "the name has a /: write it with",
        b'{"id": "a\\u200en", "day": 1, "source": "x"}': "the name has an invisible U+200E",
        b'{"id": "a\\udcffn", "day": 1, "source": "x"}': "the name is not in UTF-8",
        b'{"id": "a\\u0007n", "day": 1, "source": "x"}': "invisible U+0007",
        b'{"id": "=HYPERLINK()", "day": 1, "source": "x"}': "a name begins with",
        b'{"id": "", "day": 1, "source": "x"}': "1 to 100 characters",
        b'{"id": 7, "day": 1, "source": "x"}': "a name is a text",
        json.dumps(good | {"source": "x" * (LARGEST + 1)}).encode(): "more than 1,000,000 bytes",
    }
    path = lines(tmp_path / "a.jsonl", *(line for one in bad for line in (one, good)))
    files, troubles = given(read(path).items)
    assert files == [("ann", "1")] * len(bad)
    for number, (said, wanted) in enumerate(zip(troubles, bad.values(), strict=True)):
        assert said.startswith(f"line {2 * number + 1}: ")
        assert wanted in said


def test_bad_files_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    folder(
        tmp_path,
        "ann/day01.py",
        "ann/day77.py",
        "bob/notes.py",
        "<b>eve/day01.py",
        "stray_day.py",
        ".x/day01.py",
    )
    (tmp_path / "ann" / "day02.py").symlink_to("/etc/passwd")
    (tmp_path / "cy").symlink_to(tmp_path / "ann")
    os.mkfifo(tmp_path / "ann" / "day03.py")
    with (tmp_path / "ann" / "day04.py").open("wb") as file:
        file.truncate(100_000_000)
    (tmp_path / "dora.zip").write_bytes(b"PK\x03\x04 torn")
    files, troubles = given(read(str(tmp_path)).items)
    assert files == [("ann", "1")]
    wanted = {
        "ann/day02.py": "links are not followed",
        "ann/day03.py": "no plain file",
        "ann/day04.py": "more than 1,000,000 bytes",
        "ann/day77.py": "There is no day 77",
        "bob": "nothing is graded",
        "cy": "it is a link",
        "dora.zip": "it cannot be read",
        "<b>eve/day01.py": "a name begins with",
        "stray_day.py": "names no learner",
    }
    assert {one.partition(": ")[0] for one in troubles} == set(wanted)
    assert all(wanted[one.partition(": ")[0]] in one for one in troubles)


def test_a_zip_cannot_lead_out_of_itself_nor_grow_without_end(tmp_path: Path) -> None:
    names = ("../ann/day01.py", "/etc/day01.py", "C:/x/day01.py", "ann/../../day01.py", "ann\\..\\day01.py")
    bad = {name: KERNEL for name in names} | {"bob/inner.zip": b"PK", "bob/day05.py": b"0" * 100_000_000}
    path = packed(tmp_path / "class.zip", **bad, **{"ann/day01.py": KERNEL})
    files, troubles = given(read(str(path)).items)
    assert files == [("ann", "1")]
    assert sum("leads out of the zip" in one for one in troubles) == len(names)
    assert "bob/inner.zip: it cannot be read: File is not a zip file" in troubles
    assert sum("more than 1,000,000 bytes" in one for one in troubles) == 1


def test_what_holds_a_kernel_but_is_none_is_named(tmp_path: Path) -> None:
    folder(
        tmp_path,
        *(
            "ann/day01.py",
            "ann/day01.ipynb",
            "ann/DAY02.PY",
            "bob/day03.ipynb",
            "bob/day04.txt",
            "cy/all.tar.gz",
        ),
        *("dora.7z", "eve.rar", "notes.txt", "day05.ipynb", "Day 6 final/day06.py"),
        *("fay/" + "x/" * 30 + "day07.py",),
    )
    (tmp_path / "class.ZIP").write_bytes(packed(tmp_path / "z.zip", **{"day08.ipynb": KERNEL}).read_bytes())
    (tmp_path / "z.zip").unlink()
    files, troubles = given(read(str(tmp_path)).items)
    assert files == [("ann", "1"), ("ann", "2"), ("fay", "7")]
    assert sorted(troubles) == [
        "Day 6 final/day06.py: its path names no learner",
        "bob/day03.ipynb: it is no Python file, as day03.py is",
        "bob/day04.txt: it is no Python file, as day04.py is",
        "class.ZIP/day08.ipynb: it is no Python file, as day08.py is",
        "cy/all.tar.gz: it is packed, and not as a zip: unpack it",
        "day05.ipynb: its path names no learner",
        "dora.7z: it is packed, and not as a zip: unpack it",
        "eve.rar: it is packed, and not as a zip: unpack it",
    ]


def test_what_goes_away_while_it_is_read_is_named(tmp_path: Path) -> None:
    items = read(
        str(folder(tmp_path, "ann/day01.py", "ann/day02.py", "ann/old/day03.py", "bob/day01.py"))
    ).items
    next(items)
    (tmp_path / "ann" / "day02.py").unlink()
    shutil.rmtree(tmp_path / "ann" / "old")
    files, troubles = given(items)
    assert files == [("bob", "1")]
    assert troubles == [
        f"{name}: it cannot be read: No such file or directory"
        for name in ("ann/day02.py", "ann/old/day03.py")
    ]


def test_links_and_locks_in_a_zip_are_named(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("ann/day01.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("bob/day01.py", KERNEL)
    locked = (tmp_path / "class.zip").read_bytes().replace(b"\x14\x00\x00\x00", b"\x14\x00\x01\x00")
    assert given(read(str(tmp_path / "class.zip")).items) == (
        [("bob", "1")],
        ["ann/day01.py: it is a link, and links are not followed"],
    )
    (tmp_path / "class.zip").write_bytes(locked)
    assert given(read(str(tmp_path / "class.zip")).items)[1][1:] == ["bob/day01.py: it asks for a password"]


@pytest.mark.parametrize("name", ["day01.py", "class.ipynb", "class.tar.gz"])
def test_a_file_of_another_kind_is_refused_at_once(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadSubmission, match="neither a folder, nor a zip, nor JSON lines"):
        read(str(folder(tmp_path, name) / name))


def test_what_is_no_cohort_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadSubmission, match="cannot be read"):
        read(str(tmp_path / "nothing"))
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(BadSubmission, match="no stdin"):
        read("-")


def test_a_file_says_how_much_of_it_is_read(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "a.jsonl", *({"id": f"a{n}", "day": 1, "source": "x" * 50_000} for n in range(20))
    )
    shares = [one.share for one in read(path).items if isinstance(one, Submission)]
    assert shares[-1] == 1.0
    assert shares == sorted(shares, key=lambda share: share or 0)


def test_days_are_chosen_by_spans_and_names() -> None:
    assert {day.key for day in chosen("8-10, 20,rope")} == {8, 9, 10, 20, "rope"}
    for text in ("", "99", "40-50"):
        with pytest.raises(TrackError):
            chosen(text)
    assert catalog.find("8") in chosen("8-8")
