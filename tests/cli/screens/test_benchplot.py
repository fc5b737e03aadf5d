"""Lines of a plot can be told apart, and its sizes be read."""

from __future__ import annotations

import pytest

from grader.cli.screens.benchplot import _panel, _sizes

PROVIDERS = ("yours", "ours", "fast", "eager", "compile", "cudnn", "efficient", "math", "flex", "liger")


def test_no_two_lines_look_alike() -> None:
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots()
    of_each = {name: [(1.0, "n=1", 0.5), (2.0, "n=2", 0.6)] for name in PROVIDERS}
    _panel(axes, "softmax", of_each)
    drawn = axes.get_lines()[: len(PROVIDERS)]
    assert [line.get_label() for line in drawn] == list(PROVIDERS)
    assert len({line.get_color() for line in drawn}) == len(PROVIDERS)
    others = [line.get_marker() for line in drawn[2:]]
    assert len(set(others)) == len(others)
    assert axes.get_xlabel() == "n"


@pytest.mark.parametrize(
    ("labels", "read"),
    [
        (["m=n=512", "m=n=1024"], ("m=n", ["512", "1024"])),
        (["m=1-n=2", "n=3"], ("", ["m=1-n=2", "n=3"])),
    ],
)
def test_what_sizes_share_stands_once(labels: list[str], read: tuple[str, list[str]]) -> None:
    assert _sizes(labels) == read
