"""The page that the extra profile_report makes, of a report and of a trace that were written by hand."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course import catalog

DAY = next(day for day in catalog.course() if day.stem == "profile_report")
COLUMNS = {
    "ID": ("", "0"),
    "Kernel Name": ("", "transpose_kernel<float>"),
    "dram__bytes_read.sum": ("Mbyte", "268.44"),
    "dram__bytes_write.sum": ("Kbyte", "268,440"),
    "gpu__time_duration.sum": ("usecond", "1,119.70"),
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": ("%", "9.0"),
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": ("%", "10.0"),
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio": ("sector", "16"),
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio": ("sector", "32"),
    "sm__warps_active.avg.pct_of_peak_sustained_active": ("%", "88.0"),
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": ("inst", "67,108,864"),
}


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


def test_a_report_of_nsight_compute_has_a_row_and_a_point(folder: Path) -> None:
    rows = [COLUMNS, [unit for unit, _ in COLUMNS.values()], [value for _, value in COLUMNS.values()]]
    table = "\n".join(",".join(f'"{word}"' for word in row) for row in rows)
    html = page(folder, f"==PROF== Connected to process 4711\n{table}\n")
    assert (
        "<td>transpose_kernel&lt;float&gt;</td><td>1119.7</td><td>479</td><td>9</td><td>uncoalesced" in html
    )
    assert html.count("<circle") == 1


def test_of_a_trace_the_bytes_are_given(folder: Path) -> None:
    event = {"cat": "kernel", "name": "axpy_kernel", "dur": 100.6, "args": {"est. achieved occupancy %": 72}}
    html = page(folder, json.dumps({"traceEvents": [event]}), "4800", "989", "axpy_kernel=402653184")
    assert "<td>axpy_kernel</td><td>100.6</td><td>4002</td><td>83</td><td>memory (no counters)" in html
