"""Where the learner stands: the summary by week, the list of days, and the short answer of a bare `track`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

from grader import catalog
from grader.catalog import Day
from grader.learner.journal import Progress
from grader.screens.terminal import Part, Terminal, near, typed

NEW = Progress()
SHOWN = {
    "new": "new",
    "started": "running",
    "not yet": "running",
    "done on CPU": "passed",
    "done on GPU": "passed",
}


def status(
    terminal: Terminal, progress: Mapping[int, Progress], current: Day | None, skipped: int = 0
) -> None:
    """Prints the progress summary: days done and under way, week by week."""
    days = catalog.days()
    done = [progress[day.number] for day in days if day.number in progress and progress[day.number].done]
    terminal.line(
        ("Triton Track", "bold"),
        f"   {_bar(len(done), len(days))} {len(done)} of {len(days)} days done{_where(done)}",
    )
    rows = terminal.aligned([_row(terminal, day, progress.get(day.number, NEW)) for day in days])
    for week, title in enumerate(catalog.WEEKS, 1):
        of_week = [day for day in days if day.week == week]
        if of_week:
            passed = sum(progress.get(day.number, NEW).done for day in of_week)
            terminal.line()
            terminal.line((f"Week {week} · {title}", "bold"), f"   {passed}/{len(of_week)}")
            for day in of_week:
                terminal.line(*rows[days.index(day)], indent=2)
    if skipped:
        lines = "line was" if skipped == 1 else "lines were"
        terminal.line()
        terminal.line(f"{skipped} unreadable journal {lines} skipped; every other one counts.")
    terminal.next(*following(progress, current))


def _where(done: list[Progress]) -> str:
    gpu = sum(day.on_gpu for day in done)
    return f": {gpu} on GPU, {len(done) - gpu} on CPU only" if done else ""


def _bar(done: int, of: int, width: int = 20) -> str:
    filled = width * done // max(of, 1)
    return "█" * filled + "░" * (width - filled)


def _row(terminal: Terminal, day: Day, progress: Progress) -> list[Part]:
    mark = terminal.mark(SHOWN[progress.state])
    title = (day.title, "dim") if progress.state == "new" else day.title
    state = "" if progress.state == "new" else progress.state
    return [mark, f"{day.number:02d}", title, state, (_detail(progress), "dim")]


def _detail(progress: Progress) -> str:
    """What the state leaves out: the measured speed, what stopped the last grading, how many there were."""
    words = []
    if progress.on_gpu and progress.speed:
        words.append(f"{progress.speed.get('of_copy', 0):.2f} of copy")
    if progress.on_cpu and not progress.on_gpu:
        words.append("speed not measured")
    if progress.last not in ("", "passed", "unstarted"):
        words.append(f"last grading {progress.last}" + (f" at {progress.failed}" if progress.failed else ""))
    if progress.gradings:
        words.append(f"{progress.gradings} grading{'s' if progress.gradings > 1 else ''}")
    return ", ".join(words)


def listing(terminal: Terminal, progress: Mapping[int, Progress], current: Day | None) -> None:
    """Prints every day with the names it can be started by."""
    rows: list[list[Part]] = []
    for day in catalog.days():
        state = progress.get(day.number, NEW).state
        rows.append(
            [
                terminal.mark(SHOWN[state]),
                f"{day.number:02d}",
                day.slug,
                day.title,
                "" if state == "new" else state,
            ]
        )
    terminal.table(rows, indent=0)
    terminal.next(*following(progress, current))


def where(
    terminal: Terminal, root: Path | None, progress: Mapping[int, Progress], current: Day | None
) -> None:
    """Prints the answer of a bare `track`: the current day, its file, how it stands, what to type."""
    if root is None or current is None:
        terminal.line(
            ("Triton Track", "bold"),
            ": 35 days of GPU kernels, from Hello Triton to flash attention backward.",
        )
        terminal.line(
            "Nothing is started here yet. See a day being graded first: ", (typed("track tour"), "cyan")
        )
        return terminal.next("track start 1")
    day = progress.get(current.number, NEW)
    terminal.line((f"Day {current.number} · {current.title}", "bold"), f"   {day.state}{_ago(day.at)}")
    terminal.line(near(root / current.stem / "kernel.py"), indent=2)
    if _detail(day):
        terminal.line(_detail(day), indent=2)
    done = sum(one.done for one in progress.values())
    terminal.line(f"{done} of {len(catalog.days())} days done: ", (typed("track status"), "cyan"), indent=2)
    terminal.next(*following(progress, current))


def following(progress: Mapping[int, Progress], current: Day | None) -> tuple[str, str]:
    """The next command and a word on it: grade the day at hand, or start the first one not done after it."""
    if current and not progress.get(current.number, NEW).done:
        graded = progress.get(current.number, NEW).state == "not yet"
        return (
            "track grade",
            "once kernel.py is changed" if graded else "once the TODOs in kernel.py are filled in",
        )
    after = [day for day in catalog.days() if current is None or day.number > current.number]
    ahead = [day for day in (*after, *catalog.days()) if not progress.get(day.number, NEW).done]
    if ahead:
        return f"track start {ahead[0].number}", ahead[0].title
    cpu_only = [day for day in catalog.days() if not progress.get(day.number, NEW).on_gpu]
    if cpu_only:
        return (
            f"track grade {cpu_only[0].number} --gpu",
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
