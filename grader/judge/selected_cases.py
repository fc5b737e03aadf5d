"""Which cases, relations and counts of a day a grading is asked for, and what they are called."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from grader.challenge import Case, Challenge, Claim, Relation
from grader.challenge.harness.result_names import a_few
from grader.challenge.loading import tallest, weight
from grader.request import Request

Item = TypeVar("Item", Case, Relation)
# How a launcher finds out where it runs; `device=x.device` alone does not tell it.
ASKS = re.compile(rb"cuda|cpu|driver|evaluates|device\.type|get_device", re.IGNORECASE)

FEW, SOON = 6, 1 << 14  # cases evaluated beside a GPU, of so many elements at most


@dataclass(frozen=True)
class Asked:
    """What is asked for of a day.

    Attributes:
        device: where tensors lie: `cpu` or `cuda`.
    """

    request: Request
    challenges: Sequence[Challenge]
    device: str

    def cases(self, group: str) -> list[tuple[Challenge, Case]]:
        """The cases of a group, smallest first, as asked for by -k."""
        cases = [(c, case) for c in self.challenges for case in c.cases if case.group == group]
        return sorted(self._asked_for(cases), key=lambda pair: weight(pair[1]))

    def staged(self) -> list[tuple[Challenge, Case]]:
        """Without a GPU, of a file that may ask for one: of each challenge the plain cases in which one of
        the sizes is largest.
        """
        if self.device != "cpu" or not ASKS.search(self.request.source):
            return []
        found = [(c, case) for c in self.challenges if not c.judges for case in _largest(c)]
        return [pair for pair in found if self._is_asked_for(self.case_id(pair, "staged"))]

    def evaluated(self) -> list[tuple[Challenge, Case]]:
        """On a GPU: of each challenge a few small cases, whose addresses only an evaluator sees."""
        if self.device == "cpu":
            return []
        found = [(c, case) for c in self.challenges if not (c.judges or c.probe) for case in _small(c)]
        return [pair for pair in found if self._is_asked_for(self.case_id(pair, "evaluated"))]

    def walks(self) -> list[tuple[Challenge, Case]]:
        """The huge cases, of which a few programs are followed."""
        cases = [(c, case) for c in self.challenges for case in c.cases if case.huge]
        return [pair for pair in cases if self._is_asked_for(self.walk_id(pair))]

    def having(self, part: str) -> list[tuple[Challenge, str]]:
        """The challenges with this part, `compilations` or `operator`, and what its check is called, as asked
        for by -k.
        """
        alone = len(self.challenges) == 1
        named = [(c, part if alone else f"{c.entry}-{part}") for c in self.challenges if getattr(c, part)]
        return [(challenge, name) for challenge, name in named if self._is_asked_for(name)]

    def claims(self) -> list[tuple[Challenge, Claim, Case]]:
        """The shapes of all claims, where these were asked for."""
        asked = (
            self.challenges if self.request.claims and self.request.speed and not self.request.only else ()
        )
        return [(c, claim, case) for c in asked for claim in c.claims for case in claim.cases]

    def relations(self) -> list[tuple[Challenge, Relation]]:
        """The relations between two calls, as asked for by -k."""
        return self._asked_for([(c, relation) for c in self.challenges for relation in c.relations])

    def _asked_for(self, pairs: list[tuple[Challenge, Item]]) -> list[tuple[Challenge, Item]]:
        return [
            pair
            for pair in pairs
            if not (pair[1].gpu and self.device == "cpu") and not pair[1].huge
            if self._is_asked_for(self.case_id(pair))
        ]

    def _is_asked_for(self, name: str) -> bool:
        only = self.request.only
        return self.request.cases and (only is None or only in name)

    def names_like(self, typed: str) -> str:
        """A few names of cases and relations: like what was typed, or spread over all of them."""
        tried = [(c, case) for c in self.challenges for case in c.cases if not case.huge]
        names = [self.case_id(pair) for pair in tried if self.device != "cpu" or not pair[1].gpu]
        names += [self.case_id((c, relation)) for c in self.challenges for relation in c.relations]
        return a_few(names, typed)

    def case_id(self, pair: tuple[Challenge, Case | Relation], way: str = "") -> str:
        """A case's id, with its entry in front where the day has several, and the way in which it is tried
        behind, where it is not run as it stands: staged, evaluated or walked.
        """
        challenge, case = pair
        name = case.id if len(self.challenges) == 1 else f"{challenge.entry}-{case.id}"
        return f"{name}-{way}" if way else name

    def walk_id(self, pair: tuple[Challenge, Case]) -> str:
        """The id of a case that is walked."""
        return self.case_id(pair, "walked")


def _small(challenge: Challenge) -> list[Case]:
    """The smallest plain case, the largest that is soon evaluated, and some in between."""
    plain = [c for c in challenge.cases if c.group == "correct" and weight(c) <= SOON and not c.gpu]
    plain.sort(key=weight)
    return plain[:: max(1, math.ceil(len(plain) / FEW))]


def _largest(challenge: Challenge) -> list[Case]:
    plain = [case for case in challenge.cases if case.group == "correct" and not case.gpu]
    return list(dict.fromkeys(tallest(plain)))
