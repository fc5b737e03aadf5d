"""What a command prints, as HTML that grows line by line, for light and dark, without escape codes."""

from __future__ import annotations

import html

from IPython.display import HTML, display
from rich.ansi import AnsiDecoder
from rich.color import ColorType
from rich.console import Console
from rich.style import Style

from grader.cli.screens.day_as_notebook import as_magics

# Text, background, and a terminal's red, green, yellow, blue, magenta and cyan: 4.5 times as bright or as
# dark as their background, as WCAG 2.2 asks (success criterion 1.4.3).
NAMES = ("text", "back", "1", "2", "3", "4", "5", "6")
LIGHT = ("#1f2328", "#ffffff", "#b3261e", "#1a7032", "#8a5a00", "#0b57d0", "#8430a8", "#00697a")
DARK = ("#e6e6e6", "#16181b", "#ff8a80", "#7ee2a0", "#f2c55c", "#8ab4f8", "#d7a6f0", "#6fd6e8")
# How JupyterLab, Colab and VS Code say that they are dark.
DARK_ONES = 'body[data-jp-theme-light="false"] .track,html[theme="dark"] .track,body.vscode-dark .track'
LOOKS = "color:var(--track-text);background:var(--track-back);padding:.7em 1em;margin:0;white-space:pre-wrap;"
LOOKS += "word-break:normal;overflow-wrap:anywhere;font:13px/1.45 ui-monospace,Menlo,Consolas,monospace"
_CONSOLE = Console(width=10_000)  # what decides where spans begin and end asks for one


class Page:
    """One output of a cell."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.decoder = AnsiDecoder()
        self.handle = display(HTML(""), display_id=True)

    def add(self, line: str) -> None:
        """Shows one more line of a command's output."""
        # What follows a day is its notebook.
        text = self.decoder.decode_line(as_magics(line.replace("%track start", "%track notebook")))
        # Every character has one style: the spans that lie over it, put together.
        segments = text.render(_CONSOLE) if text else []
        self.lines.append("".join(_span(part.text, part.style) for part in segments))
        self.handle.update(HTML(f'{STYLE}<pre class="track">{"<br>".join(self.lines).strip()}</pre>'))


def _span(words: str, style: Style | None) -> str:
    css = _css(style) if style else ""
    return f'<span style="{css}">{html.escape(words)}</span>' if css else html.escape(words)


def _css(style: Style) -> str:
    rules = ["font-weight:600"] if style.bold else []
    rules += ["opacity:.72"] if style.dim else []
    rules += ["font-style:italic"] if style.italic else []
    color = style.color
    if color and color.type == ColorType.STANDARD and color.number is not None and 1 <= color.number % 8 <= 6:
        rules.append(f"color:var(--track-{color.number % 8})")
    return ";".join(rules)


def _variables(colours: tuple[str, ...]) -> str:
    return ";".join(f"--track-{name}:{colour}" for name, colour in zip(NAMES, colours, strict=True))


# Twice the class: JupyterLab has rules of its own for a <pre>, which break lines within words.
STYLE = f"<style>pre.track.track{{{_variables(LIGHT)};{LOOKS}}}{DARK_ONES}{{{_variables(DARK)}}}</style>"
