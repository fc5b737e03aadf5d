"""Where the learner stands: the summary by week, the list of days, and the short answer of a bare `track`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path

from grader.cli.screens.terminal import Part, Terminal, near, typed
from grader.course import catalog
from grader.course.catalog import Day, Key
from grader.course.learner.journal import Progress

NEW = Progress()
SHOWN = {
    "new": "new",
    "started": "running",
    "not yet": "running",
    "done on CPU": "passed",
    "done on GPU": "passed",
}


def status(
    terminal: Terminal,
    progress: Mapping[Key, Progress],
    current: Day | None,
    skipped: int = 0,
    every: bool = False,
) -> None:
    """Prints the progress summary: the days of the week at hand, and a line for each other week.

    Args:
        skipped: journal lines that could not be read.
        every: print the days of all weeks, and the extras.
    """
    days = catalog.days()
    done = [progress[day.key] for day in days if day.key in progress and progress[day.key].done]
    terminal.line(
        ("Triton Track", "bold"),
        f"   {_bar(len(done), len(days))} {len(done)} of {len(days)} days done{_where(done)}",
    )
    week = (current or days[0]).week
    sections = [(_week(number), [d for d in days if d.week == number], number == week) for number in _weeks()]
    sections += [(_pack(title), list(extras), current in extras) for title, extras in catalog.packs().items()]
    if not every:
        terminal.line()
    for title, of_section, at_hand in sections:
        if every:
            terminal.line()
        _section(terminal, title, of_section, progress, at_hand or every)
        if at_hand and not every:
            _opened(terminal, of_section, progress)
    if not every:
        terminal.line()
        terminal.line("Every day: ", (typed("track status --all"), "cyan"))
    if skipped:
        lines = "line was" if skipped == 1 else "lines were"
        terminal.line()
        terminal.line(f"{skipped} unreadable journal {lines} skipped; every other one counts.")
    terminal.next(*following(progress, current))


def _weeks() -> Sequence[int]:
    return list(dict.fromkeys(day.week for day in catalog.days()))


def _week(number: int) -> str:
    return " · ".join(filter(None, (f"Week {number}", catalog.weeks().get(number))))


def _pack(title: str) -> str:
    return " · ".join(filter(None, ("Extras", title)))


def _section(
    terminal: Terminal, title: str, days: Sequence[Day], progress: Mapping[Key, Progress], whole: bool
) -> None:
    """A heading with the days below it; or, not `whole`, with those that are begun and not done behind it."""
    passed = sum(progress.get(day.key, NEW).done for day in days)
    begun = [day.label for day in days if progress.get(day.key, NEW).state in ("started", "not yet")]
    more = f"   begun: {', '.join(begun)}" if begun and not whole else ""
    terminal.line((title, "bold" if whole else ""), f"   {passed}/{len(days)}", (more, "dim"))
    if whole:
        terminal.table([_row(terminal, day, progress.get(day.key, NEW)) for day in days])


def _opened(terminal: Terminal, days: Sequence[Day], progress: Mapping[Key, Progress]) -> None:
    """Points at the extras that these days open, less those that are done."""
    numbers = [day.number for day in days]
    extras = [one for one in catalog.extras() if one.anchor in numbers]
    left = [f"{one.slug} after {one.anchor}" for one in extras if not progress.get(one.key, NEW).done]
    if left:
        terminal.line("Extras to these days: ", (", ".join(left), "cyan"), indent=2)


def _where(done: list[Progress]) -> str:
    gpu = sum(day.on_gpu for day in done)
    return f": {gpu} on GPU, {len(done) - gpu} on CPU only" if done else ""


def _bar(done: int, of: int, width: int = 20) -> str:
    filled = width * done // max(of, 1)
    return "█" * filled + "░" * (width - filled)


def _row(terminal: Terminal, day: Day, progress: Progress) -> list[Part]:
    mark = _mark(terminal, progress)
    title = (day.title, "dim") if progress.state == "new" else day.title
    state = "" if progress.state == "new" else progress.state
    detail = ", ".join(filter(None, (_hangs_on(day), _detail(progress))))
    return [mark, day.label, title, state, (detail, "dim")]


def _mark(terminal: Terminal, progress: Progress) -> tuple[str, str]:
    """The sign of a day; one of its own where it passed with limits."""
    return terminal.mark("limit" if progress.done and progress.limits else SHOWN[progress.state])


def _hangs_on(day: Day) -> str:
    return f"after day {day.anchor}" if day.number is None else ""


def _detail(progress: Progress) -> str:
    """What the state leaves out: the speed, what keeps a day from being done, how many gradings it had."""
    words = []
    if progress.on_gpu and progress.speed and progress.measured:
        words.append(f"{progress.speed.get('of_copy', 0):.2f} of copy")
    if progress.on_cpu and not progress.on_gpu and progress.speed:
        words.append("speed predicted")
    if not progress.done and progress.last not in ("", "passed", "unstarted"):
        words.append(f"last grading {progress.last}" + (f" at {progress.failed}" if progress.failed else ""))
    if progress.done and progress.limits:
        words.append(f"{progress.limits} limit{'s' if progress.limits > 1 else ''}")
    if progress.gradings:
        words.append(f"{progress.gradings} grading{'s' if progress.gradings > 1 else ''}")
    return ", ".join(words)


def listing(
    terminal: Terminal, progress: Mapping[Key, Progress], current: Day | None, extras_alone: bool = False
) -> None:
    """Prints every day, and every extra by its pack, with the names they can be started by."""

    def table(of: Sequence[Day]) -> None:
        terminal.table([_names(terminal, one, progress.get(one.key, NEW)) for one in of], indent=0)

    if not extras_alone:
        table(catalog.days())
    for place, (title, extras) in enumerate(catalog.packs().items()):
        if place or not extras_alone:
            terminal.line()
        terminal.line((_pack(title), "bold"))
        table(extras)
    terminal.next(*following(progress, current))


def _names(terminal: Terminal, day: Day, progress: Progress) -> list[Part]:
    state = "" if progress.state == "new" else progress.state
    names = [day.label] if day.number is None else [day.label, day.slug]
    return [_mark(terminal, progress), *names, day.title, state, (_hangs_on(day), "dim")]


def where(
    terminal: Terminal,
    root: Path | None,
    progress: Mapping[Key, Progress],
    current: Day | None,
    newer: Sequence[Day] = (),
) -> None:
    """Prints the answer of a bare `track`: the current day, its file, how it stands, what to type.

    Args:
        newer: days that were started and of which the course has newer files.
    """
    days = catalog.days()
    if root is None or current is None:
        terminal.line(
            ("Triton Track", "bold"),
            f": {len(days)} days of GPU kernels, from Hello Triton to flash attention backward.",
        )
        terminal.line(
            "Nothing is started here yet. See a day being graded first: ", (typed("track tour"), "cyan")
        )
        return terminal.next("track start 1")
    made = progress.get(current.key, NEW)
    terminal.line((current.heading, "bold"), f"   {made.state}{_ago(made.at)}")
    terminal.line(near(root / current.stem / "kernel.py"), indent=2)
    if _detail(made):
        terminal.line(_detail(made), indent=2)
    done = sum(progress.get(day.key, NEW).done for day in days)
    terminal.line(f"{done} of {len(days)} days done: ", (typed("track status"), "cyan"), indent=2)
    if newer:
        of = newer[0].name if len(newer) == 1 else f"{len(newer)} days that you started"
        terminal.line(f"The course has newer files for {of}: ", (typed("track upgrade"), "cyan"), indent=2)
    terminal.next(*following(progress, current))


def following(progress: Mapping[Key, Progress], current: Day | None) -> tuple[str, str]:
    """The next command and a word on it: grade the day at hand, or start the first one not done after it."""
    if current and not progress.get(current.key, NEW).done:
        graded = progress.get(current.key, NEW).state == "not yet"
        return "track grade", "once kernel.py is changed" if graded else current.begin
    ahead = [d for d in (*catalog.later(current), *catalog.days()) if not progress.get(d.key, NEW).done]
    if ahead:
        return f"track start {ahead[0].key}", ahead[0].title
    cpu_only = [day for day in catalog.days() if not progress.get(day.key, NEW).on_gpu]
    if cpu_only:
        return (
            f"track grade {cpu_only[0].key} --gpu",
            "every day is done on CPU; measure its speed on a GPU",
        )
    return "track list", "every day is done on GPU"


def _ago(at: str) -> str:
    """`, 12 minutes ago`; nothing where the journal's clock makes no sense."""
    try:
        seconds = (datetime.now(timezone.utc) - datetime.fromisoformat(at)).total_seconds()
    except (ValueError, TypeError):
        return ""
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f", {count} {unit}{'s' if count > 1 else ''} ago"
    return ", just now" if seconds >= 0 else ""
