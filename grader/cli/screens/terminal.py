"""What the screen at hand can show: colours, marks, width, Unicode. Piped output is plain and wide."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from grader.course import catalog
from grader.errors import pasted
from grader.printable_names import visible

# A cell or a line is made of plain strings and (string, style) pairs.
Part = str | tuple[str, str]
# What to type next, and a word on it.
Next = tuple[str, str]

MARKS = {
    "passed": ("✓", "ok", "green"),
    "limit": ("✓*", "ok*", "green"),
    "failed": ("✗", "FAIL", "bold red"),
    "slow": ("✗", "SLOW", "bold yellow"),
    "crashed": ("✗", "CRASH", "bold red"),
    "timeout": ("✗", "TIMEOUT", "bold red"),
    "inconclusive": ("?", "?", "yellow"),
    "not reached": ("-", "-", "dim"),
    "not measured": ("-", "-", "dim"),
    "running": ("▸", ">", "cyan"),
    "noted": ("!", "!", "yellow"),
    "new": ("·", ".", "dim"),
}
SPELLED = {
    "·": "*", "–": "-", "—": "-", "…": "...", "→": "->", "←": "<-", "▸": ">", "✓": "ok", "✗": "FAIL",
    "µ": "u", "μ": "u", "×": "x", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "√": "sqrt", "∞": "inf",
    "−": "-", "⌈": "ceil(", "⌉": ")", "’": "'", "“": '"', "”": '"', "σ": "sigma", "α": "alpha",
    "β": "beta", "π": "pi", "∑": "sum", "Σ": "sum", "∈": "in", "⋅": "*", "│": "|", "─": "-", "┌": "+",
    "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+", "█": "#", "░": ".",
    "▲": "^", "▼": "v", "►": ">", "▶": ">", "⇒": "=>", "′": "'", "◄": "<", "•": "*", "≡": "==",
    "∘": "*", "δ": "delta", "±": "+-", "÷": "/", "⁄": "/", "‖": "||", "∂": "d", "⊕": "+", "ε": "eps",
    "γ": "gamma", "ρ": "rho", "Φ": "Phi", "Π": "prod", "‾": "~", "⋮": ":", "╌": "-", "┄": "-", "┊": "|",
    "║": "|", "╭": "+", "╮": "+", "╯": "+", "╰": "+", "╱": "/", "╲": "\\", "╳": "X", "⟋": "/", "▌": "|",
    "▓": "%", "▒": "+", "■": "#", "▪": "o", "◪": "/", "●": "o", "◀": "<", "⌊": "floor(", "⌋": ")",
    "═": "=", "▁": "_", "▂": ".", "▄": "o", "▆": "O",
}  # fmt: skip
# Else a separator would be read as a product: every other dot is one.
HEADING = re.compile(r"^(#* ?(?:Day \d+|Week \d+|Extras?)) · ", re.MULTILINE)
NARROWEST = 18  # columns of a cell that is still read as one
WIDE = 10_000  # columns of a pipe, where nothing wraps
# They drive a terminal, or turn the direction of writing.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def counted(number: int, what: str) -> str:
    """`1 day`, `1,204 days`."""
    return f"{number:,} {what}{'s' * (number != 1)}"


class Terminal:
    """A stream that people read.

    Attributes:
        live: someone watches it, so lines may be redrawn.
        unicode: it can show more than ASCII.
        lines: printed so far.
        gap: a blank line comes before whatever is printed next.
    """

    def __init__(self, stream: TextIO, width: int | None = None) -> None:
        self.stream = stream
        self.lines, self.gap = 0, False
        self.live = stream.isatty() and os.environ.get("TERM") != "dumb"
        self.unicode = (stream.encoding or "").lower().replace("-", "") == "utf8" and os.environ.get(
            "TERM"
        ) != "dumb"
        wide = None if stream.isatty() else WIDE
        self.console = Console(file=stream, width=width or wide, highlight=False, markup=False, emoji=False)

    def _begin(self, blank: bool = False) -> None:
        if self.gap and not blank:
            self.console.print()
        self.gap, self.lines = False, self.lines + 1

    def line(self, *parts: Part, indent: int = 0) -> None:
        """Prints one line; on a narrow terminal it wraps and keeps its indent."""
        text = self.text(*parts)
        self._begin(not text)
        if self.console.width >= WIDE or not text:
            self.console.print(" " * indent if text else "", text, sep="", soft_wrap=True)
        else:
            self.console.print(Padding(text, (0, 0, 0, indent), expand=False))

    def whole(self, *parts: Part, indent: int = 0) -> None:
        """Prints one line that must stay one, such as a link or code: the terminal alone may wrap it."""
        self._begin()
        self.console.print(" " * indent, self.text(*parts), sep="", soft_wrap=True)

    def block(self, text: str, indent: int = 4, style: str = "") -> None:
        """Prints text that has its own line breaks, such as code."""
        for line in text.splitlines():
            self.whole((line, style), indent=indent)

    def table(self, rows: Sequence[Sequence[Part]], indent: int = 2) -> None:
        """Prints rows with aligned columns and no trailing blanks.

        What does not fit goes on below its own cell; where no room is left for that, rows go without columns.
        """
        room = self.console.width - indent
        aligned = [(self.text(*row[:-1]), self.text(*row[-1:])) for row in self.aligned(rows)]
        wide = [head.cell_len for head, last in aligned if head.cell_len + last.cell_len > room]
        fits = not wide or max(wide) <= room - NARROWEST
        for row, (head, last) in zip(rows, aligned, strict=True):
            if fits:
                self._hung(head, last, indent, head.cell_len)
            else:
                cells = [self.text(cell) for cell in row]
                words = Text("  ").join(cell for cell in cells if cell.plain.strip())
                self._hung(Text(), words, indent, 2)

    def _hung(self, head: Text, last: Text, indent: int, hang: int) -> None:
        """Prints a line whose other lines, where it wraps, begin `hang` columns further. A path stays one."""
        self._begin()
        room, wraps = max(self.console.width - indent - hang, 1), self.console.width < WIDE
        pieces = list(last.wrap(self.console, room)) if wraps and " " in last.plain else [last]
        for place, piece in enumerate(pieces):
            piece.rstrip()
            before = Text(" " * indent) + (Text(" " * hang) if place else head)
            self.console.print((before + piece) if head or piece else "", soft_wrap=True)

    def aligned(self, rows: Sequence[Sequence[Part]]) -> list[list[Part]]:
        """The rows with every cell but a row's last one padded to its column's width."""
        rows = [_unpadded(row) for row in rows]
        widths: dict[int, int] = {}
        for row in rows:
            for column, cell in enumerate(row[:-1]):
                widths[column] = max(widths.get(column, 0), self.text(cell).cell_len)
        out: list[list[Part]] = []
        for row in rows:
            padded: list[Part] = []
            for column, cell in enumerate(row[:-1]):
                padded += [cell, " " * (widths[column] + 2 - self.text(cell).cell_len)]
            out.append([*padded, *row[-1:]])
        return out

    def text(self, *parts: Part) -> Text:
        pairs = [(part, "") if isinstance(part, str) else part for part in parts]
        return Text.assemble(*((self.clean(words), style) for words, style in pairs))

    def mark(self, outcome: str) -> tuple[str, str]:
        """✓ or ok, ✗ or FAIL: a sign that needs no colour to be told apart."""
        sign, word, style = MARKS[outcome]
        return (sign if self.unicode else word, style)

    @property
    def dot(self) -> str:
        """What stands between the parts of a line; spelled, it would be read as a product."""
        return " · " if self.unicode else " - "

    def clean(self, words: str) -> str:
        """`words` without what could drive a terminal, and in ASCII where it can show nothing else."""
        words = (
            CONTROLS.sub(lambda one: visible(one[0]), words.expandtabs(4)).encode("utf-8", "replace").decode()
        )
        return words if self.unicode else spell(words)

    @contextlib.contextmanager
    def paged(self, lines: int) -> Iterator[None]:
        """What is printed meanwhile goes through $PAGER, where someone watches and the screen is too short.

        Args:
            lines: how many it has at least.
        """
        if not (self.live and self.stream is sys.stdout and lines > self.console.height):
            yield
            return
        os.environ.setdefault("LESS", "-R")  # colours as colours
        with self.console.pager(styles="NO_COLOR" not in os.environ):
            yield

    def next(self, command: str, when: str = "") -> None:
        """Prints the last line of a screen: the command to type next."""
        self.line()
        self.command(("Next: ", "bold"), command, when)

    def command(self, label: Part, command: str, when: str = "", indent: int = 0) -> None:
        """Prints a command as one line, to be pasted; what is said of it goes below if there is no room."""
        parts = label, (typed(command), "bold cyan")
        if self.text(*parts, f"   {when}").cell_len + indent <= self.console.width:
            return self.line(*parts, f"   {when}" if when else "", indent=indent)
        self.whole(*parts, indent=indent)
        if when:
            self.line(when, indent=indent + 2)


def _unpadded(row: Sequence[Part]) -> list[Part]:
    """The row without empty cells at its end."""
    cells = list(row)
    while cells and cells[-1] in ("", ("", ""), ("", "dim")):
        cells.pop()
    return cells


def spell(words: str) -> str:
    """`words` in ASCII: µs as us, → as ->, 10⁴ as 10^4, é as e, and ? for what has no spelling."""
    if words.isascii():
        return words
    runs = groupby(HEADING.sub(r"\1 - ", words), _script)
    spelled = "".join(SPELLED.get(letter, letter) for script, run in runs for letter in (script, *run))
    plain = (letter for letter in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(letter))
    return "".join(SPELLED.get(letter, letter) for letter in plain).encode("ascii", "replace").decode()


def _script(letter: str) -> str:
    """^ for a superscript, _ for a subscript."""
    kind = unicodedata.decomposition(letter).partition(" ")[0]
    return {"<super>": "^", "<sub>": "_"}.get(kind, "")


def typed(command: str) -> str:
    """`command` as this person has to type it: `track`, `./track` or `python -m grader`."""
    if not command.startswith("track"):
        return command
    return (os.environ.get("TRACK_COMMAND") or _program()) + command.removeprefix("track")


def lasting() -> str:
    """The same for a shell's start-up file, which is read in any folder."""
    named = typed("track")
    places = [
        place
        for place in (catalog.ROOT / "track", Path(sys.executable).with_name("track"))
        if place.is_file()
    ]
    return pasted(places[0]) if named != "track" and places else "track"


def told(words: str) -> str:
    """A message with its commands, which stand in backticks, as this person has to type them."""
    return re.sub(r"`(track [^`]+)`", lambda command: f"`{typed(command[1])}`", words)


def _program() -> str:
    """`track` where the shell finds it; the launcher by its path where only that is there."""
    if Path(sys.argv[0]).name == "__main__.py":
        return "python -m grader"
    launcher = catalog.ROOT / "track"
    if not launcher.is_file() or any((Path(p) / "track").is_file() for p in os.get_exec_path()):
        return "track"
    path = os.path.relpath(launcher)
    return pasted(path if os.sep in path else f"./{path}")


def near(path: Path) -> str:
    """`path` from the current folder where it lies below it, else in full."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def examples(*lines: str) -> str:
    """An epilog that click prints line by line."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
