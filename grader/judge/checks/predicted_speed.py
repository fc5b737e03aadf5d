"""The speed check without a GPU: facts that were counted and compiled, and a time that follows from them."""

from __future__ import annotations

from dataclasses import asdict

from grader.challenge import Challenge, Speed
from grader.diagnosis.fixed_block_sizes import fixed
from grader.diagnosis.pointer_expressions import decided, placed
from grader.judge.failures import NotMeasured, failed, torch_worked
from grader.judge.session import Session
from grader.judge.speed.predict_call import foreseen, name_of_bar
from grader.operator_memory_effects import FILLED, WHOLE_FILLS
from grader.performance.counting.counts import LaunchCounts, Site
from grader.performance.predict import speed_facts
from grader.performance.predict.compare_with_solution import paragraph, profile
from grader.performance.predict.prediction import Call
from grader.performance.predict.reference_predictions import Ours, ours
from grader.verdict import SpeedResult

LEFT_OUT = 0.9  # of the bytes that the task must move; kernels that do it touch all of them
OF_BOTH = 0.8  # the same of both passes: a forward pass that makes the gradient reads some inputs once
CANNOT_RUN = ("compiles", "shared memory")  # what is no question of speed


def check(session: Session, challenge: Challenge, speed: Speed) -> None:
    """Hold one call at full size against what every GPU asks for.

    Raises:
        CheckFailed: a fact is outside of its margin.
        NotMeasured: nothing can be foretold here, or no more than what it takes at least, or of one of an
            autotuner's configs alone.
    """
    if challenge.on_gpu_alone:
        raise NotMeasured("needs a GPU")
    call = foreseen(session, challenge, speed)
    _does_the_work(call, challenge, speed, session.evidence.source)
    reference = ours(name_of_bar(session, challenge, speed))
    if reference and not call.at_least:
        beside = paragraph(call.us, profile(call), reference, _where(session, challenge, speed))
        session.keep_speed(_result(call, reference), beside)
    found = speed_facts.facts(call, reference, fixed(session.evidence.source, session.evidence.given))
    missed = [fact for fact in found if not fact.passed]
    if not missed and call.at_least:
        raise NotMeasured(f"at least {call.us:,.0f} µs by prediction: not all that it does could be counted")
    if not missed:
        return
    guessed = next((launch.kernel for launch in call.launches if launch.guessed), "")
    if guessed:
        raise NotMeasured(f"no prediction: which config of {guessed} a GPU would take is not known")
    first = missed[0]
    facts = {
        "fact": first.name,
        "evidence": "predicted",
        "gpu": call.gpu.name,
        "line": first.line,
        "facts": [asdict(fact) for fact in found],
    }
    look_at = f"line {first.line}" if first.line else first.look_at or first.name
    raise failed(first.says, look_at, "failed" if first.name in CANNOT_RUN else "slow", **facts)


def _does_the_work(call: Call, challenge: Challenge, speed: Speed, source: str) -> None:
    """That what is right at the sizes of cases is done at full size by kernels, too.

    Raises:
        CheckFailed: torch does it, or nobody.
    """
    names = [launch.kernel.removeprefix("torch.") for launch in call.launches if not launch.line]
    worked = [name for name in names if name not in {*FILLED, *WHOLE_FILLS, *challenge.allow}]
    if worked:
        raise torch_worked(worked[0])
    sites = [(site, launch.elsewhere) for launch in call.launches for site in launch.sites]
    touched = sum(_bytes(site, source) for site, elsewhere in sites if site.tensor not in elsewhere)
    least = OF_BOTH if speed.part == "both" else LEFT_OUT
    if touched < least * call.ideal and not call.cut:
        said = (
            f"At full size your kernels touch {touched / 1e6:,.1f} MB where the task asks for "
            f"{call.ideal / 1e6:,.1f} MB: part of it is left out."
        )
        raise failed(said, "the grid at full size")
    if not call.cut and not any(name in {*FILLED, *WHOLE_FILLS} for name in names):
        _stores_all(call, source)


def _stores_all(call: Call, source: str) -> None:
    """That kernels which store to a result store all of it: loads that come again hide what is left out.

    Raises:
        CheckFailed: they store to a part of it.
    """
    if any(site.kind != "load" and not site.tensor for launch in call.launches for site in launch.sites):
        return  # somewhere
    for low, size in call.results:
        stores = [site for launch in call.launches for site in _stores(launch, low)]
        if not stores or any(placed(source, site.line) for site in stores):
            continue  # where nobody knows here
        stored = sum(_bytes(site, source) for site in stores)
        # Programs may store to one result or another: a few of them do not say how many to which.
        if max(stored, sum(site.most for site in stores)) < LEFT_OUT * size:
            said = (
                f"At full size your kernels store {stored / 1e6:,.1f} MB of a result of {size / 1e6:,.1f} "
                "MB: part of it is left out."
            )
            raise failed(said, "the grid at full size")


def _stores(launch: LaunchCounts, low: int) -> list[Site]:
    """The lines that store to the memory of the call's own that begins there."""
    mine = {name for name, extent in launch.tensors.items() if extent.own and extent.low == low}
    return [site for site in launch.sites if site.kind != "load" and site.tensor in mine]


def _bytes(site: Site, source: str) -> float:
    """What a line touches of the memory that the task is about.

    A load may leave out what it has no use for, lane by lane, as dropout may of what is dropped: whole
    sectors come all the same. Where values decide, which nobody has here, its mask may hold back every lane.
    """
    every = site.lanes * site.itemsize
    if site.masked and not site.asked:
        return every if decided(source, site.line) else 0.0
    if site.kind != "load" or not site.masked:
        return site.asked
    return max(site.asked, min(site.moved, every))


def _where(session: Session, challenge: Challenge, speed: Speed) -> str:
    """On which bar, where the day has several."""
    if sum(len(one.speeds) for one in session.challenges) == 1:
        return ""
    several = len({one.part for each in session.challenges for one in each.speeds}) > 1
    return f" in {challenge.entry}() {speed.case.id}" + f" {speed.part}" * several


def _result(call: Call, reference: Ours) -> dict[str, object]:
    times = speed_facts.allowed(call, reference)
    needed = times * reference.us
    ratio = needed / call.us
    result = SpeedResult(
        evidence="predicted",
        yours_us=call.us,
        needed_us=needed,
        torch_us=0.0,
        copy_us=call.copy_us,
        of_copy=call.copy_us / call.us,
        of_torch=0.0,
        bar=f"{times:.3g}× what is predicted for our solution",
        ratio=ratio,
        interval=(ratio, ratio),
        rounds=0,
        gpu=call.gpu.name,
        ours_us=reference.us,
    )
    return asdict(result)
