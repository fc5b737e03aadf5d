"""A process is late by its own time, and not by that of others."""

from __future__ import annotations

import os
import socket
import time

import pytest

from grader.challenge.harness import timeouts
from grader.grading.grade import CALL_TIMEOUT
from grader.grading.judge_events import SILENCE
from grader.judge import compile_ahead
from grader.judge.suite import BUSY
from grader.request import Device


@pytest.fixture
def sockets() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair()


def test_who_sleeps_is_late(sockets: tuple[socket.socket, socket.socket]) -> None:
    began = time.monotonic()
    assert not timeouts.answers(sockets[0], os.getpid(), 0.2)
    assert 0.2 <= time.monotonic() - began < 5


def test_an_answer_ends_the_waiting(sockets: tuple[socket.socket, socket.socket]) -> None:
    sockets[1].send(b"x")
    assert timeouts.answers(sockets[0], os.getpid(), 100)


def test_who_waits_for_a_core_has_as_much_longer(
    sockets: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = iter((5.0, 5.3))
    monkeypatch.setattr(timeouts, "in_line", lambda _: next(told, 5.3))
    began = time.monotonic()
    assert not timeouts.answers(sockets[0], os.getpid(), 0.2)
    assert time.monotonic() - began >= 0.5


def test_but_not_for_ever(
    sockets: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeouts, "MOST", 0.1)
    monkeypatch.setattr(timeouts, "in_line", lambda _: time.monotonic())
    assert not timeouts.answers(sockets[0], os.getpid(), 0.1)


def test_where_the_system_does_not_say_nothing_is_added() -> None:
    assert timeouts.in_line(2**30) == 0.0


@pytest.mark.parametrize(("device", "compiling"), [("cpu", 0.0), ("gpu", compile_ahead.WAITED)])
def test_a_late_runner_is_told_before_anybody_takes_it_for_our_bug(device: Device, compiling: float) -> None:
    assert compiling + timeouts.MOST + 5 < BUSY[device]
    assert CALL_TIMEOUT[device] + BUSY[device] <= SILENCE[device]


def test_a_second_look_has_its_time_within_its_check() -> None:
    assert CALL_TIMEOUT["cpu"] + timeouts.MOST <= BUSY["cpu"]
