"""The bench from outside: what is kept, what goes on after a crash, and what is refused."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest

from grader.cli.benchmark import client, results
from grader.cli.benchmark.client import Bench, Wish
from grader.cli.benchmark.results import Machine, Point, Result
from grader.cli.commands import track
from grader.errors import CannotGrade, TrackError

# The process that times, without a GPU: it does what its file says, once for each process.
CHILD = """
import json, os, socket, sys, time
from grader.wire import Channel
channel = Channel(socket.socket(fileno=int(sys.argv[2])))
request, _ = channel.receive()
script = json.load(open(sys.argv[1]))
events = script.pop(0)
json.dump(script, open(sys.argv[1], "w"))
json.dump(request, open(sys.argv[1] + ".asked", "w"))
for event in events:
    if event["event"] == "exit":
        os._exit(event["code"])
    if event["event"] == "hang":
        time.sleep(60)
    if event["event"] == "say":
        print(event["text"], flush=True)
    else:
        channel.send(event)
"""
POINT = {
    "day": 7, "bar": "day07/transpose/m=8-fp32/forward", "entry": "transpose", "part": "forward",
    "case": "m=8-fp32", "dtype": "fp32", "sizes": {"m": 8}, "timed": True, "limit_us": 1.0,
}  # fmt: skip
STARTED: list[dict[str, Any]] = [
    {"event": "plan", "points": 1, "missing": ["liger-kernel"]},
    {"event": "machine", "machine": {"gpu": "G", "copy_gb_s": 1000.0, "tflops": {"fp16": 9.0}}},
    {"event": "point", "point": POINT, "stamps": dict.fromkeys(("ours", "yours", "eager", "copy"), "s")},
]
DONE = {"event": "done"}


def trying(name: str) -> dict[str, Any]:
    return {"event": "trying", "point": POINT, "provider": name, "stamp": "s"}


def result(name: str, us: float = 2.0) -> dict[str, Any]:
    return {
        "event": "result",
        "result": {"point": POINT, "gpu": "G", "provider": name, "stamp": "s", "us": us},
    }


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a bench over processes that say these events."""
    script = tmp_path / "script.json"
    monkeypatch.setattr(client, "TIMES", [sys.executable, "-c", CHILD, str(script)])
    monkeypatch.setattr(client, "PATIENCE", 0.5)
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def run(*processes: list[dict[str, Any]], wish: Wish | None = None) -> Bench:
        script.write_text(json.dumps(processes))
        made = Bench(wish or Wish({"7": {}}), tmp_path / "kept" / "bench.jsonl")
        made.run()
        assert json.loads(script.read_text()) == []
        made.asked_for = json.loads(Path(f"{script}.asked").read_text())  # type: ignore[attr-defined]
        return made

    return run


def test_results_are_kept_and_a_second_bench_is_told_of_them(bench: Any) -> None:
    run = bench([*STARTED, trying("ours"), result("ours"), result("eager"), DONE])
    assert [(one.provider, one.us) for one in run.asked] == [("ours", 2.0), ("eager", 2.0)]
    assert run.machine.copy_gb_s == 1000.0
    assert run.missing == ["liger-kernel"]
    again = bench([*STARTED, DONE])
    assert len(again.asked) == 2
    edited = {"event": "point", "point": POINT, "stamps": {"ours": "another source", "eager": "s"}}
    assert [one.provider for one in bench([*STARTED[:2], edited, DONE]).asked] == ["eager"]
    assert again.asked_for["done"] == sorted(one.key for one in run.asked)
    assert bench([*STARTED, DONE], wish=Wish({"7": {}}, again=True)).asked_for["done"] == []


@pytest.mark.parametrize("end", [{"event": "exit", "code": 9}, {"event": "hang"}])
def test_the_same_command_goes_on_where_a_kernel_ended_the_process(
    bench: Any, monkeypatch: pytest.MonkeyPatch, end: dict[str, Any]
) -> None:
    monkeypatch.setattr(client, "SILENCE", 5.0)
    with pytest.raises(CannotGrade, match="ended with yours at m=8-fp32"):
        bench([*STARTED, trying("ours"), result("ours"), trying("yours"), end])
    run = bench([*STARTED, trying("eager"), result("eager"), DONE])
    told = {one.provider: one.problem for one in run.asked}
    assert told["ours"] == told["eager"] == ""
    said = "it ended the process that timed it" if end["event"] == "exit" else "no answer within 5 s"
    assert told["yours"] == said
    assert f"G|{POINT['bar']}|yours|s" in run.asked_for["done"]


def test_who_said_itself_what_went_wrong_keeps_its_own_words(bench: Any, tmp_path: Path) -> None:
    said = {
        "event": "result",
        "result": {**result("yours")["result"], "us": 0.0, "problem": "a stray access"},
    }
    with pytest.raises(CannotGrade):
        bench([*STARTED, trying("yours"), said, {"event": "exit", "code": 1}])
    (kept,) = results.read(tmp_path / "kept" / "bench.jsonl").results.values()
    assert kept.problem == "a stray access"


def test_a_process_that_does_not_start_is_told_by_its_last_words(bench: Any) -> None:
    with pytest.raises(CannotGrade, match="Nothing could be timed: ImportError: no torch"):
        bench([{"event": "say", "text": "ImportError: no torch"}, {"event": "exit", "code": 1}])


def test_what_cannot_be_measured_is_refused(bench: Any) -> None:
    with pytest.raises(TrackError, match="no size"):
        bench([{"event": "refused", "text": 'Day 7 has no size "k".', "fix": "track bench 7"}])


def test_a_stopped_bench_keeps_what_it_has_and_ends_its_process(bench: Any, tmp_path: Path) -> None:
    def stop(event: dict[str, Any]) -> None:
        if event["event"] == "trying":
            raise KeyboardInterrupt

    script = tmp_path / "script.json"
    script.write_text(json.dumps([[*STARTED, result("ours"), trying("yours"), {"event": "hang"}]]))
    kept = tmp_path / "bench.jsonl"
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Bench(Wish({"7": {}}), kept, stop).run()
    assert time.monotonic() - begun < 30  # and not the minute that it hangs
    assert [one.provider for one in results.read(kept).newest("G")] == ["ours"]


def test_a_torn_line_is_passed_over_and_the_last_result_counts(tmp_path: Path) -> None:
    path, machine = tmp_path / "b.jsonl", Machine("G", 1000.0, {"fp16": 9.0})
    point = Point(**POINT)
    first, second = (Result(point, "G", "ours", "s", us) for us in (2.0, 3.0))
    older = Result(point, "G", "ours", "an older source", 9.0)
    results.append(path, [machine, first])
    with path.open("a") as file:
        file.write('{"schema": 1, "gpu": "G", "po')
    results.append(path, [older, second, Result(point, "another", "ours", "s", 1.0)])
    kept = results.read(path)
    assert kept.machines == {"G": machine}
    assert kept.newest("G") == [second]
    assert kept.results[first.key] == second


def test_the_limit_is_the_slower_of_copy_and_product() -> None:
    machine = Machine("G", 1000.0, {"fp16": 10.0})
    assert machine.limit_us(moved=2e6, flops=0.0, dtype="fp16") == pytest.approx(2.0)
    assert machine.limit_us(moved=2e6, flops=1e9, dtype="fp16") == pytest.approx(100.0)
    assert machine.limit_us(moved=2e6, flops=1e9, dtype="fp8") == pytest.approx(2.0)
    assert Result(Point(**POINT), "G", "ours", "s", us=4.0).of_limit == 0.25


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Types `track bench …` where a GPU seems to be, over one process that says these events."""
    script = tmp_path / "script.json"
    monkeypatch.setattr(client, "TIMES", [sys.executable, "-c", CHILD, str(script)])
    monkeypatch.setattr("grader.grading.grade.choose_device", lambda device: "gpu")
    monkeypatch.setattr("grader.course.setup.doctor.unfit", lambda: None)
    monkeypatch.setenv("TRACK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TRACK_COMMAND", "track")

    def types(words: str, *events: dict[str, Any]) -> str:
        script.write_text(json.dumps([[*STARTED, *events, DONE]]))
        with contextlib.suppress(click.exceptions.Exit):
            track.main(["bench", *words.split()], prog_name="track", standalone_mode=False)
        return capsys.readouterr().out

    return types


def test_the_screen_has_shares_times_and_what_is_missing(typed: Any) -> None:
    wrong = result("eager", 4.0)
    wrong["result"]["problem"] = "its values are off"
    shown = typed("7", result("ours", 2.0), wrong, result("copy", 1.5))
    assert "copies 1,000 GB/s" in shown
    assert "Day 7 · transpose() over m   share of the limit" in shown
    assert "  m=8   fp32   1 µs   0.50  0.25!" in shown
    assert "! eager at m=8 fp32: its values are off" in shown
    assert "Not installed, and so not timed: liger-kernel." in shown
    assert "timed by a grading: m=8-fp32" in shown
    assert shown.splitlines()[-1] == "Next: track start 7"


def test_json_is_one_document_kept_in_the_workspace(typed: Any, tmp_path: Path) -> None:
    document = json.loads(typed("7 --json", result("ours", 2.0)))
    assert document["evidence"] == "measured"
    assert document["machine"]["gpu"] == "G"
    assert [(one["provider"], one["us"]) for one in document["results"]] == [("ours", 2.0)]
    assert (tmp_path / "home" / ".track" / "bench.jsonl").is_file()


def test_a_plot_is_drawn_or_it_is_said_why_not(typed: Any, tmp_path: Path) -> None:
    with pytest.raises(TrackError, match="one size alone"):
        typed(f"7 --plot {tmp_path}/p.html", result("ours", 2.0))
    with pytest.raises(TrackError, match="nor the name of a page"):
        typed(f"7 --plot {tmp_path}/p.png", result("ours", 2.0))
    both = json.dumps([STARTED[2], result("ours", 3.0)])
    larger = json.loads(both.replace("m=8", "m=16").replace(": 8", ": 16"))
    for _ in range(2):
        typed(f"7 --plot {tmp_path}/p.html", result("ours", 2.0), *larger)
    assert "<svg" in (tmp_path / "p.html").read_text()
