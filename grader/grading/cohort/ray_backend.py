"""Ray, as a cohort uses it: it places gradings on nodes, and repeats one that went down with its node."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from grader.course.setup.doctor import extra
from grader.errors import CannotGrade, pasted
from grader.grading.cohort import worker
from grader.grading.cohort.store import Conditions
from grader.grading.cohort.submission import Submission
from grader.grading.cohort.worker import TRIES, Device, Outcome
from grader.grading.environment import import_path

TOKEN = "export RAY_AUTH_MODE=token, and copy the head's ~/.ray/auth_token to this home."
REACHED = 10.0  # seconds in which a cluster's port answers


@contextmanager
def cluster(address: str) -> Iterator[Any]:
    """Ray, connected: for `local` to one of its own on this machine, else to the one that is there.

    Raises:
        CannotGrade: it is not installed, or cannot be reached.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_task_oom_retries", str(TRIES - 1))  # Ray itself would repeat for ever
    try:
        import ray
    except ModuleNotFoundError as error:
        raise CannotGrade(f"{error.name} is not installed.", extra("cohort")) from None
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == "local":
        options |= {"num_cpus": len(os.sched_getaffinity(0)), "include_dashboard": False}
        options["runtime_env"] = {"env_vars": {"PYTHONPATH": import_path()}}
    try:
        _heard(address)
        ray.init(address, **options)
    except ray.exceptions.AuthenticationError as error:
        raise CannotGrade("Ray is to ask for a token, and there is none here.", TOKEN) from error
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        problem = str(error).strip().partition("\n")[0]
        if address == "local":
            fix = f"df -h {pasted(tempfile.gettempdir())}"
            raise CannotGrade(f"Ray does not start: {problem}", fix) from error
        if "Failed to connect" in problem:  # so Ray says it, though its port answers
            said = "it wants another token, or the node lost its agent, and with it itself"
            fix = f"{TOKEN} For a lost node: ray stop, and ray start again."
            raise CannotGrade(f"Ray at {address} takes no work: {said}.", fix) from error
        raise CannotGrade(f"Ray cannot be reached at {address}: {problem}", "ray status") from error
    # Ray prints a page for each worker or node that is lost; what becomes of their tasks it tells us, too.
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        try:
            yield ray
        finally:
            ray.shutdown()


def _heard(address: str) -> None:
    """Ray itself would try for a quarter of an hour to reach nobody at HOST:PORT.

    Raises:
        OSError: nobody answers there.
    """
    host, _, port = address.rpartition(":")
    if port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACHED).close()


@dataclass(frozen=True)
class Graders:
    """The slots of a cluster, each of which grades one source at a time.

    Args:
        ray: connected.
        device: `cpu` takes a core for each grading, `gpu` a GPU and a core.
        options: of every grading: `seed`, and `explain`.
        private: folders and files that confined code may not read.
    """

    ray: Any
    device: Device
    options: Mapping[str, Any] = field(default_factory=dict)
    private: tuple[str, ...] = ()

    @property
    def slots(self) -> int:
        return int(self.ray.cluster_resources().get(self.device.upper(), 0))

    def conditions(self, strict: bool) -> Conditions:
        """Under what a slot grades.

        Raises:
            CannotGrade: there is none, or the course is not installed there.
        """
        if not self.slots:
            less = "Leave --gpus out, or on a node with one: " if self.device == "gpu" else "On a node: "
            fix = f"{less}ray start --address=HEAD:6379 --num-{self.device}s=1"
            raise CannotGrade(f"This Ray cluster has no {self.device.upper()}.", fix)
        try:
            here = self._remote(worker.ready)
            found: Conditions = self.ray.get(here.remote(self.device, strict))
        except self.ray.exceptions.RayError as error:
            problem = f"A node cannot grade: {_last_line(error)}"
            raise CannotGrade(problem, "Install the same triton-track on each node.") from error
        return found

    def begin(self, submission: Submission, conditions: Conditions) -> Any:
        """A reference to a grading, which begins once a slot is free."""
        key = str(submission.day.key)
        given = key, submission.source, self.device, self.options, conditions, self.private
        return self._grade.remote(*given)

    def ended(self, references: Collection[Any], timeout: float) -> Iterator[tuple[Any, Outcome]]:
        """Those that have ended, once there is one or `timeout` seconds have passed."""
        flying = list(references)
        if self.ray.wait(flying, num_returns=1, timeout=timeout)[0]:
            for reference in self.ray.wait(flying, num_returns=len(flying), timeout=0)[0]:
                yield reference, self._outcome(reference)

    def _outcome(self, reference: Any) -> Outcome:
        errors = self.ray.exceptions
        try:
            found: Outcome = self.ray.get(reference)
        except (errors.WorkerCrashedError, errors.OutOfMemoryError):
            return {"ended": TRIES}
        except errors.RayError as error:
            return {"problem": _last_line(error)}
        return found

    @cached_property
    def _grade(self) -> Any:
        return self._remote(worker.grade)

    def _remote(self, function: Callable[..., Any]) -> Any:
        # Ray ends a worker that was given a GPU after each task, unless told otherwise: so that its memory
        # is free again. Ours never touches the GPU, and keeps a warm parent.
        gpu = {"num_gpus": 1, "max_calls": 0} if self.device == "gpu" else {}
        options = {"num_cpus": 1, "max_retries": TRIES - 1, "scheduling_strategy": "SPREAD", **gpu}
        return self.ray.remote(**options)(function)


def _last_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]
