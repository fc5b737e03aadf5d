"""A runner on a GPU that makes ready what its first call needs while the judge is still busy.

One that is to be confined cannot: a process that it goes on in would have no use of a CUDA context.
"""

from __future__ import annotations

import contextlib

import torch
from triton.runtime import driver

from grader.runner import main
from grader.spans import span
from grader.wire import Channel


def serve(channel: Channel) -> None:
    """Wake the GPU, then answer the judge until it hangs up; what fails here the first call says."""
    with span("cuda"), contextlib.suppress(Exception):
        torch.empty(1, device="cuda")
        driver.active.utils  # noqa: B018  # Triton builds its own extension
    main.serve(channel)
