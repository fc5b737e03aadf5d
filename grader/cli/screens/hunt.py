"""How far a bug hunt is: counts, the bugs that are gone by name, and the lines that it took."""

from __future__ import annotations

from grader.cli.screens.terminal import Terminal
from grader.hunt_result import Hunt

COUNTED = {  # what the count of each state is followed by
    "fixed": "fixed",
    "standing": "standing (own case fails)",
    "hidden": "hidden behind another",
    "not judged": "not judged: its case raised, or torch did the part that it spoils",
}


def bugs(terminal: Terminal, hunt: Hunt) -> None:
    """A line of counts, a line for each bug that is gone, and the lines of code that were changed."""
    states = [bug.state for bug in hunt.bugs]
    counts = [f"{states.count(state)} {words}" for state, words in COUNTED.items() if state in states]
    terminal.line()
    terminal.line(("Bugs: ", "bold"), terminal.dot.join(counts), indent=2)
    for bug in hunt.bugs:
        if bug.state == "fixed":
            terminal.line(terminal.mark("passed"), f" fixed: {bug.name} ({bug.kind})", indent=4)
    ours = f"; in our solution {hunt.ours}" if hunt.ours else ""
    terminal.line(f"Lines of code changed: {hunt.changed}{ours}.", indent=2)
