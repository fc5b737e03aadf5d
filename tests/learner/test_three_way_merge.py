"""Two changes to one text: both kept, or none."""

from __future__ import annotations

import pytest

from grader.course.learner.three_way_merge import merged

BEFORE = b"def f():\n    # TODO\n    pass\n\n\ndef g():\n    return 1\n"


@pytest.mark.parametrize(
    ("mine", "theirs", "both"),
    [
        (b"    pass\n", b"    pass\n", BEFORE),
        (b"    return 2\n", b"    pass\n", BEFORE.replace(b"    pass\n", b"    return 2\n")),
        (b"    pass\n", b"    return 2\n", BEFORE.replace(b"    pass\n", b"    return 2\n")),
        (b"    return 2\n", b"    return 2\n", BEFORE.replace(b"    pass\n", b"    return 2\n")),
        (b"    return 2\n", b"    return 3\n", None),
        (b"", b"    return 3\n", None),
    ],
)
def test_what_one_side_changed_is_taken_and_what_both_did_is_not(
    mine: bytes, theirs: bytes, both: bytes | None
) -> None:
    sides = [BEFORE.replace(b"    pass\n", side) for side in (mine, theirs)]
    assert merged(sides[0], BEFORE, sides[1]) == both


def test_changes_in_two_places_come_together() -> None:
    mine = BEFORE.replace(b"    pass\n", b"    y = 1\n    return y\n")
    theirs = b"import torch\n\n" + BEFORE.replace(b"return 1", b"return 2")
    both = b"import torch\n\n" + mine.replace(b"return 1", b"return 2")
    assert merged(mine, BEFORE, theirs) == both == merged(theirs, BEFORE, mine)


def test_changes_that_touch_are_one_and_clash() -> None:
    mine, theirs = BEFORE.replace(b"# TODO", b"# done"), BEFORE.replace(b"    pass\n", b"    return 2\n")
    assert merged(mine, BEFORE, theirs) is None


@pytest.mark.parametrize("empty", [b"", b"no newline at its end"])
def test_an_empty_or_unended_text_is_one_too(empty: bytes) -> None:
    assert merged(empty, empty, empty) == empty
    assert merged(empty + b"x", empty, empty) == empty + b"x"
    assert merged(b"mine", b"", b"theirs") is None
