"""One fault of a bug hunt, and the case that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from grader.challenge.case import Case


@dataclass(frozen=True)
class Bug:
    """A fault that the file of a bug hunt is handed out with.

    Args:
        name: what is wrong, as the screen says it once it is gone.
        kind: of which class it is, in the words of the trade.
        witness: one of the cases; it fails while the bug stands, and passes without it, whatever else stands
            but what hides it.
        shows: what of the witness tells: its `values`, its `inputs` after the call, or the `races` in it,
            which show on a GPU by its values.
        hides: names of other bugs whose witnesses fail beside this one in any case.
    """

    name: str
    kind: str
    witness: Case
    shows: Literal["values", "inputs", "races"] = "values"
    hides: Sequence[str] = ()
