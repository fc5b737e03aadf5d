"""Markdown on a terminal: prose wraps, code never does, and a drawing that is too wide is shown in parts."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent

from rich.console import Console, ConsoleOptions
from rich.markdown import CodeBlock, Markdown
from rich.syntax import Syntax
from rich.text import Text

from grader.cli.screens.terminal import Terminal

WIDEST = 100  # columns of prose that are pleasant to read
FENCE = "```"
DRAWN = "text"  # what the lessons call a drawing


def markdown(terminal: Terminal, source: str) -> None:
    """Rendered on a terminal, as it is into a pipe."""
    if terminal.live and terminal.unicode:
        page = _Page(source, code_theme="ansi_dark")
        return terminal.console.print(page, width=min(terminal.console.width, WIDEST), crop=False)
    fenced = False
    for line in source.splitlines():
        fenced ^= line.startswith(FENCE)
        (terminal.whole if fenced else terminal.line)(line)


def highlighted(code: str) -> Text:
    """Python in colours, a line as long as it is: what is copied from the screen is what was written."""
    text = Syntax(code, "python", theme="ansi_dark").highlight(code)
    text.no_wrap, text.overflow = True, "ignore"
    return text


class _Code(CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        code = str(self.text).rstrip()
        if self.lexer_name != DRAWN:
            yield highlighted(code)
            return
        for place, part in enumerate(parts(code.splitlines(), console.width)):
            if place:
                yield Text("to the right of it:", "dim italic")
            yield Text("\n".join(part), no_wrap=True, overflow="ignore")


class _Page(Markdown):
    elements = {**Markdown.elements, "fence": _Code, "code_block": _Code}  # noqa: RUF012


def parts(lines: list[str], width: int) -> Iterator[list[str]]:
    """The columns of a drawing in pieces that fit; each cut is where it breaks the fewest words and lines."""
    while max(map(len, lines), default=0) > width:
        columns = range(width, width // 2, -1)
        cut = min(columns, key=lambda column: sum(_harm(line, column) for line in lines))
        yield [line[:cut].rstrip() for line in lines]
        lines = dedent("\n".join(line[cut:].rstrip() for line in lines)).strip("\n").splitlines()
    yield lines


def _harm(line: str, column: int) -> int:
    """What a cut does to a line: nothing in a gap of it or behind its end, most within a word."""
    if len(line) <= column or line[column - 1 : column + 1] == "  ":
        return 0
    return 1 if " " in line[column - 1 : column + 1] else 3
