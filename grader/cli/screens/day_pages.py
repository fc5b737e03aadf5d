"""The pages of a day: started, lesson, hint, solution, diff, reset; and the one-line errors."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.screens.terminal import Next, Part, Terminal, near, spell, told, typed
from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner.handout import Fate, HandOut
from grader.course.learner.hints import TIERS
from grader.course.learner.workspace import Workspace
from grader.errors import TrackError

if TYPE_CHECKING:
    from grader.course.setup.doctor import Condition

DIFF = {"+": "green", "-": "red", "@": "cyan"}
# What `track upgrade` would make of a file, and what it made of it.
BECOMES = {
    "upgraded": "untouched: becomes the newer one",
    "yours": "stays yours: you changed it, too",
    "copied": "gone: comes back",
}
BECAME = {
    "upgraded": "was untouched and is now the course's newer one",
    "yours": "stays as it was, for you changed it: see `track upgrade {day}`",
}


def started(
    terminal: Terminal, workspace: Workspace, day: Day, fates: Mapping[str, Fate], resumed: bool
) -> None:
    """Prints where a day lies now, and what became of files that were there already."""
    heading = f"Resuming {day.heading[0].lower()}{day.heading[1:]}" if resumed else day.heading
    terminal.line((heading, "bold"))
    labels = {"README.md": "lesson", "picture.svg": "picture", "kernel.py": "kernel"}
    terminal.table([(labels.get(name, "given"), near(workspace.folder(day) / name)) for name in fates])
    helpers = [name for name in fates if name not in labels]
    if helpers:
        terminal.line(f"{' and '.join(helpers)}: finished pieces, which kernel.py imports.", indent=2)
    if resumed and fates["kernel.py"] == "kept":
        terminal.line("Your kernel.py is as you left it.", indent=2)
    if resumed and fates["kernel.py"] == "copied":
        terminal.line("Your kernel.py was gone; this is a fresh skeleton.", indent=2)
    for name, fate in fates.items():
        if fate in BECAME:
            terminal.line(f"{name} {_became(day, fate)}.", indent=2)
    terminal.next("track grade", f"{day.begin} (read: {typed('track lesson')})")


def upgrades(terminal: Terminal, fates: Mapping[Day, Mapping[str, Fate]], applied: bool) -> None:
    """Prints what the course has newer than the learner's files, and what becomes of those.

    Args:
        applied: it has become of them; else it would.
    """
    heading = "Upgraded:" if applied else "The course has newer files for days that you started:"
    terminal.line((heading, "bold"))
    terminal.table(
        [
            (day.name, name, _became(day, fate) if applied and fate != "yours" else BECOMES[fate])
            for day, files in fates.items()
            for name, fate in files.items()
        ]
    )


def _became(day: Day, fate: Fate) -> str:
    return told(BECAME.get(fate, "is back").format(day=day.key))


def changed(terminal: Terminal, day: Day, name: str, file: HandOut) -> None:
    """Prints what the course changed in a file that stays the learner's."""
    terminal.line()
    terminal.line((f"{day.name}, {name}: the course's changes, for you to take what you like", "bold"))
    _unified(terminal, file.before, file.ours, "handed out", "now")


def lesson(terminal: Terminal, day: Day, following: Next) -> None:
    """Prints the lesson: rendered on a terminal, page by page where it is longer; as Markdown into a pipe."""
    _page(terminal, day.lesson, following)


def glossary(terminal: Terminal, following: Next) -> None:
    """Prints the words of the lessons, in the same way."""
    _page(terminal, catalog.ROOT / "days" / "GLOSSARY.md", following)


def _page(terminal: Terminal, path: Path, following: Next) -> None:
    from grader.cli.screens.markdown import markdown

    # Without its picture, which stands there as text, too.
    text = re.sub(r"^!\[.*\n\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    with terminal.paged(text.count("\n")):
        markdown(terminal, text)
    terminal.next(*following)


def hint(
    terminal: Terminal, day: Day, tiers: Mapping[int, str], passed: Next | None = None, untold: str = ""
) -> None:
    """Prints tiers by number, 1 to 3: usually one.

    Args:
        passed: what follows, once the day is done, or before it is started.
        untold: the diagnosis of the last grading, where its screen left that to the hint.
    """
    from grader.cli.screens.markdown import markdown

    if untold:
        terminal.line(("Your last grading: ", "bold"), untold)
        terminal.line()
    for place, (tier, text) in enumerate(tiers.items()):
        if place:
            terminal.line()
        terminal.line((f"{day.name} · hint {tier} of {len(TIERS)}: {TIERS[tier - 1]}", "bold"))
        terminal.line()
        markdown(terminal, text)
    more = "hint" if max(tiers) < len(TIERS) else "solution"
    said = f"or {typed(f'track {more} {day.key}')} for more"
    if more == "solution" and not day.solution.is_file():
        said = "our solution is not in this edition"
    again = f"track grade {day.key}", said
    terminal.next(*(passed or again))


def solution(out: Terminal, err: Terminal, day: Day, fast: bool = False) -> None:
    """Prints the solution; what is no Python goes to `err`, so that the output can be saved as a file.

    Args:
        fast: the tuned one.
    """
    text = (day.fast_solution if fast else day.solution).read_text(encoding="utf-8")
    if out.live and out.unicode:
        from grader.cli.screens.markdown import highlighted

        out.console.print(highlighted(text), soft_wrap=True, end="")
    else:
        out.stream.write(text if out.unicode else spell(text))
    if not fast and day.fast_solution.is_file():
        err.next(f"track solution {day.key} --fast", "shows the tuned one")
    else:
        err.next(f"track diff {day.key} --solution", "compares yours with ours")


def diff(out: Terminal, err: Terminal, day: Day, other: Path, mine: Path, passed: Next | None = None) -> None:
    """Prints a unified diff from `other`, a skeleton or the solution, to the learner's file."""
    name = "solution" if other == day.solution else "skeleton"
    if not _unified(out, other, mine, f"{name}.py", "kernel.py"):
        err.line(f"kernel.py is the same as {name}.")
    err.next(*(passed or (f"track grade {day.key}", "")))


def _unified(out: Terminal, before: Path, after: Path, name: str, other: str) -> bool:
    """Prints a unified diff, and says whether there is any."""
    old, new = (path.read_text(encoding="utf-8", errors="replace").splitlines() for path in (before, after))
    lines = list(difflib.unified_diff(old, new, name, other, lineterm=""))
    for line in lines:
        out.whole((line, DIFF.get(line[:1], "")))
    return bool(lines)


def was_reset(
    terminal: Terminal, workspace: Workspace, day: Day, trash: Path, worked_on: bool, earlier: bool
) -> None:
    """Prints where the work went, where there was any.

    Args:
        earlier: the trash has some, this or what an earlier reset moved there.
    """
    terminal.line((f"{day.heading} is fresh again.", "bold"))
    moved = "your work" if worked_on else "as handed out"
    terminal.table([(moved, near(trash)), ("kernel", near(workspace.kernel(day)))])
    if worked_on or earlier:
        what = "It" if worked_on else "What you put away before"
        terminal.line(f"{what} comes back with ", (typed(f"track restore {day.key}"), "cyan"), indent=2)
    terminal.next(f"track grade {day.key}", day.begin)


def was_restored(
    terminal: Terminal, workspace: Workspace, day: Day, trash: Path | None, swapped: bool
) -> None:
    """Prints that the work is back, and where what it took the place of went.

    Args:
        swapped: that was work, too.
    """
    terminal.line((f"{day.heading}: the work that was put away last is back.", "bold"))
    rows = [("kernel", near(workspace.kernel(day)))]
    terminal.table([*rows, ("instead of", near(trash))] if trash else rows)
    if swapped:
        terminal.line("They change places by ", (typed(f"track restore {day.key}"), "cyan"), indent=2)
    terminal.next(f"track grade {day.key}")


def error(terminal: Terminal, problem: TrackError) -> None:
    """Prints one line, and below it what to do."""
    terminal.line(("error: ", "bold red"), told(problem.problem))
    if problem.fix:
        _fix(terminal, ("fix: ", "bold"), problem.fix)


def _fix(terminal: Terminal, label: Part, fix: str, indent: int = 0) -> None:
    """Prints a command as one line, and a sentence as what it is."""
    if fix[0].isupper() and fix.endswith("."):
        terminal.line(label, fix, indent=indent)
    else:
        terminal.command(label, fix, indent=indent)


def unrecorded(terminal: Terminal, problem: TrackError) -> None:
    """Says that a verdict stands but could not be kept."""
    terminal.line(("warning: ", "bold yellow"), f"not recorded. {problem.problem}")
    _fix(terminal, ("fix: ", "bold"), problem.fix)


def reported(terminal: Terminal, page: Path, benched: bool, following: Next) -> None:
    """Prints where the page of `track report` is.

    Args:
        benched: it has what `track bench` measured.
    """
    terminal.line(("Your progress as a page:", "bold"))
    terminal.whole(page.resolve().as_uri(), indent=2)
    if not benched:
        terminal.line("On a GPU, ", (typed("track bench"), "cyan"), " adds plots of your kernels.", indent=2)
    terminal.next(*following)


def doctor(terminal: Terminal, findings: Sequence[Condition]) -> None:
    """Prints what was found on this machine, each trouble with its cure."""
    for one in findings:
        terminal.line(
            terminal.mark({True: "passed", False: "failed", None: "noted"}[one.ok]), f"  {one.what}"
        )
        if one.fix:
            _fix(terminal, "fix: ", one.fix, indent=5)
    broken = sum(one.ok is False for one in findings)
    if broken:
        terminal.next("track doctor", f"once {'that is' if broken == 1 else f'those {broken} are'} mended")
    else:
        terminal.next("track", "this machine can grade")
