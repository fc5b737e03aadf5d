"""The launches of a case made once more on another draw of it, by the runner alone.

Kernels compute all that follows from the values of inputs, so that the same launches give the right result
for other contents, too. What the launcher worked out itself, by whatever means, handed over or remembered, is
still that of the first draw. Which cases are tried again nobody can know while the learner's code runs.
"""

from __future__ import annotations

import torch

from grader.answers import Called, Failed, Repeated
from grader.challenge import Case
from grader.judge.case.attempt import ask_oracle
from grader.judge.case.compare import Finding
from grader.judge.case.link import Runner, pack_arguments, read_outputs
from grader.judge.case.trial import Trial, draw, repeatable
from grader.judge.case.values import all_right
from grader.request import Request

KINDS = 6  # dtypes, each with a way to lie in memory


def _chosen(trial: Trial, request: Request) -> bool:
    """Whether to try this one again: those of several calls, and of some dtypes and layouts one each."""
    challenge, case = trial.challenge, trial.case
    if not trial.passed or not repeatable(trial.arguments):
        return False
    lots = request.rng(challenge.entry, "repeated")
    kinds: dict[frozenset[str], list[Case]] = {}
    for other in challenge.cases:
        if not other.gpu:
            kinds.setdefault(_kind(other), []).append(other)
    drawn = lots.sample(list(kinds.values()), min(KINDS, len(kinds)))
    return case.calls > 1 or any(case is lots.choice(alike) for alike in drawn)


def _kind(case: Case) -> frozenset[str]:
    return frozenset(
        {case.layout, str(case.dtype), *(str(v) for name, v in case.sizes.items() if name.endswith("layout"))}
    )


def repeated(runner: Runner, trial: Trial, request: Request) -> Trial | None:
    """The trial of the same launches on another draw, with a finding if they do not give its result.

    Returns:
        None for most cases, and where it cannot be told: no other draw lies in memory alike, or torch did
        part of the work.

    Raises:
        RunnerLost: the runner crashed or hung.
    """
    if not _chosen(trial, request):
        return None
    assert trial.answer is not None
    assert isinstance(trial.answer.report, Called)
    second = _other(trial, request)
    specs, blobs = pack_arguments(*second.runner_arguments())
    if specs != pack_arguments(*trial.runner_arguments())[0]:
        return None
    answer, data = runner.ask({"do": "repeat"}, Repeated, blobs, timeout=request.call_timeout)
    if isinstance(answer, Repeated) and not answer.possible:
        return None
    outputs = [] if isinstance(answer, Failed) else read_outputs(trial.answer.report, data, None)[0]
    if trial.challenge.chance and outputs:
        device = "cuda" if request.device == "gpu" else "cpu"
        second.kept = (trial.challenge.chance.keep(*second.arguments, *(out.to(device) for out in outputs)),)
        ask_oracle(second, 0, device)
    if len(outputs) != len(trial.answer.outputs) or not all_right(second, outputs):
        second.findings = [Finding("launcher", "the launches alone do not give the result")]
    return second


def _other(trial: Trial, request: Request) -> Trial:
    """The same case, drawn once more; its numbers stay."""
    device = "cuda" if request.device == "gpu" else "cpu"
    seed = request.rng(trial.case.id, "another").getrandbits(32)
    drawn = draw(trial.challenge, trial.case, seed, device)
    pairs = zip(drawn, trial.arguments, strict=True)
    arguments = tuple(new if isinstance(new, torch.Tensor) else old for new, old in pairs)
    names, results = trial.names, trial.results
    second = Trial(trial.challenge, trial.case, arguments, names, results, oracle_arguments=arguments)
    second.kept = trial.kept
    ask_oracle(second, seed, device)
    return second
