"""Bytes that one process lends another on a GPU arrive as they are; without CUDA they travel by the host."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import torch

from grader.challenge.harness import runner_client
from grader.challenge.harness.runner_client import LENT, Runner
from grader.cuda_ipc import Unlendable
from grader.runner import tensors_lent_by_judge
from grader.runner.tensors_lent_by_judge import Borrower
from grader.runner_answers import Borrowed, Called

BORROWS = """
import json, sys, torch
from grader.cuda_ipc import borrowed
found = borrowed(json.loads(sys.stdin.readline()))
print([int(one.sum()) for one in found], [len(one) for one in found])
for one in found:
    one.fill_(7)
torch.cuda.synchronize()
"""


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_what_is_lent_arrives_and_stays_the_lenders() -> None:
    from grader.cuda_ipc import lent

    tensors = [torch.full((size,), 3, dtype=torch.uint8, device="cuda") for size in (1, 1000, 0, 5 << 20)]
    with lent(tensors) as note:
        command = [sys.executable, "-c", BORROWS]
        ran = subprocess.run(command, input=json.dumps(note), capture_output=True, text=True, check=True)
    assert ran.stdout == "[3, 3000, 0, 15728640] [1, 1000, 0, 5242880]\n"
    assert all(bool((one == 3).all()) for one in tensors)


def test_a_runner_says_that_it_cannot_borrow(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(note: dict[str, Any]) -> list[torch.Tensor]:
        raise Unlendable("no")

    monkeypatch.setattr(tensors_lent_by_judge, "borrowed", refused)
    assert Borrower().borrow({"lent": {}}, []) == (Borrowed(False), [])


def test_what_was_borrowed_is_for_the_command_that_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    one = torch.zeros(3, dtype=torch.uint8)
    monkeypatch.setattr(tensors_lent_by_judge, "borrowed", lambda note: [one])
    borrower = Borrower()
    command = borrower.lending(lambda header, blobs: (blobs, []))
    borrower.borrow({"lent": {}}, [])
    assert command({}, [b"sent"])[0] == [b"sent"]
    assert command({"borrowed": True}, [])[0] == [one]
    assert command({"borrowed": True}, [])[0] == []


class OnGpu:
    """A large storage that says it lies on a GPU."""

    is_cuda = True

    def __len__(self) -> int:
        return LENT


def test_where_lending_fails_once_bytes_travel_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(storages: list[torch.Tensor]) -> Any:
        raise Unlendable("no")

    asked: list[tuple[dict[str, Any], Any]] = []
    monkeypatch.setattr(runner_client, "lent", refused)
    runner = Runner.__new__(Runner)
    runner.borrows = True
    monkeypatch.setattr(
        runner, "ask", lambda command, form, blobs=(), *, timeout: asked.append((command, blobs))
    )
    storages: Any = [OnGpu()]
    for _ in range(2):
        runner.ask_with({"do": "call"}, Called, storages, timeout=1.0)
    assert asked == [({"do": "call", "borrowed": False}, storages)] * 2
    assert not runner.borrows
