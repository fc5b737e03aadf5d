"""What the kernels of some extras make of an image: `track show` draws it beside its page."""

from __future__ import annotations

import base64
import importlib
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.cli.screens import image_plot
from grader.course import catalog
from grader.errors import TrackError
from grader.grading import inspection_request
from grader.grading.inspection_request import ask
from grader.grading.warm_client import Warm


def packed(image: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {"shape": list(image.shape), "bytes": base64.b64encode(image.tobytes()).decode()}


def pixels(one: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(one["bytes"]), np.uint8).reshape(one["shape"])


@pytest.fixture(scope="module")
def grayscale(warm: Warm) -> Any:
    """What is drawn of our solution; it takes seconds."""
    day = catalog.find("grayscale")
    return ask(day, day.solution, "show", warm=warm)


def test_an_image_is_there_before_and_after(grayscale: Any) -> None:
    before, after = map(pixels, grayscale[0]["picture"])
    assert before.shape == (96, 144, 3)
    weighted = before.astype(int) @ (77, 150, 29)
    assert np.array_equal(after, (weighted + 128) >> 8)


def test_a_wrong_kernel_is_drawn_as_it_is_and_one_of_another_form_is_not(warm: Warm, tmp_path: Path) -> None:
    day, path = catalog.find("grayscale"), tmp_path / "kernel.py"
    source = day.solution.read_text(encoding="utf-8")
    path.write_text(source.replace(".to(tl.int32)", ""), encoding="utf-8")
    before, after = map(pixels, ask(day, path, "show", warm=warm)[0]["picture"])
    assert after.shape == before.shape[:2]
    assert after.max() == 0  # the sums wrapped, and were shifted by all their bits
    path.write_text(source.replace("torch.empty((height, width)", "torch.empty((height, width + 1)"))
    assert "picture" not in ask(day, path, "show", warm=warm)[0]


def test_a_film_of_24_frames_is_smaller_than_a_megabyte(typed: Any, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    solution = catalog.find("color_patterns").solution
    text = typed(f"show color_patterns --file {solution}")
    film = tmp_path / "color_patterns-image.gif"
    assert "What this kernel draws: color_patterns-image.gif" in text
    assert film.stat().st_size < 1_000_000
    with image.open(film) as opened:
        assert (opened.n_frames, opened.size) == (24, (192, 128))
        opened.seek(23)
        last = np.array(opened.convert("RGB"))
    code = ((2 * np.arange(192) ^ np.arange(128)[:, None]) + 23) & 255
    turns = np.arange(256)[:, None] / 256 + np.arange(3) / 3
    palette = (128 + 127 * np.cos(2 * np.pi * turns)).astype(np.uint8)
    assert np.abs(last.astype(int) - palette[code]).max() <= 1  # fp32 beside fp64


def test_what_is_not_ours_is_not_overwritten_and_ours_is(
    typed: Any, grayscale: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(inspection_request, "ask", lambda *_, **__: deepcopy(grayscale))
    show = f"show grayscale --file {catalog.find('grayscale').solution}"
    picture = tmp_path / "grayscale-image.png"
    picture.write_text("mine")
    assert "grayscale-image.png is not from `track show`, so it stays as it is." in typed(show)
    assert picture.read_text() == "mine"
    picture.unlink()
    for _ in range(2):
        assert "What this kernel draws: grayscale-image.png" in typed(show)
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("count", [1, 2])
def test_without_matplotlib_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    def missing(module: str) -> Any:
        raise ImportError(module)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(TrackError, match="matplotlib, which is missing") as error:
        image_plot.draw([packed(np.zeros((2, 3, 4, 3), np.uint8))] * count)
    assert error.value.fix.endswith("matplotlib")


def test_days_that_draw_nothing_have_no_picture(warm: Warm) -> None:
    day = catalog.find("7")
    assert "picture" not in ask(day, day.solution, "show", warm=warm)[0]
