"""The words between the commands of `track tour`."""

from __future__ import annotations

from grader.cli.screens.terminal import Terminal, typed

NOT_YET, BROKEN, SOLVED = (
    "A kernel that turns a vector round; where it reads is a TODO. What does the grader say to that?",
    "A first try at the TODO:",
    "One element too far. Mended:",
)


def opening(terminal: Terminal) -> None:
    """Says what is going to happen, and that it touches nothing."""
    terminal.line(
        ("One round of Triton Track", "bold"), ", for real, in a scratch folder: nothing of yours is touched."
    )
    terminal.line("Every day hands out a lesson and a kernel with TODOs. This warm-up is none of the days.")


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
