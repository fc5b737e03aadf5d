"""From what failed and what passed to one sentence that makes a learner say "of course".

The first rule that has something to say wins, so the rules stand in order of how sure they are: what the
process did, then facts about memory, then about the result's form, then the pattern of its values, then which
cases fail.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from grader.challenge import Case
from grader.challenge.harness.compare import Finding
from grader.challenge.harness.goodness_of_fit import contradicted
from grader.challenge.harness.result_names import element
from grader.challenge.harness.runner_client import RunnerLost
from grader.challenge.harness.trial import Trial
from grader.diagnosis.common_failure_factors import always_right, layout, only_contiguous, right_up_to
from grader.diagnosis.constant_offset_or_factor import off
from grader.diagnosis.evidence import Diagnosis, Evidence, Speech
from grader.diagnosis.exceptions import raised
from grader.diagnosis.launch_record import involved
from grader.diagnosis.lines import pointed
from grader.diagnosis.nonfinite import gap, nonfinite
from grader.diagnosis.out_of_bounds import out_of_bounds
from grader.diagnosis.precision import imprecise, rounded, tf32
from grader.diagnosis.provenance import alone_behind
from grader.diagnosis.races import raced, too_soon
from grader.diagnosis.returned import changed_input, left_over, number, wrong_form
from grader.diagnosis.source_context import loops_around, spelled
from grader.diagnosis.suspects import numberless, suspected
from grader.diagnosis.unfinished import unfinished
from grader.diagnosis.unwritten import unwritten
from grader.digits import apart

# What the evaluator, which sees addresses and races, does not show; the last of it is for whoever finds
# nothing: Triton 3.6 was seen to give wrong results for right products on an H200.
ONLY_ON_A_GPU = (
    "Evaluated without the GPU this case is right, so look for what only a GPU does: dots in TF32, fast exp "
    "and division, programs that wait for one another. Compilers have bugs, too: try other num_warps and "
    "blocks."
)
RULES_LIE_IN = Path(__file__).parent
FEW = 2  # lines: to look at more helps little
WHAT_IS_STORED = "what is stored there"  # to look at where nothing better is known
OUR_BUG = "our bug"  # what a sentence says where a rule raised


def diagnose_or_say(evidence: Evidence, seen: str) -> Diagnosis:
    """The same. A rule that raises takes no verdict away: then what was seen is told, and that it did."""
    try:
        return diagnose(evidence)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = next(frame for frame in reversed(frames) if Path(frame.filename).parent == RULES_LIE_IN)
        where = f"line {place.lineno} of the grader's {Path(place.filename).name}"
        said = (
            f"{seen[:1].upper()}{seen[1:]}. Why is not known: {type(error).__name__} on {where}, which is "
            f"{OUR_BUG}. The verdict stands."
        )
        return said, ""


def diagnose(evidence: Evidence) -> Diagnosis:
    """One sentence, and one thing to look at, with its lines; both empty when nothing failed."""
    if not evidence.failed:
        sentence, look_at = _without_trial(evidence)
        return sentence, pointed(look_at, evidence.source, evidence.given)
    sentence, look_at, trial = _told(evidence)
    if evidence.right_evaluated:
        sentence = f"{sentence} {ONLY_ON_A_GPU}"
    part = replace(involved(trial, evidence.source), right=evidence.right, wrong=evidence.wrong)
    return sentence, pointed(look_at, evidence.source, evidence.given, part)


def _without_trial(evidence: Evidence) -> Diagnosis:
    if evidence.lost:
        return _lost(*evidence.lost, evidence.source)
    return evidence.own[1] if evidence.own else ("", "")


def _told(evidence: Evidence) -> Speech:
    trial = evidence.failed[0]
    finding = trial.findings[0]
    # One element may be too few to tell, where more do; and odds that are wrong may be known by name.
    alike = [t for t in evidence.failed if t.findings[0].kind == finding.kind and t.findings[0].told]
    alike = [t for t in alike if not contradicted(t, alike)] or alike
    told: Diagnosis | Speech | None = next(
        ((*t.findings[0].told, t) for t in sorted(alike, key=_nameless) if t.findings[0].told), None
    )
    told = told or _by_rule(trial, finding, evidence)
    plain = finding.reason[0].upper() + finding.reason[1:] + "."
    sight = seen(trial, finding, evidence) or plain
    told = unfinished(told or (plain, WHAT_IS_STORED), sight, trial, finding, evidence)
    return _spoken(told, trial, evidence.several)


def _by_rule(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | Speech | None:
    """The first rule that has something to say. A race comes before what another case looks like, which may
    be by luck of the order of programs, and before where something is wrong.
    """
    race = raced(trial)
    for rule in RULES:
        if told := rule(trial, finding, evidence):
            if rule in OF_MEMORY and (said := layout(trial, evidence)[1]):
                told = f"{told[0]} {said}.", *told[1:]
            lucky = rule in WITHOUT_A_CAUSE or told[2:] not in ((), (trial,))
            cause = _other_odds(evidence) if rule in WITHOUT_A_CAUSE else None
            return race if race and lucky else cause or told
    return race


def _nameless(trial: Trial) -> bool:
    """Whether what was told of a trial is by no suspect among the odds."""
    declared, told = trial.challenge.frequencies, trial.findings[0].told
    return not (declared and told and told[0] in declared.suspects)


def _other_odds(evidence: Evidence) -> Speech | None:
    """By which wrong odds another case was drawn, where that is known."""
    odd = [trial for trial in evidence.failed if trial.findings[0].kind == "frequency"]
    for trial in evidence.failed:
        finding = trial.findings[0]
        named = not _nameless(trial) and not contradicted(trial, odd)
        if finding.told and (finding.kind == "chance" or named):
            return *finding.told, trial
    return None


def _spoken(told: Diagnosis | Speech, first: Trial, several: bool) -> Speech:
    """The sentence, with the output and the case that it is about; the first failed one is on the screen."""
    sentence, look_at, owner = told if len(told) == 3 else (*told, first)
    # A suspect's sentence says itself which output it is about.
    own = any(numberless(sentence).endswith(numberless(told)) for told in owner.challenge.suspects)
    label = "" if own else owner.findings[0].facts.get("label", "")
    sentence = f"In {label}: {sentence}" if label else sentence
    if owner is first:
        return sentence, look_at, owner
    entry = f"{owner.challenge.entry}-" if several else ""
    return f"With {entry}{owner.case.id}: {sentence}", look_at, owner


def _lost(case: Case | None, lost: RunnerLost, source: str) -> Diagnosis:
    where = f"with {case.id}" if case else "while your file was imported"
    if lost.starved:
        at = f"line {lost.lines[0]}" if lost.lines else "what your code allocates, and keeps"
        return f"Your code ran out of memory {where}: {lost.reason}.", at
    if lost.outcome == "timeout" and lost.compiling:
        return (
            f"Your code did not finish {where}: {lost.reason}, and Triton is not done compiling what it "
            "launches. Smaller blocks, or more warps for each, compile sooner.",
            "the block sizes",
        )
    if lost.outcome == "timeout" and (loops := loops_around(lost.lines, source)):
        return (
            f"Your code did not finish {where}: {lost.reason}, and then it was at line {lost.lines[0]}. A "
            "loop around it never ends or takes far too many steps, or there are far too many programs.",
            f"the loop: {spelled(loops)}" if len(loops) == 1 else f"the loops: {spelled(loops)}",
        )
    if lost.outcome == "timeout" and not case:
        return f"Your code did not finish {where}: {lost.reason}.", "what runs at the top of your file"
    if lost.outcome == "timeout":
        return (
            f"Your code did not finish {where}: {lost.reason}. A loop that never ends or takes "
            "far too many steps, or far too many programs.",
            "loops, their steps, and the grid",
        )
    if lost.code is not None and lost.code >= 0:
        return (
            f"Your code ended the grading process {where} (exit code {lost.code}); remove the exit.",
            "sys.exit, os._exit",
        )
    return f"Your code took its process down {where}: {lost.reason}.", "pointers and masks"


def place(trial: Trial, finding: Finding, evidence: Evidence) -> Diagnosis | None:
    """Nothing better is known: say what is seen, and if that is stored by a line of the learner's, which."""
    said = seen(trial, finding, evidence)
    alone = alone_behind(trial, evidence) - evidence.given
    if said and 0 < len(alone) <= FEW:
        return said, f"what makes it: {spelled(sorted(alone))}"
    stored = involved(trial, evidence.source).stores
    if said and stored is not None and stored <= evidence.given:  # by what is handed out
        return f"{said} Which line makes it so is not known.", ""
    return (said, WHAT_IS_STORED) if said else None


def seen(trial: Trial, finding: Finding, evidence: Evidence) -> str:
    """Where and what, which outputs are right, what failed cases share; empty where no one element tells."""
    facts = finding.facts
    if "index" not in facts or "got" not in facts:
        return ""
    where = element("", facts["index"]) if facts.get("label") else facts.get("at", str(facts["index"]))
    where = f"At {where} the result" if where.startswith("[") else where or "The result"
    got, right = apart(facts["got"], facts["expected"])
    return f"{where} is {got} where {right} is right.{always_right(trial, evidence)}"


RULES: Sequence[Callable[[Trial, Finding, Evidence], Diagnosis | Speech | None]] = (
    raised,
    gap,
    only_contiguous,
    out_of_bounds,
    wrong_form,
    left_over,
    changed_input,
    unwritten,
    rounded,
    too_soon,
    suspected,
    nonfinite,
    tf32,
    off,
    right_up_to,
    imprecise,
    number,
    place,
)
OF_MEMORY = (out_of_bounds, unwritten)  # to these it is added if only contiguous inputs are right
# These say where, or what the failed cases share, and not why.
WITHOUT_A_CAUSE = (right_up_to, imprecise, number, place)
