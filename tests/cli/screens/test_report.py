"""The page of `track report`: what it tells, and how a browser shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.cli.benchmark.results import Point, Result
from grader.cli.screens.bench import curves
from grader.cli.screens.report import page, plots
from grader.course import catalog
from grader.course.learner.journal import Progress
from tests.shown import FAINT
from tools.sitecheck import Page

GPU = "NVIDIA H200"


def speed(evidence: str = "measured", ratio: float = 1.5) -> dict[str, Any]:
    return {"evidence": evidence, "ratio": ratio, "yours_us": 100.0, "needed_us": 100.0 * ratio}


def results(day: int | str, entry: str, dtype: str, sizes: tuple[int, ...], *names: str) -> list[Result]:
    found = []
    for size in sizes:
        point = Point(
            day, f"{entry}/{size}", entry, "forward", str(size), dtype, {"n": size}, size == sizes[-1], 75.0
        )
        found += [Result(point, GPU, name, "s", 80.0 * (1 + place)) for place, name in enumerate(names)]
    return found


BENCH = [
    *results(13, "softmax", "fp16", (512, 1024, 2048), "yours", "ours", "eager", "compile", "liger"),
    *results("rope", "rope", "bf16", (256, 4096), "yours", "ours"),
    *results(7, "transpose", "fp32", (8192,), "yours"),
]
FULL = {
    1: Progress(started=True, gradings=1, on_cpu=True),
    7: Progress(started=True, gradings=4, on_cpu=True, on_gpu=True, speed=speed()),
    13: Progress(started=True, gradings=9, on_gpu=True, speed=speed(ratio=4.0)),
    17: Progress(started=True, gradings=2, last="slow", speed=speed("predicted", 1.1)),
    18: Progress(started=True, gradings=0, speed={"ratio": "fast"}),
    "rope": Progress(started=True, gradings=1, on_gpu=True, speed=speed()),
}


def test_the_page_tells_days_speeds_and_gradings() -> None:
    text = page(FULL, BENCH)
    assert f"<b>3 of {len(catalog.days())}</b>days done" in text
    assert "<b>2</b>of them on a GPU" in text
    assert "<b>17</b>gradings" in text
    assert "100 µs measured, 1.50× the speed that is needed<" in text
    assert "100 µs predicted, 1.10× the speed that is needed<" in text
    assert "Rotary position embedding" in text


def test_a_page_before_the_first_day_has_no_empty_plots() -> None:
    text = page({}, ())
    assert "<b>0 of 35</b>" in text
    assert "Benches" not in text
    assert "<svg" not in text


def test_curves_have_two_sizes_or_more_and_right_values_alone() -> None:
    found = curves([*BENCH, *results(4, "axpy", "fp32", (8, 16), "yours")])
    assert list(found) == [
        "Day 13 · softmax() over n · fp16",
        "rope · rope() over n · bf16",
        "Day 4 · axpy() over n · fp32",
    ]
    assert [share for *_, share in found["Day 13 · softmax() over n · fp16"]["ours"]] == [75 / 160] * 3
    alone = plots(BENCH)
    assert all(title in alone for title in list(found)[:2])
    assert 'content="track bench"' in alone
    assert plots(BENCH[-1:]) == ""


def test_the_page_asks_for_nothing_and_each_picture_has_words(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(page(FULL, BENCH), encoding="utf-8")
    told = Page(path)
    assert (told.loaded, told.links, told.mute, told.headings, told.lang) == ([], [], [], 1, "en")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_readable_on_a_phone_and_a_desktop(
    browser: Any, tmp_path: Path, width: int, theme: str
) -> None:
    path = tmp_path / "report.html"
    path.write_text(page(FULL, BENCH), encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=theme, offline=True)
    shown = context.new_page()
    asked: list[str] = []
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(path.as_uri())
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.evaluate(FAINT) == []
    back = shown.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    assert back == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 23, 27)"}[theme]
    letters = "[...document.querySelectorAll('svg.plot text')].map(one => one.getBoundingClientRect().height)"
    assert min(shown.evaluate(letters)) >= 8
    assert asked == [path.as_uri()]
    context.close()
