"""The page of `track show`: SVG pictures of who touches what, in one file that opens offline."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from grader.catalog import Day

TEMPLATE = Path(__file__).with_name("picture.html")
WRAP = 64  # columns of a vector's picture
CELLS = 8192  # of one picture, beyond which only the first are drawn


def page(day: Day, path: Path, parts: list[dict[str, Any]]) -> str:
    """The whole page.

    Args:
        parts: as judge/traced.py gives them.
    """
    source = path.read_text(encoding="utf-8", errors="replace").splitlines()
    title = f"Day {day.number} · {day.title}"
    launches = [_drawn(part, launch) for part in parts for launch in part["launches"]]
    # In a script element nothing but `</` could end it early.
    data = json.dumps({"launches": launches, "source": source}).replace("</", "<\\/")
    text = TEMPLATE.read_text(encoding="utf-8")
    return text.replace("{{title}}", escape(title)).replace("{{data}}", data)


def _drawn(part: dict[str, Any], launch: dict[str, Any]) -> dict[str, Any]:
    """One launch with the size of each tensor's picture."""
    touched = {step["tensor"] for program in launch["programs"] for step in program["steps"]}
    tensors = [
        {"name": name, "shape": tensor["shape"], **_size(tensor["shape"], tensor["stride"])}
        for name, tensor in launch["tensors"].items()
        if name in touched
    ]
    return {
        "title": f"{part['entry']}() · {part['case']} · {launch['kernel']}",
        "grid": launch["grid"],
        "tensors": tensors,
        "programs": launch["programs"],
    }


def _size(shape: list[int], stride: list[int]) -> dict[str, int]:
    """Columns and cells of a tensor as it lies in memory: a row of the picture is a row of the tensor."""
    span = sum((n - 1) * step for n, step in zip(shape, stride, strict=True)) + 1
    rows = [step for n, step in zip(shape, stride, strict=True) if n > 1 and step > 1]
    columns = min(rows, default=WRAP)
    return {"columns": columns if columns <= 4 * WRAP else WRAP, "cells": min(span, CELLS), "of": span}
