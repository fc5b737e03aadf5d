"""What is said of a kernel beside ours, from profiles made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from grader.performance.predict.compare_with_solution import WORDS, counted, paragraph
from grader.performance.predict.reference_predictions import Ours, known


def one(kernel: str = "add_kernel", programs: int = 8192, **more: Any) -> dict[str, Any]:
    """A launch of a profile."""
    usual = {"limit": "memory", "constants": {"BLOCK": 16384}, "warps": 8, "stack": 0, "load": 16}
    return {"kernel": kernel, "programs": programs, **usual, **more}


def call(*launches: dict[str, Any], moved: int = 537_000_000) -> dict[str, Any]:
    return {"moved": moved, "longest": 0, "launches": list(launches)}


OURS = Ours(126.0, profile=call(one()))


@pytest.mark.parametrize(
    ("us", "mine", "said"),
    [
        (126, call(one()), "about as fast as our solution (126 µs, ours 126 µs), and like it in bytes"),
        (126, call(one(programs=32768, constants={"BLOCK": 4096})),
         "You use BLOCK = 4096 and 32,768 programs; ours BLOCK = 16384 and 8,192."),
        (126, call(one(programs=528)), "You launch 528 programs; ours 8,192."),
        (190, call(one(), one("torch.zeros", 1), moved=805_000_000),
         "1.5× as long as our solution (190 µs, ours 126 µs), because it moves 1.5× the bytes. "
         "It moves 805 MB in 2 launches, ours 537 MB in 1."),
        (300, call(one(limit="L2", load=4)),
         "limited by the bandwidth of L2, ours by the bandwidth of DRAM. Your widest loads take 4 "),
        (200, call(one(warps=1, stack=64)),
         "It spills 64 bytes a thread, ours none. Your programs have 1 warp each, ours 8."),
        (90, call(one()), "faster than our solution (90 µs, ours 126 µs)."),
    ],
)  # fmt: skip
def test_what_differs_is_said_with_both_figures(us: float, mine: dict[str, Any], said: str) -> None:
    assert said in paragraph(us, mine, OURS)


def test_launches_that_are_alike_are_kept_once_and_counted() -> None:
    kept = counted([one("start"), one(), one("mm"), one(), one("mm"), one()], 4)
    assert kept == {"longest": 2, "launches": [one("start"), one(times=3), one("mm", times=2)]}
    text = paragraph(126, {"moved": 537_000_000, **kept}, OURS)
    assert "It takes 6 launches, ours 1." in text


def test_a_longer_time_has_no_cause_that_no_fact_gives() -> None:
    text = paragraph(252, call(one()), OURS)
    assert text == "By prediction yours takes 2.0× as long as our solution (252 µs, ours 126 µs)."
    fewer = paragraph(252, call(one(), moved=300_000_000), OURS)
    assert "because" not in fewer


def test_a_paragraph_is_short() -> None:
    names = {name: 64 for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M")}
    ours = Ours(126.0, profile=call(one(constants={name: 128 for name in names}, stack=0)))
    mine = call(one(programs=9, constants=names, warps=1, stack=8, load=2, limit="spills"), moved=9)
    assert len(paragraph(999, mine, ours, " in matmul() with a long name").split()) <= WORDS


def test_what_is_not_known_of_both_is_not_compared() -> None:
    assert paragraph(126, {}, OURS) == ""
    assert paragraph(126, call(one()), Ours(126.0)) == ""


def test_of_every_solution_it_is_known() -> None:
    kept = known()
    assert kept
    unknown = {name.partition("/")[0] for name, ours in kept.items() if not ours.profile}
    assert unknown == {"tiny_train_loop", "tp_linear"}, "kernels of other files, which are not compiled"
