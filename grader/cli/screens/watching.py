"""The few words of `track watch` between two gradings."""

from __future__ import annotations

from pathlib import Path

from grader.cli.screens.terminal import Next, Terminal, near


def cleared(terminal: Terminal) -> None:
    """Makes room for a grading: an empty screen on a terminal, a rule elsewhere."""
    if terminal.live:
        terminal.console.clear()
    else:
        terminal.line("-" * 60)


def waiting(terminal: Terminal, path: Path, keyboard: bool) -> None:
    terminal.line()
    terminal.line(f"Watching {near(path)}: save it to grade again.")
    if keyboard:
        terminal.line(
            "Keys: ",
            ("g", "bold"),
            " grade  ",
            ("h", "bold"),
            " hint  ",
            ("n", "bold"),
            " next day  ",
            ("q", "bold"),
            " quit",
        )
    else:
        terminal.line("Ctrl-C ends it.")


def unknown(terminal: Terminal, key: str) -> None:
    terminal.line(f"{key} is none of the keys.")


def left(terminal: Terminal, recorded: bool, following: Next) -> None:
    """Says that it is over, and whether every finished grading was recorded."""
    terminal.line()
    kept = "every finished grading is recorded" if recorded else "not every grading could be recorded"
    terminal.line(f"Stopped watching; {kept}.")
    terminal.next(*following)
