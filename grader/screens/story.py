"""The words between the commands of `track tour`."""

from __future__ import annotations

from grader.catalog import Day
from grader.screens.terminal import Terminal, typed

NOT_YET, BROKEN, SOLVED, STATUS = (
    "Its kernel still has every TODO. What does the grader say to that?",
    "A first try at the four TODOs. One of these lines is wrong:",
    "The hint sits: the kernel is to add one. Mended:",
    "One day done. The summary:",
)


def opening(terminal: Terminal, day: Day) -> None:
    """Says what is going to happen, and that it touches nothing."""
    terminal.line(
        ("One round of Triton Track", "bold"), ", for real, in a scratch folder: nothing of yours is touched."
    )
    terminal.line(f"Every day hands out a lesson and a kernel with TODOs. Day {day.number} goes like this.")


def note(terminal: Terminal, words: str, code: str = "") -> None:
    """A line of the story, and what was written into kernel.py."""
    terminal.line()
    terminal.line(("> " if not terminal.unicode else "▌ ", "cyan"), (words, "bold"))
    if code:
        terminal.line()
        terminal.block(code)


def command(terminal: Terminal, words: str) -> None:
    """A command as if it were typed now."""
    terminal.line()
    terminal.line(("$ ", "dim"), (typed(words), "bold cyan"))


def closing(terminal: Terminal) -> None:
    """Ends with the command that starts the learner's own first day."""
    note(
        terminal,
        "That is the whole loop: start, grade, read why, mend, pass. The scratch folder is gone again.",
    )
    terminal.next("track start 1", "your own day 1")
