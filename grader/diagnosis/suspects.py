"""Wrong functions that a day expects to meet: does one of them give just what the learner's kernel gave?"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from grader.challenge.harness.compare import Finding
from grader.challenge.harness.result_names import called
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Evidence, Speech
from grader.diagnosis.launch_record import launches
from grader.diagnosis.nonfinite import denied, where
from grader.diagnosis.provenance import alone_behind, behind, reached
from grader.diagnosis.source import calls, keyword, takes_maximum
from grader.diagnosis.source_context import function as function_of
from grader.diagnosis.source_context import has_loop, spelled
from grader.diagnosis.suspect_fit import Explained, differs, explained, refuted, wanted_of

KINDS = ("values", "nan", "inf", "special", "scalar", "unwritten")  # the last of what is changed in place
NOT_NUMBERS = ("nan", "inf")
FEW = 2  # lines that are named, and kernels
HALF = 0.5  # of what fails alike
THIRD = 0.33  # of it, where a suspect explains the first: a mistake may show otherwise in other cases
OUTPUTS = {"o", "lse", "both", "Both"}  # words that speak of outputs, beside their names
STARTS = re.compile(r"\bmaximum (starts|of 0)\b")
OF_LOOPS = r"\bloops?\b|\b(blocks?|keys|queries)\b.* left out"
NUMBER = re.compile(r"\b\d+\b")
NUMBERS = re.compile(r"\b\d+((,| or) \d+)*\b")


def suspected(trial: Trial, finding: Finding, evidence: Evidence) -> Speech | None:
    """The rule of the diagnosis: the suspect that explains most of what is wrong, best with the first.

    It must explain a third of what fails like the first case; or half of what fails like another, and not be
    right in the first. A suspect that would be wrong where the kernel is right is none. One that gives all
    that is wrong comes before one that gives some outputs, as where one kernel of two has the mistake.
    """
    alike = (t for t in evidence.failed if t.challenge is trial.challenge and t.answer and not t.rows)
    wrong = [t for t in alike if t.findings[0].kind in KINDS]
    found = {
        sentence: [one for other in wrong if (one := explained(function, other))]
        for sentence, function in trial.challenge.suspects.items()
        if _speaks_of(sentence, evidence.source) and not denied(sentence, trial.made)
    }
    found = {sentence: ones for sentence, ones in found.items() if any(one.number for one in ones)}
    whole = {sentence: [one for one in ones if not one.right] for sentence, ones in found.items()}
    parts = {
        sentence: [one for one in ones if one.right]
        for sentence, ones in found.items()
        if not _names_an_output(sentence, trial)
    }
    return _best(whole, wrong, trial, evidence) or _best(parts, wrong, trial, evidence)


def _speaks_of(sentence: str, source: str) -> bool:
    """Whether what a sentence blames can be in this source: no first maximum where one is that of a whole
    block.
    """
    if "running maximum" in sentence.lower() and not takes_maximum(source):
        return False
    if STARTS.search(sentence) and any(name == "max" and len(one.args) == 1 for name, one in _bare(source)):
        return False
    return "backward()" not in sentence or "backward" in source


def _bare(source: str) -> Iterator[tuple[str, ast.Call]]:
    """The calls without an axis."""
    return ((name, one) for name, one in calls(source) if keyword(one, "axis") is None)


def _best(
    found: dict[str, list[Explained]], wrong: list[Trial], first: Trial, evidence: Evidence
) -> Speech | None:
    """The suspect that explains most of the wrong trials, and no passed one refutes.

    One that most of what failed speaks against, too, is none where another explains more.
    """
    kept = {said: ones for said, ones in found.items() if _stands(said, ones, wrong, first, evidence)}
    most = max(map(len, kept.values()), default=0)
    known = {str(n.value) for n in ast.walk(ast.parse(evidence.source)) if isinstance(n, ast.Constant)}

    # The first case alone may be a special one, such as a single column. Of two that explain as much, as
    # blocks of two sizes do in small cases, the one comes first whose numbers the source has.
    def rank(sentence: str) -> tuple[bool, int, bool]:
        ones = kept[sentence]
        early = ones[0].trial is first and len(ones) >= HALF * most
        return early, len(ones), known >= {*NUMBER.findall(sentence)}

    for sentence in sorted(kept, key=rank, reverse=True):
        ones = kept[sentence]
        if len(ones) == most or not _outnumbered(first.challenge.suspects[sentence], ones, wrong):
            said = _placed(_numbered(sentence, kept, known), ones[0])
            return said, _formula(sentence, ones[0].trial, evidence), ones[0].trial
    return None


def _stands(
    sentence: str, ones: list[Explained], wrong: list[Trial], first: Trial, evidence: Evidence
) -> bool:
    """Whether a suspect explains enough, and no passed trial refutes it.

    One that gives NaN where the kernel did, and none of the wrong numbers that come in more cases, does not:
    any formula that divides by 0 or by n - 1 gives the NaN of a single column.
    """
    numbers = [other for other in wrong if other.findings[0].kind not in NOT_NUMBERS]
    if [one.single for one in ones] == [True]:
        return False
    if not ones or (len(numbers) > len(ones) and all(o.trial.findings[0].kind in NOT_NUMBERS for o in ones)):
        return False
    early, alike = ones[0].trial is first, _like(ones[0].trial, wrong)
    if sum(one.trial in alike for one in ones) < (THIRD if early else HALF) * len(alike):
        return False
    function = first.challenge.suspects[sentence]
    enough = early or len(ones) >= HALF * len(wrong) or differs(function, first, ones[0].given)
    return enough and not refuted(function, ones, evidence)


def _outnumbered(function: object, ones: list[Explained], wrong: list[Trial]) -> bool:
    """Whether it would give something else, and wrong, in more of what failed like the first that it explains
    than it explains of that.
    """
    alike = _like(ones[0].trial, wrong)
    assert callable(function)
    against = sum(differs(function, other, ones[0].given) for other in alike)
    return against > sum(one.trial in alike for one in ones)


def _like(trial: Trial, others: list[Trial]) -> list[Trial]:
    """Those with the same kind of finding, in the same dtype: blocks often go by it."""
    alike = [other for other in others if other.findings[0].kind == trial.findings[0].kind]
    return [other for other in alike if other.case.dtype == trial.case.dtype]


def _numbered(sentence: str, kept: dict[str, list[Explained]], known: set[str]) -> str:
    """The sentence with the numbers that explain most in the dtype of its case, for blocks often go by that:
    those of the source, if it has some; where several are as good, with each: "tiles of 32 or 64". Without
    the size of its blocks where the source has no such number.
    """
    (owner, given), text = (kept[sentence][0].trial, kept[sentence][0].given), numberless(sentence)
    family = {s: ones for s, ones in kept.items() if numberless(s) == text and ones[0].given == given}
    counts = {
        s: sum(one.trial.case.dtype == owner.case.dtype for one in ones)
        for s, ones in family.items()
        if ones[0].trial is owner
    }
    most = [s for s, count in counts.items() if count == max(counts.values())]
    most = [s for s in most if known >= {*NUMBER.findall(s)}] or most
    each = [{*values} for values in zip(*(NUMBER.findall(s) for s in most), strict=True)]
    said = most[0]
    if sum(len(values) > 1 for values in each) <= 1:  # several are pairs, of queries and keys
        numbers = map(_either, each)
        said = NUMBER.sub(lambda _: next(numbers), said)
    return re.sub(
        r" ?\(Blocks of (\d+)[a-z\d, ]*\.\)$", lambda size: size[0] if size[1] in known else "", said
    )


def _either(numbers: set[str]) -> str:
    *others, last_one = sorted(numbers, key=int)
    return f"{', '.join(others)} or {last_one}" if others else last_one


def numberless(sentence: str) -> str:
    return NUMBERS.sub("", sentence)


def _formula(sentence: str, trial: Trial, evidence: Evidence) -> str:
    """The loop where the sentence is about one; the lines that made a NaN; else the formula, and where it
    stands: in the functions that are known to be wrong, in the kernels behind it, or the function.
    """
    tree = ast.parse(evidence.source)
    if re.search(OF_LOOPS, sentence) and has_loop(tree):
        return "the loop"
    if any(step.result != -math.inf for step in trial.made):  # which is what any row has that sees nothing
        return where(trial.made)
    known = behind(trial, tree)
    if known and not known.stores:  # no kernel did: something else was returned
        return (
            f"what {'backward' if trial.findings[0].facts.get('label') else trial.challenge.entry}() returns"
        )
    alone = alone_behind(trial, evidence) - evidence.given
    if 0 < len(alone) <= FEW:
        return f"the formula: {spelled(sorted(alone))}"
    sure = known if known and known.whole else None
    ran = {*(sure.stores if sure else (launch.kernel for launch in launches(trial)))}
    ran = {name.rpartition(".")[2] for name in evidence.wrong} or ran or {trial.challenge.entry}
    found = sorted(filter(None, (function_of(tree, name) for name in ran)), key=lambda one: one.lineno)
    if not 1 <= len(found) <= FEW or len(found) < len(ran):
        return "the formula"
    names, starts = " and ".join(f.name for f in found), " and ".join(str(f.lineno) for f in found)
    helped = " and what it calls" * (len(found) == 1 and len(reached({found[0].name}, tree)) > 1)
    return f"the formula in {names}{helped}, from line{'s' * (len(found) > 1)} {starts} on"


def _names_an_output(sentence: str, trial: Trial) -> bool:
    named = {*OUTPUTS, *trial.results, *(f"d{name}" for name in trial.names)} - set(trial.names)
    return bool(named & set(re.findall(r"\w+", sentence)))


def _placed(sentence: str, one: Explained) -> str:
    """The sentence, and of which outputs it is true, where some are right."""
    if not one.right:
        return sentence
    given, right = (" and ".join(_names(one.trial, which)) for which in (one.given, one.right))
    return f"In {given}, not in {right}: {sentence}"


def _names(trial: Trial, numbers: tuple[int, ...]) -> list[str]:
    wanted = wanted_of(trial)
    asked_for = sum(not want.label for want in wanted)
    return [wanted[n].label or called(n, asked_for, trial.results) or "the result" for n in numbers]
