"""What became of a bug hunt: a part of its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Hunted:
    """What became of one bug of a hunt.

    Attributes:
        state: `standing` while its own case fails; `hidden` while a bug stands with which that case fails
            anyway; `not judged` where its case raised, or torch hides it.
        name, kind: what it was and of which class; empty until it is `fixed`.
    """

    state: Literal["fixed", "standing", "hidden", "not judged"]
    name: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Hunt:
    """How far a bug hunt is.

    Attributes:
        bugs: in the order in which the challenge has them.
        changed: lines of code in which the file differs from what was handed out.
        ours: the same of our solution.
    """

    bugs: tuple[Hunted, ...]
    changed: int
    ours: int

    @classmethod
    def from_json(cls, document: dict[str, Any] | None) -> Hunt | None:
        """The hunt as it was written, or None."""
        if document is None:
            return None
        return cls(**{**document, "bugs": tuple(Hunted(**bug) for bug in document["bugs"])})
