"""The check of what a file would launch on GPUs that need not be here: it fits there, and spills nothing."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict

from grader.challenge import Challenge
from grader.challenge.harness.runner_client import RunnerLost
from grader.datasheets import Gpu
from grader.judge.background_compile import question, surveyed
from grader.judge.failures import CheckFailed, NotMeasured, failed
from grader.judge.session import Session
from grader.judge.speed.compile_for_gpu import AT_ONCE, Recipe, Wanted, builder, compiled
from grader.performance.predict.prediction import Compiled
from grader.performance.predict.speed_facts import STACK

TIMEOUT = 30.0  # seconds for one kernel: machine code that spills takes its time

Launch = tuple[str, Recipe]  # the name of a case, and what it launches


def check(session: Session, challenge: Challenge) -> None:
    """Compile the launches of each case for its GPU; of what an autotuner tries nothing is said.

    Raises:
        CheckFailed: the first launch that a GPU does not take.
        NotMeasured: what a case launches is not known.
    """
    gpus = {session.asked.case_id((challenge, case)): gpu for case, gpu in challenge.targets.items()}
    questions = [question(session, challenge, case) for case in challenge.targets]
    launches: list[tuple[str, Recipe]] = []
    with suppress(RunnerLost):
        launches.extend(surveyed(session, questions))
    unknown = next((name for name in gpus if name not in dict(launches)), "")
    if unknown:
        raise NotMeasured(f"no launch is seen with {unknown}")
    each = [(gpu, [one for one in launches if gpus[one[0]] == gpu]) for gpu in dict.fromkeys(gpus.values())]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        told = [one for one in pool.map(lambda pair: _refused(session, *pair), each) if one]
    if told:
        raise next((one for one in told if isinstance(one, CheckFailed)), told[0])


def _refused(session: Session, gpu: Gpu, launches: Sequence[Launch]) -> CheckFailed | NotMeasured | None:
    """The first of these launches that is not for this GPU; a process for each, as Triton keeps its first."""
    source, sheet = session.evidence.source, asdict(gpu)
    process = builder(session, sheet)
    try:
        for case, recipe in launches:
            if recipe["tuned"] or "unknown" in recipe:
                continue
            told, _ = compiled(process, recipe, Wanted(""), source, sheet, TIMEOUT)
            why = _why(told, recipe["kernel"], gpu)
            if why:
                line = told.fault.get("line") or recipe["line"]  # at the least that of the kernel's `def`
                look_at = f"line {line}" if told.fault else "the tile, num_warps and num_stages"
                return failed(f"With {case}, {why}.", look_at, case=case, gpu=gpu.name, line=line)
    except RunnerLost as lost:
        return NotMeasured(lost.reason)
    finally:
        process.close()
    return None


def _why(told: Compiled, kernel: str, gpu: Gpu) -> str:
    """Why a launch is not for this GPU; empty where it is, or where that is not known."""
    facts = told.facts
    if told.fault:
        return f"Triton cannot compile {kernel} for {gpu.name}: {told.fault['message']}".rstrip(".")
    if facts and not facts["fits"]:
        needs, has = (f"{size / 1024:.0f} KB" for size in (facts["shared"], gpu.shared))
        return f"{kernel} needs {needs} of shared memory, and on {gpu.name} a program may have {has}"
    if facts and facts["stack"] > STACK:
        return f"{kernel}, compiled for {gpu.name}, spills {facts['stack']} bytes a thread"
    return ""
