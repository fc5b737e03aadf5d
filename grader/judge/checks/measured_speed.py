"""The speed check: the learner's time against this GPU's own copy and torch.

Slow is what is slow twice: a right kernel of day 22 came out at three quarters of its speed once in forty
gradings, and one of day 23 at half, when something else kept the machine busy.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import asdict

from grader.challenge import Challenge, Speed
from grader.judge.failures import failed
from grader.judge.session import Session
from grader.judge.speed.benchmark import HOPELESS, Benchmark
from grader.judge.speed.ratio import Ratio, noisy
from grader.performance.timing.stopwatch import own_stream
from grader.timing_spans import span
from grader.verdict import SpeedResult

MORE, MOST = 10, 60  # rounds
TIME_LIMIT = 10.0  # seconds of rounds
LOOKED_AT = 0.15  # of the rounds, and the last one: nobody knows which


def check(session: Session, challenge: Challenge, speed: Speed) -> None:
    """Time the learner's kernel against the bar.

    Raises:
        CheckFailed: too slow, inconclusive, or not to be believed.
    """
    session.all_compiled()
    with own_stream():
        benchmark = _timed(session, challenge, speed)
        ratio = benchmark.ratio()
        if ratio.verdict == "slow" and ratio.value > 1 / HOPELESS:
            del benchmark  # its tensors may be all that there is room for
            benchmark = _timed(session, challenge, speed)
            ratio = benchmark.ratio()
        if ratio.verdict == "slow":
            benchmark.check_idle()
    result = _result(benchmark, ratio)
    session.keep_speed(asdict(result))
    if ratio.verdict == "inconclusive" and noisy(ratio.noise):
        sentence = (
            f"This machine is too noisy to tell {result.yours_us:.1f} µs from the {result.needed_us:.1f} µs "
            f"that are needed: the same copy timed twice differs by {ratio.noise - 1:+.1%}."
        )
        raise failed(sentence, "other work on this GPU", "inconclusive")
    if ratio.verdict != "passed":
        sentence = (
            f"{result.yours_us:.1f} µs is {result.of_torch:.2g}× torch's speed; {1 / ratio.value:.2g}× is "
            f"missing to the bar, {ratio.bar} ({result.needed_us:.1f} µs)."
        )
        raise failed(sentence, "bytes moved, lanes idle, programs launched", ratio.verdict)


def _timed(session: Session, challenge: Challenge, speed: Speed) -> Benchmark:
    with span("prepare"):
        benchmark = Benchmark(session, challenge, speed)
        benchmark.prepare()
    with span("rounds"):
        _run(benchmark)
    with span("audit"):
        benchmark.verify()
        benchmark.audit()
    return benchmark


def _result(benchmark: Benchmark, ratio: Ratio) -> SpeedResult:
    median = {who: statistics.median(times) for who, times in benchmark.times.items()}
    return SpeedResult(
        evidence="measured",
        yours_us=median["yours"],
        needed_us=median["yours"] * ratio.value,
        torch_us=median["torch"],
        copy_us=median["copy"],
        of_copy=median["copy"] / median["yours"],
        of_torch=median["torch"] / median["yours"],
        bar=ratio.bar,
        ratio=ratio.value,
        interval=ratio.interval,
        rounds=len(benchmark.times["yours"]),
        noise=ratio.noise,
    )


def _run(benchmark: Benchmark) -> None:
    """Rounds until the interval clears the bar, or enough is enough."""
    begin = time.monotonic()
    for done in range(1, MOST + 1):
        benchmark.round()
        if benchmark.random.random() < LOOKED_AT:
            with span("verify"):
                benchmark.verify()
        if done < benchmark.rounds:
            continue
        if (done - benchmark.rounds) % MORE == 0 and benchmark.ratio().verdict != "inconclusive":
            return
        if time.monotonic() - begin > TIME_LIMIT:
            return
