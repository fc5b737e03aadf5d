"""A rule of the diagnosis that raises takes no verdict away."""

from __future__ import annotations

import pytest
import torch

from grader.challenge import Case
from grader.diagnosis import diagnose
from grader.diagnosis.evidence import Evidence
from tests.judge.tried import tried


def test_what_was_seen_is_told_and_whose_bug_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = tried(Case(n=3), (torch.ones(3),), lambda x: x, lambda x: x + 1)
    monkeypatch.setattr(diagnose, "RULES", [lambda *_: {}["no such key"]])
    evidence = Evidence([trial], source="", compiled=False)
    sentence, look_at = diagnose.diagnose_or_say(evidence, "3 of 3 elements are wrong")
    assert sentence.startswith("3 of 3 elements are wrong. Why is not known: KeyError on line ")
    assert "of the grader's diagnose.py, which is our bug. The verdict stands." in sentence
    assert look_at == ""
