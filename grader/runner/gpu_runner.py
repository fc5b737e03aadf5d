"""A runner on a GPU that makes ready what its first call needs while the judge is still busy."""

from __future__ import annotations

from grader.runner import main
from grader.runner.cuda_warmup import wake
from grader.wire import Channel


def serve(channel: Channel) -> None:
    """Wake the GPU, then answer the judge until it hangs up."""
    wake()
    main.serve(channel)
