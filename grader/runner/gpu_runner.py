"""A runner on a GPU that makes ready what its first call needs while the judge is still busy.

One that is to be confined does so between namespaces and Landlock (sandbox/confine.py): a process that it
goes on in would have no use of an earlier CUDA context, and no later one can be had, since cuInit opens a
socket and writes to /proc.
"""

from __future__ import annotations

from grader.runner import main
from grader.runner.cuda_warmup import wake
from grader.wire import Channel


def serve(channel: Channel) -> None:
    """Wake the GPU, then answer the judge until it hangs up."""
    wake()
    main.serve(channel)
