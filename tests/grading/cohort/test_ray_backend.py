"""What is told of a Ray that cannot be used names the next command."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from grader.errors import CannotGrade
from grader.grading.cohort import ray_backend


class AuthenticationError(Exception):
    """As ray.exceptions has it."""


# What Ray 2.60 raises of a cluster that wants a token: without one here, and with another or a dead agent.
ERRORS = {
    "no token": (AuthenticationError("Token authentication is enabled"), "none here", "auth_token"),
    "another token, or a dead agent": (
        ConnectionError("Failed to connect to Ray cluster at 10.0.0.1:6379"),
        "takes no work",
        "ray stop, and ray start",
    ),
    "no Ray": (
        ConnectionError("Could not find any running Ray instance."),
        "cannot be reached",
        "ray status",
    ),
}


@pytest.mark.parametrize(("error", "problem", "fix"), ERRORS.values(), ids=ERRORS)
def test_a_ray_that_lets_nobody_in(
    error: Exception, problem: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(address: str, **_: Any) -> None:
        raise error

    exceptions = SimpleNamespace(AuthenticationError=AuthenticationError)
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init, exceptions=exceptions))
    with pytest.raises(CannotGrade) as caught, ray_backend.cluster("auto"):
        pass
    assert problem in caught.value.problem
    assert fix in caught.value.fix


def test_a_cluster_without_a_gpu_says_how_to_add_one() -> None:
    ray = SimpleNamespace(cluster_resources=lambda: {"CPU": 4.0})
    with pytest.raises(CannotGrade, match="has no GPU") as caught:
        ray_backend.Graders(ray, "gpu").conditions(strict=True)
    assert (
        caught.value.fix
        == "Leave --gpus out, or on a node with one: ray start --address=HEAD:6379 --num-gpus=1"
    )
