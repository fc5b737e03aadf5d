"""Messages between judge, runner and warm parent: a JSON header and raw bytes over a Unix socket.

Nothing is ever unpickled: whoever owns the other end can at worst send a wrong answer.
"""

from __future__ import annotations

import json
import signal
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

MAX_HEADER = 8 << 20
WHERE = signal.SIGRTMIN  # asks a child where it is: it prints its stack. LLVM takes SIGUSR1 over
NO_MEMORY = 71  # exit code of a child that ran out of memory where nothing could be answered any more
_PREFIX = struct.Struct("<I")


class Closed(Exception):
    """The other end is gone."""


class TimedOut(Exception):
    """The other end said nothing in time."""


class Malformed(Exception):
    """The other end sent something that is not a message, or a larger one than was asked for."""


class Channel:
    """One end of a conversation.

    Args:
        sock: a connected stream socket; the channel owns it.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def send(self, header: dict[str, Any], blobs: Sequence[bytes | bytearray | memoryview] = ()) -> None:
        """Send one message.

        Raises:
            Closed: the other end is gone.
        """
        views = [memoryview(blob).cast("B") for blob in blobs]
        text = json.dumps({**header, "blobs": [len(view) for view in views]}).encode()
        try:
            self.sock.settimeout(None)
            self.sock.sendall(_PREFIX.pack(len(text)) + text)
            for view in views:
                self.sock.sendall(view)
        except OSError as error:
            raise Closed(str(error)) from error

    def receive(
        self, timeout: float | None = None, max_bytes: int = 1 << 40
    ) -> tuple[dict[str, Any], list[bytearray]]:
        """Wait for one message.

        Args:
            timeout: seconds for the whole message; None waits for ever.
            max_bytes: the most that all blobs together may hold.

        Raises:
            Closed, TimedOut, Malformed
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        (length,) = _PREFIX.unpack(self._exactly(_PREFIX.size, deadline))
        if length > MAX_HEADER:
            raise Malformed(f"a header of {length} bytes")
        try:
            header = json.loads(bytes(self._exactly(length, deadline)))
            sizes = [int(size) for size in header.pop("blobs")]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise Malformed(str(error)) from error
        if sum(sizes) > max_bytes or min(sizes, default=0) < 0:
            raise Malformed(f"{sum(sizes)} bytes where at most {max_bytes} were asked for")
        return header, [self._exactly(size, deadline) for size in sizes]

    def hand_over(self, descriptors: Sequence[int]) -> None:
        """Give open files to the other end; they stay open here.

        Raises:
            Closed: the other end is gone.
        """
        try:
            socket.send_fds(self.sock, [b"f"], descriptors)
        except OSError as error:
            raise Closed(str(error)) from error

    def descriptors(self, count: int) -> list[int]:
        """Wait for so many open files, handed over at once.

        Raises:
            Closed: the other end is gone.
        """
        try:
            self.sock.settimeout(None)
            _, found, _, _ = socket.recv_fds(self.sock, 1, count)
        except OSError as error:
            raise Closed(str(error)) from error
        if len(found) < count:
            raise Closed("end of stream")
        return list(found)

    def _exactly(self, count: int, deadline: float | None) -> bytearray:
        buffer = bytearray(count)
        view, filled = memoryview(buffer), 0
        while filled < count:
            try:
                self.sock.settimeout(None if deadline is None else max(deadline - time.monotonic(), 1e-3))
                got = self.sock.recv_into(view[filled:])
            except TimeoutError as error:
                raise TimedOut from error
            except OSError as error:
                raise Closed(str(error)) from error
            if got == 0:
                raise Closed("end of stream")
            filled += got
        return buffer

    def close(self) -> None:
        self.sock.close()
