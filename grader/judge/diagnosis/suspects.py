"""Wrong functions that a day expects to meet: does one of them give just what the learner's kernel gave?"""

from __future__ import annotations

import ast
import contextlib
import math
import re

from grader.judge.case.compare import Finding
from grader.judge.case.naming import called
from grader.judge.case.trial import Trial
from grader.judge.diagnosis.behind import behind, reached
from grader.judge.diagnosis.evidence import Evidence, Speech
from grader.judge.diagnosis.explaining import Explained, explained, wanted_of
from grader.judge.diagnosis.launched import launches
from grader.judge.diagnosis.site import function as function_of
from grader.judge.diagnosis.site import has_loop, last, spelled
from grader.judge.diagnosis.steps import denied, where
from grader.judge.diagnosis.subjects import has_subject
from grader.judge.diagnosis.upheld import HALF, NUMBER, constants, numbered, outnumbered, refuted, upheld

MANY = 6  # trials in which a suspect of a part is tried
KINDS = ("values", "nan", "inf", "special", "scalar", "unwritten")  # the last of what is changed in place
FEW = 2  # kernels that are named where each may hold the formula
OUTPUTS = {"o", "lse", "both", "Both"}  # words that speak of outputs, beside their names
OF_LOOPS = r"\bloops?\b|\b(blocks?|keys|queries)\b.* left out"


def suspected(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis: the suspect that explains most of what is wrong, best with the first.

    It must explain a third of what fails like the first case; or half of what fails like another, and not be
    right in the first. A suspect that would be wrong where the kernel is right is none. One that gives all
    that is wrong comes before one that gives some outputs, as where one kernel of two has the mistake.
    """
    wrong = _wrong(trial, evidence)
    found = {
        sentence: [one for other in wrong if (one := explained(function, other))]
        for sentence, function in trial.challenge.suspects.items()
        if has_subject(sentence, evidence.source) and not denied(sentence, trial.made)
    }
    found = {sentence: ones for sentence, ones in found.items() if any(one.number for one in ones)}
    whole = {sentence: [one for one in ones if not one.right] for sentence, ones in found.items()}
    parts = {
        sentence: [one for one in ones if one.right]
        for sentence, ones in found.items()
        if not _names_an_output(sentence, trial)
    }
    return _best(whole, wrong, trial, evidence) or _best(parts, wrong, trial, evidence)


def exchanged(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis for a function that gives what another of the day's is asked for."""
    entry, wrong = trial.challenge.entry, _wrong(trial, evidence)
    alike = (t for t in evidence.trials if t.challenge.entry != entry and t.names == trial.names)
    for other in {t.challenge.entry: t.challenge for t in alike}.values():
        ones = []
        with contextlib.suppress(IndexError, RuntimeError, TypeError, ValueError):  # it takes other arguments
            ones = [one for each in wrong if (one := explained(other.reference, each))]
        if not ones or len(ones) < HALF * len(wrong) or refuted(other.reference, ones, evidence):
            continue
        owner, said = ones[0].trial, f"{entry}() gives what is asked of {other.entry}()."
        look_at = _launcher(entry, evidence) or _formula(said, owner, evidence)
        return placed(said, ones[0]), look_at, owner
    return None


def _launcher(entry: str, evidence: Evidence) -> str:
    """What a function of the file launches; empty where all of it was handed out."""
    own = function_of(ast.parse(evidence.source), entry)
    body = [node for statement in own.body for node in ast.walk(statement)] if own else []
    mine = {node.lineno for node in body if isinstance(node, ast.expr)} - evidence.given
    return f"what {entry}() launches: {spelled(sorted(mine))}" if 0 < len(mine) <= MANY else ""


def _wrong(trial: Trial, evidence: Evidence) -> list[Trial]:
    """The failed trials of the same function whose values are wrong."""
    alike = (t for t in evidence.failed if t.challenge is trial.challenge and t.answer and not t.rows)
    return [t for t in alike if t.findings[0].kind in KINDS]


def in_part(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis for a suspect that gives some of the wrong results, the first of them too:
    others may be made from these in ways that no suspect knows.
    """
    if finding.kind not in KINDS or len(wanted_of(trial)) < 2:
        return None
    for sentence, function in trial.challenge.suspects.items():
        if _names_an_output(sentence, trial) or not has_subject(sentence, evidence.source):
            continue
        if one := explained(function, trial, partly=True):
            alike = [
                t for t in evidence.failed if t.challenge is trial.challenge and t.findings[0].kind in KINDS
            ]
            alike = [t for t in alike if not t.rows and t.answer][:MANY]
            if sum(explained(function, t, partly=True) is not None for t in alike) < HALF * len(alike):
                continue
            first = finding.facts.get("result")
            wrong = tuple(n for n in one.given if n != first)
            if first in one.given and not refuted(function, [one], evidence):
                *others, last_one = _names(trial, (first, *wrong))
                names = f"{', '.join(others)} and {last_one}" if others else last_one
                return f"In {names}: {sentence}", _formula(sentence, trial, evidence), trial
    return None


def _best(
    found: dict[str, list[Explained]], wrong: list[Trial], first: Trial, evidence: Evidence
) -> Speech | None:
    """The suspect that explains most of the wrong trials, and no passed one refutes.

    One that most of what failed speaks against, too, is none where another explains more.
    """
    kept = upheld(found, wrong, first, evidence)
    most = max(map(len, kept.values()), default=0)
    known = constants(evidence.source)

    # The first case alone may be a special one, such as a single column. Of two that explain as much, as
    # blocks of two sizes do in small cases, the one comes first whose numbers the source has.
    def rank(sentence: str) -> tuple[bool, int, bool]:
        ones = kept[sentence]
        early = ones[0].trial is first and len(ones) >= HALF * most
        return early, len(ones), known >= {*NUMBER.findall(sentence)}

    for sentence in sorted(kept, key=rank, reverse=True):
        ones = kept[sentence]
        if len(ones) == most or not outnumbered(first.challenge.suspects[sentence], ones, wrong):
            said = placed(_of_blocks(numbered(sentence, kept, known), evidence.source), ones[0])
            return said, _formula(sentence, ones[0].trial, evidence), ones[0].trial
    return None


def _formula(sentence: str, trial: Trial, evidence: Evidence) -> str:
    """The loop where the sentence is about one; the lines that made a NaN; else the formula, and where it
    stands: in the functions that are known to be wrong, in the one kernel behind it, its launches, or the
    function.
    """
    tree = ast.parse(evidence.source)
    if re.search(OF_LOOPS, sentence) and has_loop(tree):
        return "the loop, where it starts and ends"
    if any(step.result != -math.inf for step in trial.made):  # which is what any row has that sees nothing
        return where(trial.made)
    known = behind(trial, tree)
    if known and not known.stores:  # no kernel did: something else was returned
        return (
            f"what {'backward' if trial.findings[0].facts.get('label') else trial.challenge.entry}() returns"
        )
    sure = known if known and known.whole else None
    launched = {*(sure.stores if sure else (launch.kernel for launch in launches(trial)))}
    launched = {name.rpartition(".")[2] for name in evidence.wrong} or launched or {trial.challenge.entry}
    found = sorted(filter(None, (function_of(tree, name) for name in launched)), key=lambda one: one.lineno)
    if not 1 <= len(found) <= FEW or len(found) < len(launched):
        return "the formula"
    if len(found) > 1:
        names, starts = " and ".join(f.name for f in found), " and ".join(str(f.lineno) for f in found)
        return f"the formula in {names}, from lines {starts} on"
    (one,) = found
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    at = {f.lineno for f in calls if isinstance(f, ast.Subscript) and last(f.value) in launched}
    several = "launch on line" if len(at) == 1 else "launches on lines"
    launch = f", and its {several} {' and '.join(map(str, sorted(at)))}" if at else ""
    helped = " and what it calls" * (len(reached({one.name}, tree)) > 1)
    return f"the formula in {one.name}{helped}, from line {one.lineno} on{launch}"


def _of_blocks(sentence: str, source: str) -> str:
    """The sentence; without the size of its blocks where the source has no such number."""
    numbers = constants(source)
    return re.sub(
        r" ?\(Blocks of (\d+)[a-z\d, ]*\.\)$", lambda size: size[0] if size[1] in numbers else "", sentence
    )


def _names_an_output(sentence: str, trial: Trial) -> bool:
    named = {*OUTPUTS, *trial.results, *(f"d{name}" for name in trial.names)} - set(trial.names)
    return bool(named & set(re.findall(r"\w+", sentence)))


def placed(sentence: str, one: Explained) -> str:
    """The sentence, and of which outputs it is true, where some are right."""
    if not one.right:
        return sentence
    given, right = (" and ".join(_names(one.trial, which)) for which in (one.given, one.right))
    return f"In {given}, not in {right}: {sentence}"


def _names(trial: Trial, numbers: tuple[int, ...]) -> list[str]:
    wanted = wanted_of(trial)
    asked_for = sum(not want.label for want in wanted)
    return [wanted[n].label or called(n, asked_for, trial.results) or "the result" for n in numbers]
