"""A request arrives as it was sent."""

from __future__ import annotations

import json
from pathlib import Path

from grader.randomness import rng
from grader.request import Request


def test_a_request_survives_the_wire() -> None:
    paths = Path("/a/hidden_tests.py"), Path("/b/kernel.py"), Path("/a/provided")
    source = b"\xef\xbb\xbfx = 1\r\n"
    sent = Request("inspect", *paths, source, "cpu", 7, 20.0, gpu="h200", code="ptx")
    header, blobs = sent.to_wire()
    assert Request.from_wire(json.loads(json.dumps(header)), blobs) == sent


def test_each_purpose_has_random_numbers_of_its_own() -> None:
    assert rng(1, "a").random() == rng(1, "a").random()
    assert (
        len({rng(1, "a").random(), rng(1, "b").random(), rng(2, "a").random(), rng(1, "a", "b").random()})
        == 4
    )
