"""What a grading found: what failed first and where, one sentence on why, and what to type next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.cli.screens.grading import case
from grader.cli.screens.result_footer import bugs, claims, so_far, to_do
from grader.cli.screens.speed_rows import speed_rows
from grader.cli.screens.terminal import Next, Part, Terminal, near, told, typed
from grader.course import catalog
from grader.digits import apart, figure
from grader.errors import pasted
from grader.pass_requirements import DEMANDS
from grader.verdict import Check, Verdict

# Of what was compiled and counted, where it is not the time that fails.
FACTS = {
    "compiles": "a kernel does not compile for an {gpu}",
    "shared memory": "a kernel needs more shared memory than an {gpu} has",
    "compile time": "correct, but the compiler does not get done with it",
    "spills": "correct, but its registers spill",
    "matrix units": "correct, but the matrix units stay idle",
    "sectors": "correct, but it moves bytes that nobody asked for",
    "order": "correct, but programs that run at the same time share too few tiles",
    "products": "correct, but it multiplies more than it must",
    "stores": "correct, but it stores the same elements again and again",
    "fp64": "correct, but it computes in fp64",
    "divisions": "correct, but it divides 64-bit integers",
    "programs": "correct, but most of the GPU has nothing to do",
    "in flight": "correct, but too few bytes are on their way at a time",
    "bytes": "correct, but it moves more bytes than it must",
    "autotuner": "correct, but its autotuner does not choose as it should",
}
# Sentences that leave nothing to be said of what was seen.
ENOUGH = (
    "The result was never written",
    "was never written: it still holds",
    "made from memory that nobody wrote",
    "returns nothing yet",
    "is still to be written",
)
EVALUATED = "This case was tried once more without the GPU, where every address is seen:"
TRIED = ("correct", "edges")  # groups whose cases -k names
PRINTED = 8  # lines shown of what the kernel printed
TRACED = 12  # lines shown of the learner's traceback


def show(
    terminal: Terminal,
    verdict: Verdict,
    path: Path,
    *,
    only: str | None = None,
    passed: Next | None = None,
    recorded: bool = True,
    limits: bool = False,
    gained: Sequence[str] = (),
) -> None:
    """Prints everything below the list of checks.

    Args:
        path: the graded file, for the line that failed.
        only: the one case that was graded, when it was one.
        passed: the command that follows a pass, and a word on it; None for a file outside of the workspace.
        recorded: the journal has it.
        limits: they were made requirements.
        gained: what a pass of the whole day brings, a line each.
    """
    first = verdict.failed
    good = verdict.status == "passed"
    took = f"   {verdict.device}, {verdict.seconds:.1f} s" if verdict.seconds else ""
    headline = _praise(verdict, only, passed is not None and recorded) if good else _headline(verdict, first)
    terminal.line()
    terminal.line((headline, "bold"), (took, "dim"))
    again = f"track grade {pasted(verdict.day)}" + ("" if passed else f" --file {pasted(near(path))}")
    again += " --strict" if verdict.confined or verdict.not_confined else ""
    again += " --limits" if limits else ""
    if good:
        _limits(terminal, verdict, again)
    _facts(terminal, verdict, first, path, recorded=passed is not None)
    if good and verdict.beside:
        terminal.line()
        terminal.line(verdict.beside, indent=2)
        if passed and catalog.find(str(verdict.day)).solution.is_file():
            terminal.line("Compare them: ", (typed(f"track inspect {verdict.day} --ours"), "cyan"), indent=2)
    if good and not only:
        if gained:
            terminal.line()
        for words in gained:
            terminal.line((words, "green"), indent=2)
        terminal.next(*(passed or ("track status", "")))
    else:
        _repeat(terminal, verdict, first, again)


def _limits(terminal: Terminal, verdict: Verdict, again: str) -> None:
    """What a pass does not meet and need not, a line each, and how to see more."""
    for limit in verdict.limits:
        terminal.line(f"{DEMANDS[limit.demand].words}: {limit.says}", indent=2)
    if verdict.limits:
        terminal.line("Fail on them, and read more: ", (typed(f"{again} --limits"), "cyan"), indent=2)
        terminal.line()


def _facts(terminal: Terminal, verdict: Verdict, first: Check | None, path: Path, *, recorded: bool) -> None:
    """What happened, how fast it was, why, where to look, and how far the rest of it is."""
    untold, before = recorded and verdict.for_the_hint, terminal.lines
    cause = first if first and verdict.status != "unstarted" else None
    meant = bool(verdict.diagnosis) and not untold
    # The cause comes first; but what Python cannot read is shown before it is explained.
    early = meant and not (first and first.group == "imports")
    shown = _diagnosis(terminal, verdict, cause, path) if early else 0
    terminal.gap = early
    if cause:
        _cause(terminal, cause.cause, path, verdict.diagnosis, shown, at_a_line=not untold)
    if verdict.speed:
        terminal.table(speed_rows(verdict.speed))
    if terminal.lines > before:
        terminal.gap = True
    if untold:
        terminal.line("What the grader makes of it: ", (typed(f"track hint {verdict.day}"), "cyan"), indent=2)
    elif meant and not early:
        _diagnosis(terminal, verdict, cause, None)
    if verdict.status == "unstarted":
        to_do(terminal, path)
    so_far(terminal, verdict.pieces)
    claims(terminal, verdict)
    if verdict.hunt:
        bugs(terminal, verdict.hunt)
    _confined(terminal, verdict)
    _printed(terminal, verdict.output)


def _diagnosis(terminal: Terminal, verdict: Verdict, cause: Check | None, path: Path | None) -> int:
    """The sentence, and where to look; with a path also that line of the file, whose number is returned."""
    if verdict.interpreted:
        terminal.line((EVALUATED, "dim"), indent=2)
    terminal.line(told(verdict.diagnosis), indent=2)
    facts = cause.cause if cause else {}
    if verdict.look_at and verdict.look_at != f"line {facts.get('line')}":
        terminal.line(("Look at: ", "bold"), verdict.look_at, indent=2)
    named = re.search(r"\bline (\d+)", verdict.look_at)
    line = int(named[1] if named else facts.get("line") or 0)
    if line and path:
        _line(terminal, path, line, int(facts.get("column") or 0) if line == facts.get("line") else 0)
    return line


def _headline(verdict: Verdict, first: Check | None) -> str:
    if verdict.status == "failed" and first and first.group == "imports":
        return "Not yet: the file could not be used."
    fact = str(first.cause.get("fact", "")) if first else ""
    if first and fact in FACTS:
        return f"Not yet: {FACTS[fact].format(gpu=first.cause.get('gpu', 'GPU'))}."
    if verdict.status == "inconclusive" and not verdict.on_gpu:
        return "Not known: only a GPU tells. Not counted as a failure."
    if verdict.status == "slow" and not verdict.on_gpu:
        return "Not yet: correct, but predicted to be too slow."
    if verdict.status == "slow" and verdict.speed and verdict.speed.of_torch > 1:
        speed = verdict.speed
        missing = f"{1 / speed.ratio:.2g}× is missing to the bar"
        return f"Not yet: correct, and {speed.of_torch:.2g}× torch; {missing}."
    where = "the grading stopped"
    if first:
        where = f"{first.group} fails" + (f", first with {case(first.name)}" if case(first.name) else "")
    return {
        "failed": f"Not yet: {where}.",
        "slow": "Not yet: correct, but too slow.",
        "unstarted": "Nothing to grade yet.",
        "crashed": f"Not yet, it crashed: {where}.",
        "timeout": f"Not yet, it did not finish in time: {where}.",
        "inconclusive": "Correct; too noisy to tell whether it is fast enough. Not counted as a failure.",
    }[verdict.status]


def _praise(verdict: Verdict, only: str | None, recorded: bool) -> str:
    if only:
        right = [check.name for check in verdict.checks if check.outcome in ("passed", "limit")]
        passed = sum(map(bool, map(case, right)))
        return "This case passed." if passed == 1 else f"These {passed} cases passed."
    unmeasured = any(check.outcome == "not measured" and check.group == "fast" for check in verdict.checks)
    foretold = any(check.group == "fast" for check in verdict.checks) and not verdict.on_gpu
    praise = "Passed; its speed is predicted, not measured." if foretold else "Passed."
    praise = "Correct; speed not measured here." if unmeasured else praise
    what = "day" if isinstance(verdict.day, int) else "extra"
    praise += f" The {what} is done on {'GPU' if verdict.on_gpu else 'CPU'}." if recorded else ""
    count = len(verdict.limits)
    return praise + (f" {count} limit{'s' if count > 1 else ''}:" if count else "")


def _cause(
    terminal: Terminal, cause: Mapping[str, Any], path: Path, diagnosis: str, shown: int, *, at_a_line: bool
) -> None:
    """The facts of a failure, none twice: the reason, the worst element, the learner's line, its callers.

    Args:
        shown: a line of the file that stands above already.
        at_a_line: the learner's line may be told, and what it does.
    """
    line = int(cause.get("line") or 0)
    reason = str(cause.get("reason") or "") if at_a_line or not line else ""
    said = reason.removeprefix(f"{cause.get('type')}: ").lower().rstrip(".")
    if said and said not in diagnosis.lower() and not any(words in diagnosis for words in ENOUGH):
        terminal.line(reason, indent=2)
    facts: list[tuple[Part, Part]] = []
    if "expected" in cause or "got" in cause:
        at = cause.get("at") or str(cause.get("index") or "")
        where = f"at {at}" if at else "value"
        off = f", off by {figure(cause['off'])}" if "off" in cause else ""
        wanted, got = apart(cause.get("expected"), cause.get("got"))
        if f"is {got} where {wanted} is right" not in diagnosis:
            facts.append((where, f"expected {wanted}, got {got}{off}"))
    if "max_error" in cause:
        facts.append(("error", _error(cause)))
    terminal.table([*facts, *_words(cause.get("words") or {})])
    if line and at_a_line and line != shown:
        _line(terminal, path, line, int(cause.get("column") or 0))
    frames = cause.get("traceback") or []
    others = [str(frame) for frame in frames if not str(frame).startswith(f"line {line}, ")]
    for frame in others[-TRACED:]:
        terminal.line((frame, "dim"), indent=4)


def _words(meanings: Mapping[str, str]) -> list[tuple[Part, Part]]:
    """The words of the case's name that need it, with what they mean; those of one sentence together."""
    words: dict[str, list[str]] = {}
    for word, meaning in meanings.items():
        words.setdefault(meaning, []).append(word)
    return [((", ".join(named), "dim"), meaning) for meaning, named in words.items()]


def _error(cause: Mapping[str, Any]) -> str:
    """How often what is allowed the worst error is; where nothing is, the error itself."""
    error, allowed, over = cause["max_error"], cause.get("allowed"), cause.get("over", "the whole result")
    if not allowed:
        beside_0 = f"a norm of {error:.3g} over {over}, where 0 is right"
        return f"{error:.3g} of the norm of {over}" if cause.get("relative", True) else beside_0
    times = float(f"{error / allowed:.3g}")
    return f"{f'{times:,g}' if times < 1e6 else 'over a million'} times what is allowed"


def _line(terminal: Terminal, path: Path, line: int, column: int) -> None:
    """The learner's own line, and a caret under the column where Python stopped."""
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()[line - 1]
    except (OSError, IndexError):
        return
    indent = len(text) - len(text.lstrip())
    terminal.whole((f"{path.name}:{line}", "cyan"), f"   {text.strip()}", indent=2)
    if column > indent:
        terminal.whole(" " * (len(f"{path.name}:{line}   ") + column - 1 - indent) + "^", indent=2)


def _confined(terminal: Terminal, verdict: Verdict) -> None:
    """Of a strict grading: what of the confinement was in force, and what was not."""
    held = ", ".join(verdict.confined) or "nothing"
    lacking = f"; not granted here: {', '.join(verdict.not_confined)}" if verdict.not_confined else ""
    if verdict.confined or verdict.not_confined:
        terminal.line()
        terminal.line(("Confined: ", "bold"), f"{held}{lacking}.", indent=2)


def _printed(terminal: Terminal, output: str) -> None:
    lines = output.rstrip().splitlines()
    if not lines:
        return
    terminal.line()
    more = f", the last {PRINTED} of {len(lines)} lines" if len(lines) > PRINTED else ""
    terminal.line((f"Your file printed{more}:", "bold"), indent=2)
    terminal.block("\n".join(line[:300] for line in lines[-PRINTED:]), style="dim")


def _repeat(terminal: Terminal, verdict: Verdict, first: Check | None, again: str) -> None:
    """The command that grades once more, and before it the one that replays the failed case."""
    if verdict.status == "passed":
        return terminal.next(again, "grades every case")
    if verdict.status == "inconclusive":
        return terminal.next(
            again, "once nothing else uses the GPU" if verdict.on_gpu else "on a machine with a GPU"
        )
    if verdict.status != "unstarted" and first and first.group in TRIED and case(first.name):
        # What is right in a process of its own is not asked for alone.
        alone = "" if first.cause.get("right_afresh") else f" -k {pasted(case(first.name))}"
        replay = f"{again} --seed {verdict.seed}{alone}"
        terminal.line()
        terminal.command("The same inputs again: ", replay, indent=2)
    others = first.cause.get("asked_by") if first else None
    if others and " --file " in again:
        other = again.replace(f"track grade {pasted(verdict.day)} ", f"track grade {others[0]} ", 1)
        return terminal.next(other, "grades it there")
    file = "the file" if " --file " in again else "kernel.py"
    hint = "" if "/" in str(verdict.day) else f" (stuck? {typed(f'track hint {verdict.day}')})"  # of a day
    terminal.next(again, f"once {file} is changed{hint}")
