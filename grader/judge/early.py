"""What an interpreter sees of a file beside a GPU, begun before anybody waits for it."""

from __future__ import annotations

import os

from grader.judge.checks import interpreted, walked
from grader.judge.session import Session

MANY = 8  # cores: on fewer whoever asks for an interpreter holds up those who compile for the first case


def begin(session: Session) -> None:
    """On a GPU with cores to spare: start interpreting what is interpreted there, beside all other cases."""
    if session.device == "cuda" and len(os.sched_getaffinity(0)) >= MANY:
        interpreted.begin(session)
        walked.begin(session)
