"""The claims of a challenge, shape by shape: timed like a bar on a GPU, and a pass whatever comes of it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from grader.challenge import Case, Challenge, Claim, Speed
from grader.claim_result import Shape
from grader.judge.failures import CheckFailed, NotMeasured
from grader.judge.session import Session
from grader.judge.speed.benchmark import Benchmark
from grader.performance.timing.stopwatch import own_stream

COMPILED = ("compile", "flex")
ATTENTION = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def check(session: Session, challenge: Challenge, claim: Claim, case: Case) -> None:
    """Time one shape of a claim, and keep what came of it.

    Raises:
        NotMeasured: there is no GPU, or the shape cannot be timed on this one.
    """
    if session.device == "cpu":
        raise NotMeasured("claims are measured on a GPU")
    try:
        shape = _timed(session, challenge, claim, case)
    except CheckFailed as failed:  # a shape that no bar has may be beyond what the day asks for
        session.close()
        shape = Shape(case.id, why=str(failed))
    except (RuntimeError, ImportError) as error:  # torch's own: no such backend here, no memory, no compiler
        torch.cuda.empty_cache()
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        shape = Shape(case.id, why=f"torch: {first:.200}")
    session.claimed.setdefault((challenge.entry, claim.says, claim.backend, claim.part), []).append(shape)
    if shape.why:
        raise NotMeasured(shape.why)


def _timed(session: Session, challenge: Challenge, claim: Claim, case: Case) -> Shape:
    session.all_compiled()
    if claim.backend in COMPILED:
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # a judge has no helpers of torch's
        torch.compiler.reset()  # after eight shapes torch would go back to eager
    first = challenge.speeds[0]
    peer = by(claim.backend, claim.torch or first.torch or challenge.reference)
    speed = Speed(case, moved=first.moved, of_torch=claim.of_torch, torch=peer, part=claim.part)
    with own_stream():
        benchmark = Benchmark(session, challenge, speed)
        benchmark.prepare()
        for _ in range(benchmark.rounds):
            benchmark.round()
    ratio = benchmark.ratio()
    low, high = (end * claim.of_torch for end in ratio.interval)
    return Shape(case.id, ratio.value * claim.of_torch, (low, high))


def by(backend: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A torch function as this backend computes it; FlexAttention is a function of its own."""
    if backend == "compile":
        compiled: Callable[..., Any] = torch.compile(function, dynamic=False)
        return compiled
    if backend not in ATTENTION:
        return function

    @functools.wraps(function)
    def within(*arguments: Any) -> Any:
        with sdpa_kernel(ATTENTION[backend]):
            return function(*arguments)

    return within
