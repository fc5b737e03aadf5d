"""Facts and times from counts made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from grader import datasheets
from grader.errors import TrackError
from grader.performance.compiler.assembly import ACCESS, COPY, DOUBLE, residency
from grader.performance.counting.counts import Extent, LaunchCounts, Site
from grader.performance.predict import speed_facts
from grader.performance.predict.compare_with_solution import profile
from grader.performance.predict.prediction import Call, Compiled
from grader.performance.predict.reference_predictions import Ours

H200, A100 = datasheets.GPUS["h200"], datasheets.GPUS["a100"]
SIZE = 2**28  # bytes of x, and of y
FACTS: dict[str, Any] = {
    "registers": 32, "stack": 0, "shared": 0, "fits": True, "warps": 4, "stages": 3, "resident": 16,
    "limiter": "warps", "occupancy": 1.0, "loads": {"16": 2}, "stores": {"16": 2}, "matrix": 0,
    "doubles": 0, "double_line": 0, "divisions": 0, "tma": 0,
    "copies": 0, "code": [],
}  # fmt: skip
LONG = {"outer": 0, "lines": [], "length": 1, "units": {"issue": 1e5}}  # instructions of a kernel


def site(kind: str, line: int, tensor: str, step: int = 4, waste: float = 1.0, times: float = 1.0) -> Site:
    asked = SIZE * times
    return Site(kind, line, tensor, 4, step, 1e4, asked / 4, 0.0, asked, asked, asked / 32 * waste)


def copy(**changes: Any) -> LaunchCounts:
    """A launch that copies x to y as it should."""
    sites = [site("load", 5, "x"), site("store", 6, "y")]
    tensors = {"x": Extent(SIZE, False, SIZE, 0, 0, 5), "y": Extent(SIZE, True, 0, SIZE, SIZE, 6)}
    plain = LaunchCounts("copy", 3, (65536, 1, 1), 65536, 4, sites=sites, tensors=tensors)
    plain.mean_rounds = 1.0
    plain.heaviest = 2 * SIZE / 65536
    return replace(plain, **changes)


def call(*launches: LaunchCounts, facts: dict[str, Any] | None = None, **about: Any) -> Call:
    compiled = [Compiled({**FACTS, **(facts or {})}) for _ in launches]
    return Call(H200, launches, about.pop("compiled", compiled), 2.0 * SIZE, **about)


def failing(one: Call, us: float | None = None, slack: float = 1.0) -> dict[str, speed_facts.Fact]:
    ours = Ours(us, slack) if us else None
    return {fact.name: fact for fact in speed_facts.facts(one, ours) if not fact.passed}


def test_of_a_gpu_whose_matrix_units_triton_does_not_reach_nothing_is_said_of_them() -> None:
    one = call(copy(), flops=1e12, half=True)
    assert "matrix units" in {fact.name for fact in speed_facts.facts(one, None)}
    assert "matrix units" not in {
        fact.name for fact in speed_facts.facts(replace(one, gpu=datasheets.GPUS["t4"]), None)
    }


def test_no_time_is_less_than_the_task_takes_and_one_of_which_less_was_counted_is_a_lower_bound() -> None:
    few = copy(programs=4, heaviest=1e6, sites=[], tensors={})
    assert call(few).us == call(few).copy_us
    assert call(few).at_least
    assert not call(copy()).at_least
    assert call(copy(cut=True)).at_least
    product = call(copy(), flops=274e9, half=True)
    assert product.us == pytest.approx(274e9 / 989e6), "at the rate of the data sheet"
    assert product.at_least
    assert replace(product, narrow=True).us == pytest.approx(274e9 / 2 / 989e6)


def test_of_a_lower_bound_the_gate_says_so() -> None:
    slow = failing(call(copy(cut=True)), 40.0)["time"]
    assert slow.says.startswith("At least 126 µs are predicted, 3.2× ours")


def test_what_computes_too_much_beside_what_takes_the_time_is_nothing() -> None:
    partial = copy(programs=1, sites=[])
    both = call(
        copy(), partial, compiled=[Compiled(FACTS), Compiled({**FACTS, "doubles": 22, "divisions": 8})]
    )
    assert not {"fp64", "divisions"} & {*failing(both)}
    hidden = call(copy(), facts={"doubles": 768})  # memory takes longer
    assert "fp64" not in failing(hidden)


def test_a_good_copy_fails_nothing_and_takes_the_time_of_its_bytes() -> None:
    assert failing(call(copy()), 126.0) == {}
    assert call(copy()).us == pytest.approx(126, rel=0.02)
    assert call(copy()).limits() == ["memory"]


def test_a_load_that_leaves_the_rest_of_its_sectors_to_another_wastes_none() -> None:
    """Even elements on line 5, odd ones on line 6, which finds them in L1."""
    even, odd = (site("load", line, "x", step=8, waste=waste) for line, waste in ((5, 2.0), (6, 0.0)))
    stored = site("store", 7, "y")
    assert "sectors" not in failing(call(copy(sites=[even, odd, stored])))
    assert "sectors" in failing(call(copy(sites=[even, stored])))


def test_a_strided_store_is_told_with_its_line_and_distance() -> None:
    strided = copy(sites=[site("load", 5, "x"), site("store", 6, "y", step=16384, waste=8)])
    fact = failing(call(strided), 126.0)["sectors"]
    head = "Line 6 stores 8.0× the 32-byte sectors needed"
    assert fact.says == f"{head}: neighbouring lanes are 4096 elements apart."
    assert fact.line == 6


def test_what_a_compiler_rejects_cuts_or_cannot_place_fails() -> None:
    fault = {"line": 9, "message": "M >= 16 is required"}
    for compiled, says in (
        (Compiled(fault=fault), "The compiler rejects line 9: M >= 16 is required"),
        (Compiled(runaway=10.0), "The compiler was not done with copy after 10 s"),
        (
            Compiled({**FACTS, "shared": 300 << 10, "fits": False}),
            "copy needs 300 KB of shared memory where H200",
        ),
    ):
        first = next(iter(failing(call(copy(), compiled=[compiled])).values()))
        assert first.says.startswith(says)


@pytest.mark.parametrize(
    ("name", "one", "says"),
    [
        ("spills", call(copy(), facts={"stack": 640, "warps": 1}), "spills 640 bytes a thread"),
        (
            "fp64",
            call(copy(), facts={"doubles": 768, "double_line": 7, "code": [LONG]}),
            "Line 7 computes in fp64: 768",
        ),
        ("divisions", call(copy(), facts={"divisions": 8, "code": [LONG]}), "64-bit integers 8 times"),
        ("bytes", call(copy(), copy()), "2.0× the bytes that it must, in 2 launches: x takes 268 MB"),
        (
            "programs",
            call(copy(programs=4, heaviest=SIZE)),
            "keeps 2 of 132 SMs busy: one of 4 programs does 50%",
        ),
        (
            "in flight",
            call(copy(programs=128, mean_rounds=512.0)),
            "128 programs at a time, each with 4,096 bytes",
        ),
        ("matrix units", call(copy(), flops=1e12, half=True), "there is no tl.dot"),
        (
            "matrix units",
            call(copy(flops=1e12, dots=9.0, dot_line=8), flops=1e12, half=True),
            "line 8 mult",
        ),
    ],
)
def test_each_gate_says_what_is_wrong(name: str, one: Call, says: str) -> None:
    assert says in failing(one)[name].says


def test_what_the_learner_cannot_change_is_no_help() -> None:
    starved = call(copy(programs=256, mean_rounds=512.0))
    (told,) = [one for one in speed_facts.facts(starved, None) if one.name == "in flight"]
    assert told.says.endswith("Larger blocks help.")
    (told,) = [one for one in speed_facts.facts(starved, None, {"copy"}) if one.name == "in flight"]
    assert told.says.endswith("is given: to load several before the first is used helps.")


def test_an_element_that_is_stored_again_and_again_is_told() -> None:
    again = copy()
    again.tensors["y"].stored = 1024.0 * SIZE
    assert failing(call(again))["stores"].says == (
        "Line 6 stores to y 1024 times what fits in it. "
        "Programs, or rounds of a loop, take the same elements."
    )


def test_a_small_intermediate_tensor_stays_in_l2_and_a_bar_leaves_room() -> None:
    partial = copy(tensors={"part": Extent(8 << 20, True, 8 << 20, 8 << 20)}, sites=[])
    assert "bytes" not in failing(call(copy(), partial))
    assert "bytes" in failing(call(copy(), copy(), room=1 / 0.60))
    assert "bytes" not in failing(call(copy(), copy(), room=1 / 0.35))


def later(programs: int, apart: float) -> Call:
    """A launch that reads x twice, the second time after so many bytes of each program."""
    one = copy(programs=programs, heaviest=2 * SIZE / programs)
    one.tensors["x"] = Extent(SIZE, False, SIZE, 0, 0, 5, loaded=3.0 * SIZE, again=2.0 * SIZE, apart=apart)
    return call(one)


def test_a_row_that_is_read_again_comes_from_dram_if_the_rows_at_hand_do_not_fit_into_l2() -> None:
    says = "The call moves 2.0× the bytes that it must: 537 MB of x are read again when L2 has lost them to"
    assert says in failing(later(4096, 128 << 10))["bytes"].says  # 16 × 132 rows of 128 KB
    assert "bytes" not in failing(later(4096, 8 << 10))
    assert "bytes" not in failing(later(132, 128 << 10))
    shared = later(4096, 128 << 10)
    shared.launches[0].tensors["x"].loaded *= 2  # other programs load it too: who knows when
    assert "bytes" not in failing(shared)


def test_an_order_of_tiles_fails_once_memory_is_what_takes_the_time() -> None:
    tiles = copy(flops=1e12, dots=9.0)
    tiles.tensors["x"].fetched = 32.0 * SIZE
    units = {"matrix": 4}
    fact = failing(call(tiles, facts=units, flops=1e12))["order"]
    assert fact.says.startswith("Programs that run at the same time share too few tiles of x: 8,590 MB of it")
    assert fact.look_at == "how a program's number becomes the numbers of its tile, and the launch"
    assert "order" not in failing(call(replace(tiles, flops=1e13), facts=units, flops=1e13))
    tiles.tensors["x"].bytes = 32 << 20  # which L2 keeps
    assert "order" not in failing(call(tiles, facts=units, flops=1e12))


def products(flops: float, **about: Any) -> dict[str, speed_facts.Fact]:
    one = copy(flops=flops, dots=9.0, heaviest_flops=flops / 65536, dot_line=8, **about)
    facts = speed_facts.facts(call(one, flops=1e12), Ours(1e6, flops=1e12))
    return {fact.name: fact for fact in facts if not fact.passed}


def test_products_are_held_against_our_own_where_they_are_known() -> None:
    assert "products" not in products(1.3e12)
    fact = products(1.9e12)["products"]
    assert fact.says.startswith("The call multiplies 1.9× what our solution does: every program of copy")
    assert fact.line == 8
    assert "products" not in products(1.9e12, scatter=1.5)


def test_a_predicted_time_fails_only_at_three_times_ours_or_the_slack_of_the_bar() -> None:
    assert "time" not in failing(call(copy()), 50.0)
    assert "time" in failing(call(copy()), 40.0)
    assert "time" not in failing(call(copy()), 40.0, slack=3.5)
    assert not any(fact.name == "time" for fact in speed_facts.facts(call(copy()), None))


def test_starting_programs_is_known_well_enough_to_be_held_against_the_bar_itself() -> None:
    many = call(copy(programs=2**19, heaviest=2 * SIZE / 2**19))
    assert {*many.limits()} == {"starts"}
    assert speed_facts.allowed(many, Ours(100.0, 1.21)) == pytest.approx(1.331), "what the screen says, too"
    assert "time" not in failing(many, many.us / 1.2, slack=1.21)
    assert "starting them takes that long" in failing(many, many.us / 1.4, slack=1.21)["time"].says
    assert "time" not in failing(many, many.us / 1.4), "of a bar whose room nobody measured"


def test_an_sm_holds_as_many_programs_as_its_scarcest_resource_allows() -> None:
    assert residency(H200, 24, 0, 8) == (8, "warps")
    assert residency(H200, 255, 65536, 4) == (2, "registers")
    assert residency(A100, 64, 65536, 4) == (2, "shared memory")
    assert residency(datasheets.GPUS["4090"], 16, 0, 1) == (24, "programs")


def test_ptx_is_read_for_widths_copies_and_fp64() -> None:
    ptx = "@%p1 ld.global.v4.b32 { %r1 }, [ %rd1 + 0 ];\n st.global.L1::evict_last.b16 [ %rd2 ], { %rs1 };"
    assert ACCESS.findall(ptx) == [("ld", "4", "32"), ("st", "", "16")]
    assert COPY.findall("cp.async.cg.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x10, %r2;") == ["0x10"]
    names = ("fma.rn.f64", "cvt.rn.f64.f32", "add.f64", "add.f32")
    assert [bool(DOUBLE.match(name)) for name in names] == [True, False, True, False]


def test_a_gpu_answers_to_several_names() -> None:
    assert [datasheets.key(name) for name in ("RTX 4090", "rtx4090", "H100", "NVIDIA A100")] == [
        "4090", "4090", "h100", "a100",
    ]  # fmt: skip
    with pytest.raises(TrackError, match="No GPU"):
        datasheets.key("voodoo2")


@pytest.mark.parametrize(("counted", "whole"), [(1e9, True), (4e8, False), (0.0, True)])
def test_a_call_whose_products_were_not_all_seen_is_not_compared(counted: float, whole: bool) -> None:
    """None at all are no products of tl.dot: another gate tells of that."""
    found = profile(call(copy(flops=counted), flops=1e9))
    assert bool(found) is whole


def test_where_no_tile_is_asked_for_ahead_a_program_loads_and_multiplies_in_turn() -> None:
    flops, loads = 137.4e9, [Site("load", 8, "a", 2, 2, 64 * 512, 0, 0, 1.6e9, 1.6e9, 1.644e9 / 32)]
    tiles = copy(programs=512, sites=loads, flops=flops, dots=9.0, dot_line=8, mean_rounds=64.0)
    facts = {"matrix": 4, "resident": 1, "warps": 8, "copies": 36}
    ahead = call(tiles, facts=facts, flops=flops)
    assert ahead.limits() == ["L2"]
    waits = call(tiles, facts={**facts, "copies": 0}, flops=flops)
    assert waits.limits() == ["in turn"]
    assert waits.us == pytest.approx(205 + 198, rel=0.03)
    several = call(tiles, facts={**facts, "copies": 0, "resident": 4}, flops=flops)
    assert several.us < waits.us
    assert "loads and multiplies in turn" in failing(waits, 120.0)["time"].says
