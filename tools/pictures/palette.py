"""The colours of the pictures, light and dark, and how wide letters are."""

from __future__ import annotations

# Words are 4.5 times as bright or as dark as whatever lies behind them: WCAG 2.2, success criterion 1.4.3.
INK, QUIET = "ink", "quiet"
GROUNDS = {
    "page": ("#ffffff", "#14171c"),
    "memory": ("#eceff3", "#252a32"),
    "chip": ("#e8f1ff", "#13263f"),
    "plain": ("#ffffff", "#1c2129"),
    "in": ("#bcd7ff", "#1d4a86"),
    "out": ("#b9e6c4", "#1c5a38"),
    "now": ("#ffd97a", "#6d4a00"),
    "keep": ("#e0d0fa", "#4f3380"),
    "off": ("#f2f3f5", "#1c2026"),
    "bad": ("#ffcdc7", "#7a2720"),
}
WORDS = {INK: ("#1b1f24", "#f0f3f6"), QUIET: ("#4c5560", "#b4bdc8")}
# Edges and arrows are 3 times as bright or as dark: success criterion 1.4.11.
LINES = {
    "line": ("#4c5560", "#a9b3bf"),
    "load": ("#1f5fbf", "#7db2ff"),
    "store": ("#1b7a3d", "#6fd693"),
    "wrong": ("#b3261e", "#ff9a90"),
    "frame": ("#b54708", "#ffb454"),
}
EDGES = {
    "memory": "line",
    "chip": "load",
    "plain": "line",
    "in": "load",
    "out": "store",
    "now": "line",
    "keep": "line",
    "off": "line",
    "bad": "wrong",
}
SANS = 'system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,"DejaVu Sans",sans-serif'
MONO = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace'

# Widths of DejaVu Sans, the widest font of those above, in parts of the letters' size.
WIDTHS = {"ⱼᵢ": 0.18, "'ijlIJ": 0.29, " ,.·’/:;\\|f-ᵀ": 0.35, "()[]t!r₀₁₂₃²": 0.41, "*_s`z–▸kcvxyP": 0.59}
WIDTHS |= {"&OQw#+<=>~×−≤≥→÷≠∞": 0.84, "M%½W@…—m": 1.0, "GDHNUCVAXRB": 0.77}
WIDTH = {letter: width for letters, width in WIDTHS.items() for letter in letters}


def style(extra: str = "") -> str:
    """The style sheet of a picture: what is dark overrides what is light."""
    text = f"text{{font:20px {SANS}}}.mono{{font-family:{MONO}}}.bold{{font-weight:700}}"
    shapes = ".box{stroke-width:1.5}.now{stroke-width:3}.off,.bad{stroke-dasharray:5 4}"
    lines = "".join(f".{name}{{fill:none;stroke-width:2.5}}" for name in LINES) + ".frame{stroke-width:5}"
    dark = f"@media(prefers-color-scheme:dark){{{_rules(1)}}}"
    return f"<style>{text}{shapes}{lines}{_rules(0)}{dark}{extra}</style>"


def _rules(theme: int) -> str:
    grounds = [
        f".{name}{{fill:{fills[theme]};stroke:{LINES[EDGES.get(name, 'line')][theme]}}}"
        for name, fills in GROUNDS.items()
    ]
    words = [f".{name}{{fill:{colours[theme]}}}" for name, colours in WORDS.items()]
    lines = [
        f".{name}{{stroke:{colours[theme]}}}.{name}-head{{fill:{colours[theme]}}}"
        for name, colours in LINES.items()
    ]
    return "".join([*grounds, *words, *lines])


def width(words: str, size: float, look: str = "") -> float:
    """At most how wide words are, in the units of `size`."""
    if "mono" in look.split():
        return 0.605 * size * len(words)
    bold = 1.1 if "bold" in look.split() else 1.0
    return bold * size * sum(WIDTH.get(letter, 0.65) for letter in words)
