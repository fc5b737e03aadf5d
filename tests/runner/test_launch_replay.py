"""What a call launched can be launched again, and then follows from the memory that it finds."""

from __future__ import annotations

import torch

from grader.runner.launch_replay import Recording


def recorded(x: torch.Tensor, y: torch.Tensor, number: float) -> Recording:
    """A launch of y += x + number, where y held 1."""
    recording = Recording()
    recording.meets([y.untyped_storage()])
    recording.steps.append(lambda: y.add_(x + number))
    recording.steps[0]()
    recording.results = [y]
    return recording


def test_memory_is_put_back_and_steps_meet_new_contents_but_old_numbers() -> None:
    x, y = torch.zeros(4), torch.ones(4)
    recording = recorded(x, y, float(x.sum()))
    x.fill_(2.0)
    for _ in range(2):
        recording.repeat()
        assert y.tolist() == [3.0] * 4
