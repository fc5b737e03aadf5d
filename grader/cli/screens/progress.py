"""Where the learner stands: the summary by week, the list of days, and the short answer of a bare `track`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

from grader.cli.screens.terminal import Part, Terminal, near, typed
from grader.course import catalog
from grader.course.catalog import Day, Key
from grader.course.learner.journal import Progress, Record

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
    terminal.line(("Triton Track", "bold"), f"   {len(done)} of {len(days)} days done{_where(done)}")
    terminal.line()
    if every:
        for place, (title, members) in enumerate(_sections().items()):
            if place:
                terminal.line()
            _section(terminal, title, members, progress)
    else:
        _map(terminal, progress)
        here = current or days[0]
        title, at_hand = next((title, some) for title, some in _sections().items() if here in some)
        terminal.line()
        _section(terminal, title, at_hand, progress)
        terminal.line()
        terminal.line("Every day: ", (typed("track status --all"), "cyan"))
    if skipped:
        lines = "line was" if skipped == 1 else "lines were"
        terminal.line()
        terminal.line(f"{skipped} unreadable journal {lines} skipped; every other one counts.")
    terminal.next(*following(progress, current))


def _sections() -> dict[str, Sequence[Day]]:
    """The days by week, then the extras by pack."""
    weeks = {day.week: [one for one in catalog.days() if one.week == day.week] for day in catalog.days()}
    titled = {_titled(f"Week {n}", catalog.weeks().get(n)): some for n, some in weeks.items()}
    return titled | {_titled("Extras", title): extras for title, extras in catalog.packs().items()}


def _titled(*words: str | None) -> str:
    return " · ".join(filter(None, words))


def _map(terminal: Terminal, progress: Mapping[Key, Progress]) -> None:
    """A row for each week, a place for each day; the extras in one line."""
    weeks = [(title, some) for title, some in _sections().items() if some[0].number]
    terminal.table([[title, *(_cell(terminal, progress, day) for day in some)] for title, some in weeks])
    extras = catalog.extras()
    if extras:
        done = sum(progress.get(one.key, NEW).done for one in extras)
        words = f"Extras   {done} of {len(extras)} done: "
        terminal.line(words, (typed("track list --extras"), "cyan"), indent=2)
    begun, new = (terminal.mark(state)[0] for state in ("running", "new"))
    terminal.line((f"█ done on GPU   ▓ done on CPU   {begun} begun   {new} to come", "dim"), indent=2)


def _cell(terminal: Terminal, progress: Mapping[Key, Progress], day: Day) -> Part:
    one = progress.get(day.key, NEW)
    return ("█" if one.on_gpu else "▓", "green") if one.done else terminal.mark(SHOWN[one.state])


def _section(terminal: Terminal, title: str, days: Sequence[Day], progress: Mapping[Key, Progress]) -> None:
    """A heading with the days below it."""
    passed = sum(progress.get(day.key, NEW).done for day in days)
    terminal.line((title, "bold"), f"   {passed}/{len(days)}")
    terminal.table([_row(terminal, day, progress.get(day.key, NEW)) for day in days])


def _where(done: list[Progress]) -> str:
    gpu = sum(day.on_gpu for day in done)
    return f": {gpu} on GPU, {len(done) - gpu} on CPU only" if done else ""


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
    """Prints every day, and every extra by its pack, with the names they can be started by, page by page."""
    groups = [*([] if extras_alone else [(None, catalog.days())]), *catalog.packs().items()]
    with terminal.paged(sum(len(days) for _, days in groups)):
        for place, (title, days) in enumerate(groups):
            if place:
                terminal.line()
            if title is not None:
                terminal.line((_titled("Extras", title), "bold"))
            terminal.table([_names(terminal, one, progress.get(one.key, NEW)) for one in days], indent=0)
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


def gained(progress: Mapping[Key, Progress], day: Day, records: Sequence[Record]) -> list[str]:
    """What a pass brings: the words of the syllabus, how many days are done, and the dates in a row."""
    syllabus = (catalog.ROOT / "days" / "README.md").read_text(encoding="utf-8")
    row = re.search(rf"\]\({day.place}/README\.md\).*\| (.+) \|$", syllabus, re.MULTILINE)
    passed = {str(record.get("at"))[:10] for record in records if record.get("status") == "passed"}
    today, streak = datetime.now(timezone.utc).date(), 0
    while str(today - timedelta(streak)) in passed:
        streak += 1
    done = sum(progress.get(one.key, NEW).done for one in catalog.days())
    count = f"{done} of {len(catalog.days())} days done{f', {streak} days in a row' * (streak > 1)}."
    return [*([f"What you know now: {row[1].replace('`', '')}."] if row else []), count]


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
