"""What follows from the inputs' values is told from counters, chance and shapes."""

from __future__ import annotations

from grader.runner.provenance import Provenance


def carried(*calls: set[int]) -> list[str]:
    provenance = Provenance()
    for number, noted in enumerate(calls):
        if number:
            provenance.next_call()
        for value in noted:
            provenance.note(str(value), value)
    return provenance.carried()


def test_what_only_the_same_contents_give_again_follows_from_them() -> None:
    assert carried({1}, {2}, {3}, {3}) == ["3"]
    assert carried({1}, {3}, {3}, {3}) == ["3"]


def test_shapes_counters_and_a_single_call_tell_nothing() -> None:
    assert carried({7}, {7}, {7}, {7}) == []
    assert carried({1}, {2}, {3}, {4}) == []
    assert carried({3}) == []
