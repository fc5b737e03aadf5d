"""Whatever a class hands in: each file is graded, or has a reason why not."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from grader.course import catalog
from grader.grading.cohort.submission import Trouble
from grader.grading.cohort.submission_formats import read

HIDDEN = {".git", "__MACOSX", ".DS_Store"}
FOLDERS = st.sampled_from(
    (
        "ann",
        "bob",
        "my-track",
        ".git",
        "__MACOSX",
        "day13_fused_softmax",
        "rope",
        "days",
        "grader",
        "b\u202ea",
    )
)
NAMES = st.sampled_from(
    (
        "day13.py",
        "day13 (1).py",
        "kernel.py",
        "version.py",
        "day12.ipynb",
        "README.md",
        ".DS_Store",
        "x\x1b.py",
    )
)
TREES = st.dictionaries(
    st.builds(lambda folders, name: "/".join((*folders, name)), st.lists(FOLDERS, max_size=4), NAMES),
    st.sampled_from((b"1", b"2", catalog.find("12").solution.read_bytes())),
    min_size=1,
    max_size=12,
)


@given(TREES, TREES)
def test_each_file_is_in_one_list_which_a_zip_and_a_folder_share(
    tree: dict[str, bytes], packed: dict[str, bytes]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place, "class")
        (root / "eve").mkdir(parents=True)
        with zipfile.ZipFile(root / "eve" / "work.zip", "w") as archive:
            for name, content in packed.items():
                archive.writestr(name, content)
        for name, content in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        shutil.make_archive(str(root), "zip", root)
        one, other = (list(read(f"{place}/{name}").items) for name in ("class", "class.zip"))
    told = [(item.where, item.problem if isinstance(item, Trouble) else item.id) for item in one]
    assert told == [(item.where, item.problem if isinstance(item, Trouble) else item.id) for item in other]
    places = [where for where, _ in told]
    assert len(places) == len(set(places))
    every = {*tree, *(f"eve/work.zip/{name}" for name in packed)}
    assert {name for name in every if not HIDDEN & set(name.split("/"))} <= set(places)
