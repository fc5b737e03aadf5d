"""Kernels in turns: what is timed, what is wrong, and what ends a process ends no bench."""

from __future__ import annotations

import contextlib
import inspect
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from grader.challenge import Case, Challenge, Gradients, Speed
from grader.challenge.loading import load_challenges
from grader.cli.benchmark import interleaved_timing, main
from grader.cli.benchmark.contenders import Contender, contenders, files, gluon_files, missing
from grader.cli.benchmark.interleaved_timing import INEXACT, Turns
from grader.cli.benchmark.libraries import GLUON
from grader.cli.benchmark.results import Machine, from_json
from grader.cli.benchmark.sweep import Wanted
from grader.cli.benchmark.times import Times
from grader.course import catalog

MACHINE = Machine("a GPU", 1000.0, {"fp32": 1.0})


class Watch:
    """A stopwatch that says what each function's `us` is, and calls it."""

    def __init__(self, function: Any, arguments: Any, rolled: Any, writes: Any = ()) -> None:
        copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in arguments]
        self.function, self.arguments = function, copies

    def warm_up(self, seconds: float) -> float:
        return self.round(1, [1])[0]

    def round(self, calls: int, nonces: Any) -> list[float]:
        assert len(nonces) >= calls
        self.function(*self.arguments)
        return [getattr(self.function, "us", 100.0) * random.Random(nonces[0]).uniform(0.99, 1.01)] * calls

    def burst(self, calls: int) -> None:
        self.function(*self.arguments)

    def capture(self, us: float) -> bool:
        return True


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interleaved_timing, "DEVICE", "cpu")
    monkeypatch.setattr(interleaved_timing, "copying", lambda moved: (torch.neg, torch.ones(int(moved) // 8)))
    monkeypatch.setattr(interleaved_timing, "Stopwatch", Watch)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(main, "own_stream", contextlib.nullcontext)


def doubling(**more: Any) -> tuple[Challenge, Speed]:
    speed = Speed(Case(n=64), moved=lambda x: 2 * x.nbytes, of_copy=0.6, **more)
    one = Challenge("double", lambda case, draw: (draw(case.n),), lambda x: x * 2, [Case(n=4)], speed=speed)
    return one, speed


def named(name: str, function: Callable[..., Any], us: float = 100.0) -> Contender:
    function.us = us  # type: ignore[attr-defined]
    return Contender(name, "stamp", lambda _: function)


def run(*given: Contender, case: Case | None = None) -> dict[str, Times]:
    challenge, speed = doubling()
    times: dict[str, Times] = {}
    Turns(challenge, speed, case or speed.case, lambda name: None).run(given, times)
    return times


def test_every_kernel_and_a_copy_are_timed_in_as_many_rounds(no_gpu: None) -> None:
    times = run(named("ours", lambda x: x + x, 100.0), named("eager", lambda x: x * 2, 200.0))
    assert set(times) == {"ours", "eager", "copy"}
    assert all(len(one.rounds) == interleaved_timing.ROUNDS for one in times.values())
    assert times["ours"].us == pytest.approx(100, rel=0.02)
    assert times["eager"].us == pytest.approx(200, rel=0.02)
    low, high = times["eager"].interval
    assert 195 < low <= times["eager"].us <= high < 205
    assert not times["eager"].problem


def test_wrong_values_are_timed_and_told(no_gpu: None) -> None:
    times = run(named("yours", lambda x: x * 2 + 0.1))
    assert times["yours"].problem == INEXACT
    assert times["yours"].us


@pytest.mark.parametrize("fails_at", [1, 5])
def test_who_breaks_has_no_time_and_the_others_have_theirs(no_gpu: None, fails_at: int) -> None:
    calls = []

    def breaks(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        if len(calls) >= fails_at:
            raise ValueError("no config fits\nmore")
        return x * 2

    times = run(named("yours", breaks), named("eager", lambda x: x * 2))
    assert times["yours"].problem == "ValueError: no config fits"
    assert not times["yours"].us
    assert times["eager"].us


def test_who_loses_the_gpu_is_told_and_the_rest_is_left_for_another_process(
    no_gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def strays(x: torch.Tensor) -> torch.Tensor:
        def dead() -> None:
            raise RuntimeError("CUDA error: an illegal memory access")

        monkeypatch.setattr(torch.cuda, "synchronize", dead)
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    challenge, speed = doubling()
    times: dict[str, Times] = {}
    with pytest.raises(RuntimeError, match="illegal memory access"):
        Turns(challenge, speed, speed.case, lambda name: None).run(
            [named("yours", strays), named("eager", lambda x: x * 2)], times
        )
    assert "illegal memory access" in times["yours"].problem
    assert not times["eager"].problem
    assert not times["eager"].rounds


def test_who_has_no_memory_beside_others_is_timed_alone(no_gpu: None) -> None:
    tried = []

    def large(x: torch.Tensor) -> torch.Tensor:
        tried.append(1)
        if len(tried) == 1:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        return x * 2

    times = run(named("yours", large, 300.0), named("eager", lambda x: x * 2))
    assert times["yours"].us == pytest.approx(300, rel=0.02)
    assert not times["yours"].problem
    assert len(times["eager"].rounds) == len(times["copy"].rounds) == interleaved_timing.ROUNDS


def test_short_calls_are_captured_all_of_them(no_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    captured: list[float] = []
    monkeypatch.setattr(Watch, "capture", lambda self, us: captured.append(us))
    run(named("ours", lambda x: x + x, 1500.0), named("eager", lambda x: x * 2, 1500.0))
    assert not captured
    run(named("ours", lambda x: x + x, 20.0), named("eager", lambda x: x * 2, 1500.0))
    assert len(captured) == 3, "the copy, too"


def test_a_reference_may_compute_in_more_bits_than_its_result_has(no_gpu: None) -> None:
    challenge, speed = doubling()
    wide = replace(challenge, reference=lambda x: x.double() / 3, returns=torch.float16)
    given = [named("ours", lambda x: (x / 3).half()), named("yours", lambda x: (x / 3.01).half())]
    times: dict[str, Times] = {}
    Turns(wide, speed, speed.case, lambda name: None).run(given, times)
    assert (times["ours"].problem, times["yours"].problem) == ("", INEXACT)


def test_rounding_ties_of_8_bits_are_settled(no_gpu: None) -> None:
    challenge, speed = doubling()
    coded = replace(
        challenge,
        reference=lambda x: (x * 2).to(torch.float8_e4m3fn),
        returns=torch.float8_e4m3fn,
        accept=lambda out, x: torch.ones_like(x, dtype=torch.bool),
    )

    def off(x: torch.Tensor) -> torch.Tensor:
        out = (x * 2).to(torch.float8_e4m3fn)
        return torch.cat([-out[:1].float(), out[1:].float()]).to(torch.float8_e4m3fn)

    given = [named("ours", off), named("yours", lambda x: (x * 3).to(torch.float8_e4m3fn))]
    times: dict[str, Times] = {}
    Turns(coded, speed, speed.case, lambda name: None).run(given, times)
    assert (times["ours"].problem, times["yours"].problem) == ("", INEXACT)


def test_gradients_are_held_against_torch(no_gpu: None) -> None:
    speed = Speed(Case(n=64), moved=lambda x: x.nbytes, of_torch=1.0, part="backward")
    challenge = Challenge(
        "square",
        lambda case, draw: (draw(case.n),),
        lambda x: x * x,
        [Case(n=4)],
        gradients=Gradients((0,), lambda x: x.nbytes),
        speed=speed,
    )
    times: dict[str, Times] = {}
    given = [named("ours", lambda x: x.square()), named("yours", lambda x: (x - 1).square() + 2 * x)]
    Turns(challenge, speed, speed.case, lambda name: None).run(given, times)
    assert (times["ours"].problem, times["yours"].problem) == ("", "")  # the same gradient
    given = [named("yours", lambda x: x.square() + x)]
    Turns(challenge, speed, speed.case, lambda name: None).run(given, times)
    assert times["yours"].problem == INEXACT


def events_of(
    only: str = "", done: list[str] | None = None, beside: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    day = catalog.find("13")
    (stop, *_) = main.stops(day, Wanted("cols=16"))
    stop = main.Stop(day, stop.challenge, stop.speed, Case(rows=4, cols=16), stop.sizes)
    said: list[dict[str, Any]] = []
    request = {"only": only, "done": done or [], "beside": beside}
    main.measure(stop, [], MACHINE, request, said.append)
    return said


def test_a_point_says_who_is_tried_and_brings_a_result_each(
    no_gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.cli.benchmark.contenders._compiled", lambda function: function)
    said = events_of()
    assert said[0]["event"] == "point"
    found = {one["result"]["provider"]: one["result"] for one in said if one["event"] == "result"}
    assert set(found) >= {"eager", "compile", "copy"}
    assert found["eager"]["point"]["limit_us"] == pytest.approx(2 * 4 * 16 * 4 / 1000 / 1e3)
    assert {one["provider"] for one in said if one["event"] == "trying"} == set(found)


def test_what_is_done_is_not_measured_again(no_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.cli.benchmark.contenders._compiled", lambda function: function)
    said = events_of()
    done = [from_json(one["result"]).key for one in said if one["event"] == "result"]
    assert [one["event"] for one in events_of(done=done)] == ["point"]
    assert [one["event"] for one in events_of(only="yours")] == ["point"]


def test_peers_are_timed_again_beside_what_is_timed(no_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.cli.benchmark.contenders._compiled", lambda function: function)
    said = events_of()
    kept = {
        one["result"]["provider"]: from_json(one["result"]).key for one in said if one["event"] == "result"
    }
    assert [one["event"] for one in events_of(done=list(kept.values()), beside=("eager",))] == ["point"]
    said = events_of(done=[kept["eager"]], beside=("eager",))
    again = [one["result"]["provider"] for one in said if one["event"] == "result"]
    assert sorted(again) == sorted(kept)


def test_the_learners_file_is_loaded_beside_ours(tmp_path: Any) -> None:
    day = catalog.find("13")
    mine = tmp_path / "kernel.py"
    mine.write_text("def softmax(x):\n    return x.softmax(dim=1)\n")
    challenge, speed = doubling()
    given = files(day, {"yours": str(mine)})
    assert [one.name for one in given] == ["ours", "yours"]
    names = [one.name for one in contenders(day, challenge, speed, given)]
    assert names == ["ours", "yours", "eager", "compile"]
    assert given[0].stamp != given[1].stamp
    x = torch.ones(2, 4)
    assert given[1].module.softmax(x).sum() == pytest.approx(2)


def test_an_extra_in_gluon_is_timed_beside_its_day_on_a_hopper_alone(
    no_gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = catalog.find("32")
    challenge = load_challenges(day.hidden_tests)[0]

    def names() -> list[str]:
        return [one.name for one in contenders(day, challenge, challenge.speeds[0], [])]

    assert "gluon" not in names()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (9, 0))
    assert names()[-2:] == ["gluon", "gluon fast"]
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (10, 0))
    assert "gluon" not in names()


@pytest.mark.parametrize(("place", "entry"), GLUON)
def test_each_extra_in_gluon_takes_the_arguments_of_its_day(place: str, entry: str) -> None:
    day = next(one for one in catalog.course() if one.place == place)
    (ours, *_) = files(day, {})
    asked = inspect.signature(getattr(ours.module, entry)).parameters
    one = GLUON[place, entry]
    for file in gluon_files(one).values():
        taken = inspect.signature(one.adapt(getattr(file.module, one.entry))).parameters
        assert list(taken) == list(asked)


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "grader.cli.benchmark.contenders.installed", lambda library: library.package == "torch"
    )
    assert missing([catalog.find("13"), catalog.find("32")]) == ["liger-kernel"]
    assert missing([catalog.find("32")]) == []
