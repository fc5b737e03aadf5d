"""What this GPU cannot run is not measured on it, and is said so; without a GPU nothing is left out."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from grader.challenge import Case, Challenge, Speed
from grader.errors import CannotGrade, TrackError
from grader.grading.judge_events import give_up
from grader.judge.checks import capability
from grader.judge.failures import NotMeasured


def session(major: int, minor: int, device: str = "cuda", needs: tuple[int, int] | None = (8, 9)) -> Any:
    gpu: Future[Any] = Future()
    gpu.set_result(SimpleNamespace(major=major, minor=minor, name="NVIDIA A100"))
    one = Challenge("fp8_quantize", lambda case, draw: (), lambda: None, [Case()], needs=needs)
    return SimpleNamespace(device=device, gpu=gpu, challenges=[one])


@pytest.mark.parametrize(("major", "minor"), [(8, 0), (8, 6), (7, 5)])
def test_a_day_that_needs_more_than_this_gpu_has_is_not_tried_on_it(major: int, minor: int) -> None:
    assert capability.refusal(session(major, minor)) == (
        "Not measured here: fp8_quantize() needs a GPU of compute capability 8.9, and this A100 has "
        f"{major}.{minor}."
    )


@pytest.mark.parametrize(("major", "minor"), [(8, 9), (9, 0), (10, 0), (12, 0)])
def test_one_that_has_as_much_tries_it(major: int, minor: int) -> None:
    assert capability.refusal(session(major, minor)) == ""
    capability.check(session(major, minor), (8, 9))


def test_what_later_gpus_lack_is_not_tried_on_them() -> None:
    for major, tried in ((8, False), (9, True), (10, False)):
        one = session(major, 0, needs=(9, 0))
        one.challenges = [replace(one.challenges[0], later=False)]
        assert (capability.refusal(one) == "") == tried


def test_without_a_gpu_nothing_is_left_out() -> None:
    assert capability.refusal(session(0, 0, "cpu")) == ""
    capability.check(session(0, 0, "cpu"), (8, 9))


def test_a_bar_alone_may_need_more() -> None:
    old = session(7, 5, needs=None)
    assert capability.refusal(old) == ""
    capability.check(old, None)
    with pytest.raises(
        NotMeasured, match=r"not measured here: the bar needs .* 8\.0, and this A100 has 7\.5"
    ):
        capability.check(old, (8, 0))


def test_the_bar_of_a_product_needs_matrix_units_that_triton_reaches() -> None:
    def moved(x: object) -> int:
        return 1

    assert Speed(Case(n=1), moved, of_torch=0.5).capability is None
    assert Speed(Case(n=1), moved, of_torch=0.5, flops=moved).capability == (8, 0)
    assert Speed(Case(n=1), moved, of_torch=0.5, flops=moved, needs=(9, 0)).capability == (9, 0)


def test_the_next_command_grades_without_the_gpu() -> None:
    event = {"event": "refused", "text": capability.refusal(session(8, 0)), "flag": " --cpu"}
    with pytest.raises(TrackError) as raised:
        give_up(event, "track grade fp8_quantize")
    assert raised.value.fix == "track grade fp8_quantize --cpu"


def test_a_gpu_without_room_is_no_bug_of_ours() -> None:
    text = "Traceback\ngrader/judge/case/draw.py:107\nE  OutOfMemoryError: CUDA out of memory. Tried"
    with pytest.raises(CannotGrade, match="memory ran out") as raised:
        give_up({"event": "broken", "text": text}, "track grade 25")
    assert raised.value.fix == "track grade 25 --cpu"
