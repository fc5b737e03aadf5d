"""What a challenge or a bar needs of a GPU: one that has less is not measured on."""

from __future__ import annotations

from grader.judge.failures import NotMeasured
from grader.judge.session import Session

Capability = tuple[int, int]


def check(session: Session, needs: Capability | None) -> None:
    """Leave a bar out where it cannot be reached.

    Raises:
        NotMeasured: this GPU has less than it needs.
    """
    why = lacking(session, needs)
    if why:
        raise NotMeasured(f"not measured here: the bar {why}")


def refusal(session: Session) -> str:
    """Why nothing of the day can be tried on this GPU; empty where it can, and without a GPU."""
    each = [(one.entry, lacking(session, one.needs, one.later)) for one in session.challenges]
    return next((f"Not measured here: {entry}() {why}." for entry, why in each if why), "")


def lacking(session: Session, needs: Capability | None, later: bool = True) -> str:
    """`needs a GPU of compute capability 8.9, and this A100 has 8.0`, or nothing.

    Args:
        later: whether GPUs with more will do.
    """
    if needs is None or session.device == "cpu":
        return ""
    gpu = session.gpu.result()
    has = (int(gpu.major), int(gpu.minor))
    if has == needs or (later and has > needs):
        return ""
    needed, had = (".".join(map(str, one)) for one in (needs, has))
    name = str(gpu.name).removeprefix("NVIDIA ")
    return f"needs a GPU of compute capability {needed}, and this {name} has {had}"
