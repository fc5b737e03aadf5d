"""`track inspect` and `track show`: what is inside a kernel, on a screen and on a page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from grader.cli import inspect_commands
from grader.cli.screens import Terminal, access_page, compiler_listing, inspect_glossary, inspection
from grader.course import catalog
from grader.datasheets import GPUS
from grader.errors import BadSubmission, TrackError
from grader.grading.inspection_request import ask
from grader.grading.warm_client import Warm
from tests.shown import Screen, shown
from tools import planted

DAY = catalog.find("7")
SOLUTION = DAY.solution.read_text(encoding="utf-8")
LINES = SOLUTION.splitlines()
LOAD = "x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :] * stride_xn, mask=mask)"


@pytest.fixture
def strided(tmp_path: Path) -> Path:
    """Day 7's laggard, which stores down a column."""
    path = tmp_path / "kernel.py"
    path.write_text(planted.laggards(DAY)[0].source(DAY), encoding="utf-8")
    return path


@pytest.fixture
def typed(typed: Any, tmp_path: Path) -> Any:
    """Types a command where day 7's solution is `kernel.py`."""
    (tmp_path / "kernel.py").write_text(SOLUTION, encoding="utf-8")
    return typed


def seen(warm: Warm, path: Path) -> str:
    """The table of `track inspect`."""
    return table(path, ask(DAY, path, "inspect", warm=warm, gpu="h200", code=""))


def table(path: Path, parts: list[dict[str, Any]], gpu: str = "h200", width: int | None = None) -> str:
    screen = Screen()
    inspection.table(Terminal(screen, width), DAY.heading, path.read_text().splitlines(), GPUS[gpu], parts)
    return screen.shown


def test_inspect_shows_each_line_with_its_figure(warm: Warm, strided: Path) -> None:
    parts = ask(DAY, strided, "inspect", warm=warm, gpu="a100", code="")
    text = table(strided, parts, gpu="a100")
    assert "predicted for one A100" in text
    assert re.search(r"asks for  bytes used\n", text)
    assert re.search(r"line 24  stores y_ptr +268 MB +12% +tl.store\(y_ptrs", text)
    assert re.search(r"line 21  loads x_ptr +268 MB +100% +x = tl.load", text)
    assert re.search(r"memory +537 MB from and to DRAM, 1\.00× the least", text)
    assert re.search(r"limit +L2: bytes from and to this cache", text)
    assert re.search(r"registers +\d+ a thread", text)
    assert re.search(r"occupancy +\d+%: \d+ programs of 4 warps on an SM, limited by", text)
    assert re.search(r"loads +2 instructions of 16 bytes a lane\n", text)
    assert "forward" not in text  # the day has no backward pass
    assert json.loads(json.dumps(parts))[0]["launches"][0]["compiled"]["facts"]["fits"]


def test_a_fact_stands_above_its_line(warm: Warm, strided: Path) -> None:
    text = seen(warm, strided)
    assert re.search(
        r"✗  Line 24 .*8192 elements apart.*\n +line 24: tl\.store\(y_ptrs, tl\.trans\(x\)", text
    )


def test_the_words_are_explained_when_asked_for(warm: Warm) -> None:
    parts = ask(DAY, DAY.solution, "inspect", warm=warm, gpu="h200", code="")
    end = inspection.what_follows
    short = shown(lambda out: end(out, DAY, parts, " --file F", False, None))
    assert "inspect 7 --file F --explain\n" in short
    assert short.endswith("grade 7 --file F   holds it against the day's bar\n")
    long = shown(lambda out: end(out, DAY, parts, "", True, None))
    assert all(f"  {word} " in long for word, _ in inspect_glossary.WORDS)


def test_a_narrow_screen_cuts_source_lines(warm: Warm, strided: Path) -> None:
    parts = ask(DAY, strided, "inspect", warm=warm, gpu="h200", code="")
    rows = [line for line in table(strided, parts, width=80).splitlines() if "MB" in line and "line" in line]
    assert len(rows) == 2
    assert all(line.endswith("…") for line in rows)


def test_grids_are_as_short_as_they_are() -> None:
    grids = {
        (67_108_864, 1, 1): "67,108,864 programs",
        (1, 1, 1): "1 program",
        (32, 64, 1): "32 × 64 = 2,048 programs",
    }
    for grid, words in grids.items():
        programs = grid[0] * grid[1] * grid[2]
        assert inspection._grid({"grid": grid, "programs": programs}) == words


def test_every_limit_has_its_words() -> None:
    from grader.performance.counting.counts import LaunchCounts
    from grader.performance.predict.roofline import Built, roofs

    assert set(roofs(LaunchCounts("k", 1, (1,), 1), GPUS["h200"], Built())) <= set(inspect_glossary.LIMITS)


def test_what_the_compiler_has_no_word_for_is_told_with_its_line(warm: Warm, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(SOLUTION.replace(LOAD, f"{LOAD}\n    import math"), encoding="utf-8")
    with pytest.raises(TrackError, match=r"Triton cannot compile line \d+: .*Import"):
        seen(warm, path)


def test_torch_alone_is_no_kernel(warm: Warm, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text("def transpose(x):\n    return x.t().contiguous()\n", encoding="utf-8")
    text = seen(warm, path)
    assert "There is no Triton kernel in it: torch.clone does the work." in text
    assert "µs" not in text


def test_our_solution_stands_beside_only_after_a_pass(typed: Any) -> None:
    with pytest.raises(TrackError, match="Day 7 has not passed yet") as error:
        typed("inspect 7 --file kernel.py --ours")
    assert error.value.fix == "track grade 7"


def code(warm: Warm, kind: str) -> str:
    parts = ask(DAY, DAY.solution, "inspect", warm=warm, gpu="h200", code=kind)
    return shown(lambda out: compiler_listing.code(out, Terminal(Screen()), DAY, LINES, parts, kind))


@pytest.mark.parametrize(
    ("kind", "load", "noise"),
    [
        ("ptx", "ld.global", r"\.loc|\.file|\.section|debug"),
        ("sass", "LDG", r"## File|nvdisasm"),
        ("ttgir", "tt.load", r"\bloc\(|#loc"),
    ],
)
def test_code_has_the_learners_lines_above_what_came_from_them(
    warm: Warm, kind: str, load: str, noise: str
) -> None:
    text = code(warm, kind)
    last = ""
    above = []
    for line in text.splitlines():
        last = line if line.startswith("// line ") else last
        if load in line:
            above.append(last)
    assert above
    assert all(line == f"// line 21: {LOAD}" for line in above)
    assert "// line 24: tl.store(y_ptrs" in text
    assert not re.search(noise, text)


def test_places_in_code_are_followed_to_the_learners_line() -> None:
    table = """#loc = loc("/home/me/kernel.py":1:0)
#loc2 = loc("/site-packages/triton/language/standard.py":43:17)
#loc3 = loc("/home/me/kernel.py":3:4)
#loc4 = loc("n"(#loc3))
#loc5 = loc(callsite(#loc2 at #loc4))
  tt.func @f(%n: i32 loc("n"(#loc))) {
    %0 = arith.addi %n, %n : i32 loc(#loc5)
    tt.return loc(#loc1)
  } loc(#loc3)
#loc1 = loc(unknown)"""
    assert list(compiler_listing.KINDS["ttgir"](table)) == [
        ("  tt.func @f(%n: i32) {", 1),
        ("    %0 = arith.addi %n, %n : i32", 3),
        ("    tt.return", 0),
        ("  }", 0),
    ]


@pytest.mark.parametrize("words", ["--ptx --sass", "--ttgir --explain", "--sass --explain"])
def test_two_screens_at_once_are_refused(typed: Any, words: str) -> None:
    with pytest.raises(TrackError, match="{} and {}".format(*words.split())):
        typed(f"inspect 7 --file kernel.py {words}")


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("x = (1\n", r"Syntax error on line 1: .* \(line 1: x = \(1\)", "fix this line and look again"),
        ("", "The file is empty", "track reset 7"),
        ("import cupy\n", r"imports cupy.*\(line 1: import cupy\)", "remove the import of cupy"),
        (DAY.skeleton.read_text(encoding="utf-8"), "still the skeleton: fill in a TODO", "track hint 7"),
    ],
)
def test_what_cannot_be_looked_at_is_told_with_its_line_and_a_fix(
    tmp_path: Path, text: str, problem: str, fix: str
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadSubmission, match=problem) as error:
        ask(DAY, path, "show")
    assert fix in error.value.fix


@pytest.mark.parametrize("command", ["inspect", "show"])
def test_where_nothing_is_started_the_day_that_was_asked_for_is_named(typed: Any, command: str) -> None:
    with pytest.raises(TrackError) as error:
        typed(f"{command} 7")
    assert error.value.fix == "track start 7"
    with pytest.raises(BadSubmission, match=r"There is no file none\.py\.") as error:
        typed(f"{command} 7 --file none.py")
    assert "track start" not in error.value.fix


def test_show_tells_a_slip_as_a_grading_does(warm: Warm, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        DAY.solution.read_text(encoding="utf-8").replace("tl.arange(0, BLOCK_N)", "tl.arange(0, BLOCK_N, 1)")
    )
    with pytest.raises(TrackError, match=r"line \d+ does not run\. tl\.arange takes a start and an end"):
        ask(DAY, path, "show", warm=warm)


def test_show_draws_who_touches_what_on_one_page(warm: Warm) -> None:
    parts = ask(DAY, DAY.solution, "show", warm=warm)
    launch = parts[0]["launches"][0]
    assert len(launch["programs"]) > 1
    steps = [step for program in launch["programs"] for step in program["steps"]]
    assert {step["kind"] for step in steps} == {"load", "store"}
    touched = sum(count for step in steps if step["kind"] == "store" for _, count in step["touched"])
    assert touched == launch["tensors"]["y_ptr"]["shape"][0] * launch["tensors"]["y_ptr"]["shape"][1]
    assert any(step["masked"] for step in steps)
    page = access_page.page(DAY, LINES, parts)
    assert "{{" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")  # nothing is fetched


def test_show_says_where_the_page_is_and_remakes_it(typed: Any, tmp_path: Path) -> None:
    for _ in range(2):
        text = typed("show 7 --file kernel.py")
    name = f"{DAY.stem}.html"
    assert f"Written to {name}, in the current folder." in text
    assert (tmp_path / name).as_uri() in text
    assert "Next: track grade 7 --file kernel.py" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "kernel.py"])


def test_show_draws_the_case_that_is_asked_for(typed: Any, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    case = "m=1-n=1-fp32"
    text = typed(f"show 7 --file kernel.py -k {case} --out pages")
    assert case in text
    assert (tmp_path / "pages" / f"{DAY.stem}.html").is_file()
    with pytest.raises(TrackError, match="nope"):
        typed("show 7 --file kernel.py -k nope")


@pytest.mark.parametrize("name", ["kernel.py", "mine.html", "photo.png"])
def test_show_overwrites_nothing_of_the_learners(typed: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.touch()
    before = path.read_bytes()
    with pytest.raises(TrackError) as error:
        typed(f"show 7 --file kernel.py --out {name}")
    assert error.value.exit_code == 2
    assert error.value.fix.startswith("track show 7 --file kernel.py --out ")
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_named(typed: Any) -> None:
    with pytest.raises(TrackError, match=r"Cannot write .*/proc/") as error:
        typed("show 7 --file kernel.py --out /proc/x.html")
    assert error.value.exit_code == 3


def test_a_file_without_a_launch_gets_no_page(typed: Any, tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text("def transpose(x):\n    return x.t()\n", encoding="utf-8")
    with pytest.raises(TrackError, match=r"transpose\(\) launches no Triton kernel") as error:
        typed("show 7 --file kernel.py")
    assert error.value.fix == "track grade 7 --file kernel.py"
    assert [path.name for path in tmp_path.iterdir()] == ["kernel.py"]


def test_findings_stand_below_with_their_lines() -> None:
    findings = [{"says": f"Finding {i}.", "line": 24, "program": -1, "step": -1} for i in range(7)]
    launch = {"kernel": "k", "findings": findings}
    parts = [{"entry": "transpose", "case": "m=1", "launches": [launch]}]
    text = shown(lambda out: inspection.shown(out, DAY, LINES, Path("page.html"), parts))
    assert "✗  Finding 4.\n     line 24: tl.store(y_ptrs" in text
    assert "Finding 5" not in text
    assert "and 2 more in the picture" in text


def test_the_page_is_opened_on_request_and_stays_where_nothing_can_open_it(
    typed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        inspect_commands.click, "launch", lambda place: opened.append(place) or len(opened) - 1
    )
    typed("show 7 --file kernel.py --open")
    page = tmp_path / f"{DAY.stem}.html"
    assert opened == [str(page)]
    with pytest.raises(TrackError, match=r"Nothing here opens day07_memory_coalescing\.html"):
        typed("show 7 --file kernel.py --open")
    assert page.is_file()


def test_the_kernels_of_the_backward_pass_are_drawn_too(typed: Any, tmp_path: Path) -> None:
    day = catalog.find("23")
    (tmp_path / "kernel.py").write_text(day.solution.read_text(encoding="utf-8"), encoding="utf-8")
    told = typed("show 23 --file kernel.py -k rows=2-")
    assert "forward_kernel, backward_kernel, column_sum_kernel" in told


def test_a_relation_is_drawn_under_the_name_that_a_failed_grading_gives_it(
    typed: Any, tmp_path: Path
) -> None:
    day = catalog.find("24")
    (tmp_path / "kernel.py").write_text(day.solution.read_text(encoding="utf-8"), encoding="utf-8")
    assert "dropout_kernel" in typed("show 24 --file kernel.py -k the_same_seed")


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ("grouped_tile-m=4-n=3", "grouped_tile is called by itself there, and touches no memory"),
        ("matmul-m=85001-n=32771-k=67-fp16-walked", "m=85001-n=32771-k=67-fp16 is too large for a picture"),
    ],
)
def test_a_case_that_no_picture_can_be_of_says_so(warm: Warm, case: str, problem: str) -> None:
    day = catalog.find("18")
    with pytest.raises(TrackError, match=problem):
        ask(day, day.solution, "show", warm=warm, only=case)


def test_the_case_that_is_called_just_so_is_drawn_alone(warm: Warm) -> None:
    found = ask(DAY, DAY.solution, "show", warm=warm, only="m=1-n=1-fp32")
    assert [part["case"] for part in found] == ["m=1-n=1-fp32"]


def test_what_an_autotuner_tries_is_not_drawn_and_tiles_lie_both_ways(warm: Warm) -> None:
    day = catalog.find("19")
    (part,) = ask(day, day.solution, "show", warm=warm)
    assert part["case"] == "m=140-n=272-k=72-fp16"
    assert len(part["launches"]) == 1
