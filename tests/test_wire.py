"""Messages arrive whole, or not at all."""

from __future__ import annotations

import socket
import struct

import pytest

from grader.wire import MAX_HEADER, Channel, Closed, Malformed, TimedOut


@pytest.fixture
def ends() -> tuple[Channel, Channel]:
    ours, theirs = socket.socketpair()
    return Channel(ours), Channel(theirs)


def test_a_header_and_bytes_arrive_as_sent(ends: tuple[Channel, Channel]) -> None:
    ends[0].send({"name": "µ", "blobs": "not mine"}, [b"abc", bytearray(5)])
    assert ends[1].receive(timeout=5) == ({"name": "µ"}, [bytearray(b"abc"), bytearray(5)])


def test_silence_is_a_timeout(ends: tuple[Channel, Channel]) -> None:
    with pytest.raises(TimedOut):
        ends[1].receive(timeout=0.05)


def test_half_a_message_and_a_close_is_a_close(ends: tuple[Channel, Channel]) -> None:
    ends[0].sock.sendall(struct.pack("<I", 100) + b"{")
    ends[0].close()
    with pytest.raises(Closed):
        ends[1].receive(timeout=5)


@pytest.mark.parametrize(
    "raw", [struct.pack("<I", MAX_HEADER + 1), struct.pack("<I", 2) + b"[]", struct.pack("<I", 2) + b"xx"]
)
def test_garbage_is_malformed(ends: tuple[Channel, Channel], raw: bytes) -> None:
    ends[0].sock.sendall(raw)
    with pytest.raises(Malformed):
        ends[1].receive(timeout=5)


def test_more_bytes_than_asked_for_are_not_read(ends: tuple[Channel, Channel]) -> None:
    ends[0].sock.sendall(struct.pack("<I", 20) + b'{"blobs": [10000000]}'[:20])
    with pytest.raises((Malformed, TimedOut)):
        ends[1].receive(timeout=0.2, max_bytes=100)


def test_descriptors_of_one_who_left_are_a_close(ends: tuple[Channel, Channel]) -> None:
    ends[0].close()
    with pytest.raises(Closed):
        ends[1].descriptors(2)
