"""The page that the extra profile_report makes: of a report from an H200, and of a trace written by hand."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course import catalog

DAY = next(day for day in catalog.course() if day.stem == "profile_report")
REPORT = Path(__file__).parent / "ncu_h200.csv"  # ncu --csv --page raw --metrics …, of Nsight Compute 2025.3
LIMITERS = (
    *("memory", "too little", "too little", "uncoalesced", "uncoalesced", "too little", "memory", "spills"),
    *("compute", "memory", "too little", "too little", "spills"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The solution as a learner has it, beside what comes with it."""
    shutil.copy(DAY.solution, tmp_path / "kernel.py")
    for path in DAY.provided.glob("*.py"):
        shutil.copy(path, tmp_path)
    return tmp_path


def page(folder: Path, report: str, *more: str) -> str:
    """What the program writes of a report."""
    (folder / "report").write_text(report, encoding="utf-8")
    command = [sys.executable, "kernel.py", "report", "page.html", *more]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "page.html").read_text(encoding="utf-8")


def test_a_report_of_nsight_compute_says_what_limits_each_kernel(folder: Path) -> None:
    html = page(folder, REPORT.read_text("utf-8"))
    rows = [row for row in html.split("<tr>") if "_kernel</td>" in row]
    assert len(rows) == len(LIMITERS)
    for row, limiter in zip(rows, LIMITERS, strict=True):
        assert limiter in row, row
    assert "<td>matmul_kernel</td><td>195.8</td><td>1034</td><td>21</td><td>compute" in html
    assert html.count("<circle") == 10  # the transposes and the last sums count no operations


def test_of_a_trace_the_bytes_are_given(folder: Path) -> None:
    event = {"cat": "kernel", "name": "axpy_kernel", "dur": 100.6, "args": {"est. achieved occupancy %": 72}}
    html = page(folder, json.dumps({"traceEvents": [event]}), "4800", "989", "axpy_kernel=402653184")
    assert "<td>axpy_kernel</td><td>100.6</td><td>4002</td><td>83</td><td>memory (no counters)" in html
