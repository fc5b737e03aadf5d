"""The magics: a cell is a kernel file, and what is shown is what a terminal shows."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("IPython")

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from grader import notebook
from grader.course import catalog
from grader.course.learner import journal, workspace

DAY = catalog.days()[0]
SKELETON = DAY.skeleton.read_text(encoding="utf-8")
UNREADABLE = "def broken(:\n"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("TRACK_HOME", str(tmp_path / "my-track"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    made = InteractiveShell.instance(config=Config({"HistoryManager": {"hist_file": ":memory:"}}))
    notebook.load_ipython_extension(made)
    yield made
    InteractiveShell.clear_instance()


def shown(shell: Any, cell: str) -> str:
    """A cell's output, less its colours."""
    with capture_output() as captured:
        shell.run_cell(cell).raise_error()
    assert captured.stderr == "", "all is said in the output"
    rich = [one.data.get("text/html") or one.data["text/markdown"] for one in captured.outputs]
    return "".join([*rich, re.sub(r"\x1b\[[\d;]*m", "", captured.stdout)])


def kernel() -> Path:
    found = workspace.find()
    assert found
    return found.kernel(DAY)


def test_a_cell_is_the_days_kernel_and_its_verdict_is_the_terminals(shell: Any) -> None:
    page = shown(shell, f"%%grade 1\n{SKELETON}")
    assert kernel().read_text() == f"\n{SKELETON}"
    assert "Nothing to grade yet." in page
    assert "Next: %%grade 1 " in page, "the next command as a cell has it"
    assert "once the cell is changed" in page
    assert "%hint 1" in page
    found = workspace.find()
    assert found
    assert next(record["event"] for record in journal.read(found.journal).records) == "started"


def test_a_failure_has_the_line_of_the_cell(shell: Any) -> None:
    page = shown(shell, f"%%grade day 1\n{UNREADABLE}")
    assert "kernel.py:2" in page, "the first is %%grade"
    assert "Not yet" in page


def test_work_from_a_terminal_goes_to_the_trash_and_a_cells_does_not(shell: Any) -> None:
    for text in (UNREADABLE, f"{UNREADABLE}\n\n"):
        shown(shell, f"%%grade 1\n{text}")
    found = workspace.find()
    assert found
    assert not (found.hidden / "trash").exists()
    kernel().write_text("mine = 1\n")
    shown(shell, f"%%grade 1\n{UNREADABLE}")
    assert [path.read_text() for path in found.hidden.glob("trash/*/*/kernel.py")] == ["mine = 1\n"]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%%grade 99\nx = 1", "There is no day 99"),
        ("%%grade\nx = 1", "No day was started here"),
        ("%track nosuch", 'There is no command "nosuch".'),
        ("%lesson 99", "There is no day 99"),
        ("%show 99", "There is no day 99"),
        ("%status", "0 of 35 days done"),
        ("%lesson 1", "Next: %start 1"),
        ("%track watch", "`watch` is for terminals."),
        ("%%track python --cpu\nprint(2 + 3)", "5\n"),
        ("%%track grade\nx = 1", "`python` alone takes a cell"),
    ],
)
def test_every_command_answers(shell: Any, cell: str, words: str) -> None:
    assert words in shown(shell, cell)


def test_an_interrupt_ends_the_command_and_what_it_started(
    shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forever = SKELETON + "\n\nwhile True:\n    pass\n"
    # To this thread: another could take the signal, and a read that waits here would go on.
    timer = threading.Timer(6.0, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored behind a shell
    timer.start()
    with capture_output() as captured:
        result = shell.run_cell(f"%%grade 1 --cpu\n{forever}")
    timer.join()
    signal.signal(signal.SIGINT, before)
    assert isinstance(result.error_in_exec, KeyboardInterrupt), "the cells below do not run"
    assert captured.stdout.rstrip().endswith("Interrupted.")
    assert "Stopped. Nothing was recorded" in captured.stdout
    strays = subprocess.run(
        ["pgrep", "-f", str(tmp_path)], capture_output=True, text=True, check=False
    ).stdout
    assert strays == ""
