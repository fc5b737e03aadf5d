"""The page of Gluon beside its peers says what was kept, and of a row how its best compare."""

from __future__ import annotations

from grader.cli.benchmark.results import Point, Result
from tools import peers

FP8 = next(family for family in peers.FAMILIES if family.entry == "fp8_matmul")
BAR = "fp8_matmul/fp8_matmul/m=8192-n=8192-k=8192-fp8_e4m3/forward"
POINT = Point("fp8_matmul", BAR, "fp8_matmul", "forward", "", "fp8_e4m3", {}, False, 0.0)


def row(**us: float) -> dict[str, Result]:
    return {name: Result(POINT, "H200", name, "", time) for name, time in us.items()}


def test_a_row_has_the_times_and_the_best_peer_over_the_best_in_gluon() -> None:
    every = {BAR: row(ours=1249.0, eager=830.0, compile=851.0, gluon=815.4)}
    _, _, _, head, _, cells, _ = peers.table(FP8, every).split("\n")
    assert head == "| | Triton | Gluon | torch | compile | best |"
    assert cells == "| 8192 × 8192 × 8192 | 1,249 | 815 | 830 | 851 | 1.02 |"


def test_without_gluon_or_without_a_peer_there_is_no_best() -> None:
    assert peers.table(FP8, {BAR: row(ours=1249.0, eager=830.0)}).endswith("| 1,249 | 830 | – |\n")
    assert peers.table(FP8, {BAR: row(gluon=815.0)}).endswith("| 815 | – |\n")


def test_a_kernel_that_is_off_has_no_time() -> None:
    off = Result(POINT, "H200", "gluon", "", 700.0, problem="its values are off")
    assert peers.table(FP8, {BAR: row(eager=830.0) | {"gluon": off}}).endswith("| 830 | – |\n")


def test_the_page_is_what_the_kept_times_give() -> None:
    assert peers.PAGE.read_text(encoding="utf-8") == peers.page(peers.KEPT), "track dev peers --write"
