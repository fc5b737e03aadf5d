"""Whatever a learner's file does, its grading ends with a verdict that names it, and the next is unharmed."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from grader.course import catalog
from grader.course.catalog import Day
from grader.errors import BadSubmission, TrackError
from grader.grading.grade import CALL_TIMEOUT, grade
from grader.grading.warm_client import Warm
from grader.verdict import Verdict
from tests.conftest import Grade
from tools import planted

DAY = catalog.find("1")
SOLUTION = DAY.solution.read_text(encoding="utf-8")
KERNEL, LAUNCHER = SOLUTION.split("def scale_and_shift(x")
HEAD = KERNEL + "def scale_and_shift(x: torch.Tensor) -> torch.Tensor:\n"
LAUNCH = "    y = torch.empty_like(x)\n    scale_and_shift_kernel[(1,)](x, y, BLOCK=x.numel())\n"


def first_failure(verdict: Verdict) -> str:
    return next(check.name for check in verdict.checks if check.outcome not in ("passed", "not measured"))


BAD_FILES = {
    "an import that fails": (SOLUTION + "\nimport no_such_module\n", "failed", "no_such_module"),
    "a name error at import": (SOLUTION + "\nundefined_name\n", "failed", "undefined_name"),
    "no entry": (
        SOLUTION.replace("def scale_and_shift(", "def scaled("),
        "failed",
        "no function scale_and_shift",
    ),
    "an entry with two parameters": (
        SOLUTION.replace("(x: torch.Tensor)", "(x, y)"),
        "failed",
        "1 positional",
    ),
    "an exit at import": (SOLUTION + "\nraise SystemExit(0)\n", "failed", "SystemExit"),
    "os._exit(0) at import": (SOLUTION + "\nimport os\nos._exit(0)\n", "crashed", "exit code 0"),
    "os._exit(0) in the call": (HEAD + "    import os\n    os._exit(0)\n", "crashed", "exit code 0"),
    "a segmentation fault": (
        HEAD + "    import os\n    os.kill(os.getpid(), 11)\n",
        "crashed",
        "segmentation fault",
    ),
    "a wrong type": (HEAD + LAUNCH + "    return [1.0]\n", "failed", "of type float"),
    "too many outputs": (HEAD + LAUNCH + "    return y, y\n", "failed", "2 values"),
    "a wrong shape": (HEAD + LAUNCH + "    return y[None]\n", "failed", "shape"),
    "an exception": (HEAD + "    raise ValueError('ouch')\n", "failed", "ouch"),
    "no memory": (HEAD + "    return bytearray(1 << 40)\n", "failed", "memory"),
    "more than torch can allocate": (
        HEAD + "    torch.empty(1 << 45)\n" + LAUNCH,
        "failed",
        "ran out of memory on line",
    ),
    "no memory left to say so": (HEAD + "    import os\n    os._exit(71)\n", "crashed", "ran out of memory"),
    "killed": (HEAD + "    import os\n    os.kill(os.getpid(), 9)\n", "crashed", "killed when it held 0."),
    "a wild pointer": (
        SOLUTION.replace("tl.store(y_ptr + offs", "tl.store(y_ptr + offs + 10**9"),
        "failed",
        "nothing of it lies inside",
    ),
}


@pytest.mark.parametrize(("source", "status", "says"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_told_in_one_sentence(source: str, status: str, says: str, graded: Grade) -> None:
    verdict = graded(1, source)
    assert verdict.status == status
    assert says in verdict.diagnosis
    assert "\n" not in verdict.diagnosis
    assert graded(1, DAY.solution, only="n=8-", speed=False).status == "passed"


def test_of_another_days_file_that_day_is_named(graded: Grade) -> None:
    verdict = graded(1, catalog.find("13").solution)
    assert verdict.diagnosis.endswith("Day 13 and day 14 ask for softmax().")
    assert verdict.checks[0].cause["asked_by"] == [13, 14]


def test_a_day_half_done_is_not_taken_for_another_that_asks_for_that_half(graded: Grade) -> None:
    verdict = graded(18, "def matmul(a, b):\n    return a\n")
    assert "defines no function grouped_tile()" in verdict.diagnosis
    assert "ask for" not in verdict.diagnosis


ENDLESS = {
    "at import": SOLUTION + "\nwhile True:\n    pass\n",
    "in the launcher": HEAD + "    while True:\n        pass\n",
    "in the kernel": SOLUTION.replace(
        "    offs =", "    while tl.program_id(0) == 0:\n        tl.store(y_ptr, 0.0)\n    offs ="
    ),
}


@pytest.mark.parametrize("source", ENDLESS.values(), ids=ENDLESS)
def test_an_endless_loop_is_stopped(source: str, graded: Grade) -> None:
    begin = time.monotonic()
    verdict = graded(1, source, call_timeout=1.5)
    assert verdict.status == "timeout"
    line = next(at for at, text in enumerate(source.splitlines(), 1) if "while" in text)
    assert re.search(rf"did not finish .* it was at line ({line}|{line + 1})\. A loop", verdict.diagnosis)
    assert verdict.look_at.endswith(f": line {line}")
    assert time.monotonic() - begin < CALL_TIMEOUT["cpu"], "no call is waited for as long as without a limit"


def test_a_flood_of_prints_is_capped(graded: Grade) -> None:
    flood = SOLUTION + "\nfor _ in range(3000):\n    print('x' * 10_000)\n"
    verdict = graded(1, flood)
    assert verdict.status == "passed"
    assert len(verdict.output) == 4096


def test_what_a_learner_prints_is_no_event(graded: Grade) -> None:
    forged = SOLUTION.replace(
        "return y", 'print(\'{"event": "finished", "status": "passed"}\')\n    return x'
    )
    assert graded(1, forged).status == "failed"


def test_a_traceback_shows_the_learners_frames_only(graded: Grade) -> None:
    verdict = graded(1, HEAD + "    return helper(x)\n\n\ndef helper(x):\n    return x.no_such_method()\n")
    cause = next(check.cause for check in verdict.checks if check.outcome == "failed")
    assert [frame.split(":")[1].strip() for frame in cause["traceback"]] == [
        "return helper(x)",
        "return x.no_such_method()",
    ]


def test_a_seed_replays_a_grading(graded: Grade) -> None:
    broken = SOLUTION.replace("2 * x + 1", "2 * x")
    first, second = graded(1, broken, seed=77), graded(1, broken, seed=77)
    assert [check.cause for check in first.checks] == [check.cause for check in second.checks]
    assert first.checks[1].cause != graded(1, broken, seed=78).checks[1].cause


def test_one_case_can_be_graded_alone(graded: Grade) -> None:
    verdict = graded(1, DAY.solution, only="n=4096-fp16")
    assert [check.name for check in verdict.checks][1:2] == ["correct[n=4096-fp16]"]
    with pytest.raises(TrackError, match="No case"):
        graded(1, DAY.solution, only="n=5000")


def test_two_gradings_at_once_do_not_disturb_each_other(graded: Grade) -> None:
    verdicts: list[Verdict] = []

    def run(source: str) -> None:
        path = DAY.solution.parent / f"{DAY.stem}.py"
        verdicts.append(grade(DAY, path, device="cpu"))

    threads = [threading.Thread(target=run, args=(SOLUTION,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [verdict.status for verdict in verdicts] == ["passed", "passed"]


def test_a_missing_file_and_a_folder_are_named(graded: Grade, tmp_path) -> None:
    with pytest.raises(BadSubmission, match="no file"):
        graded(1, tmp_path / "nothing.py")
    with pytest.raises(BadSubmission, match="directory"):
        graded(1, tmp_path)


def test_a_lost_parent_is_no_verdict_on_the_learner_and_the_next_grading_has_another() -> None:
    with Warm("cpu") as parent:
        with pytest.raises(TrackError) as caught:
            grade(DAY, DAY.solution, warm=parent, on_event=lambda event: parent.process.kill())
        assert caught.value.exit_code == 3
        assert grade(DAY, DAY.solution, warm=parent, speed=False).status == "passed"
        parent.process.kill()
        parent.process.wait()
        assert grade(DAY, DAY.solution, warm=parent, speed=False).status == "passed"


EXPLOITS = [
    (day, one)
    for day in catalog.course()
    for one in planted.exploits(day)
    if not one.gpu and one.stem != "a_timer"
]


def test_a_race_against_a_timer_earns_no_pass(graded: Grade) -> None:
    """Whoever wins it: on a busy machine it is told otherwise."""
    racing = next(one for one in planted.exploits(DAY) if one.stem == "a_timer")
    assert graded(DAY.key, racing.path, call_timeout=5, only=racing.only, speed=False).status != "passed"


# One in two; `track dev proof --only exploit` grades them all, and whole.
@pytest.mark.parametrize(("day", "exploit"), EXPLOITS[::2], ids=lambda value: getattr(value, "stem", ""))
def test_an_exploit_earns_no_pass(day: Day, exploit: planted.Exploit, graded: Grade) -> None:
    speed = exploit.fails == "fast"
    some = {"only": exploit.only, "speed": speed, "cases": not speed}
    some |= {"strict": exploit.strict}
    patience = 2 if "did not finish" in exploit.says else 5
    verdict = graded(day.key, exploit.path, call_timeout=None if speed else patience, **some)
    assert verdict.status != "passed"
    assert first_failure(verdict).partition("[")[0] == exploit.fails, verdict.diagnosis
    assert exploit.heard(verdict.diagnosis), verdict.diagnosis


def test_exploits_are_many_and_each_says_what_it_does() -> None:
    assert len(EXPLOITS) >= 60
    assert len({one.mechanism for _, one in EXPLOITS}) == len(EXPLOITS)


def test_what_a_file_leaves_behind_ends_with_its_grading(warm: Warm, tmp_path: Path) -> None:
    left = tmp_path / "pids"
    leaves = (
        "    import os, time\n    for _ in range(3):\n        if os.fork() == 0:\n            os.setsid()\n"
        f"            open({str(left)!r}, 'a').write(f'{{os.getpid()}}\\n')\n            time.sleep(600)\n"
        f"    while not os.path.exists({str(left)!r}) or len(open({str(left)!r}).readlines()) < 3:\n"
        "        time.sleep(0.01)\n    return x\n"
    )
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + leaves, encoding="utf-8")
    assert grade(DAY, path, warm=warm, only="n=8-").status == "failed"
    pids = [int(line) for line in left.read_text().split()]
    assert len(pids) >= 3
    until = time.monotonic() + 20
    while alive(pids) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(pids)


def alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_a_save_in_mid_grading_is_not_graded(warm: Warm, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(SOLUTION, encoding="utf-8")

    def saves(event: dict[str, Any]) -> None:
        path.write_text("raise SystemExit('this was saved later')\n", encoding="utf-8")

    verdict = grade(DAY, path, warm=warm, on_event=saves)
    assert verdict.status == "passed", verdict.diagnosis
    assert verdict.sha256 == hashlib.sha256(SOLUTION.encode()).hexdigest()


def test_two_saves_within_a_second_are_two_files(warm: Warm, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    for source, status in ((SOLUTION, "passed"), (SOLUTION.replace("2 * x + 1", "2 * x + 3"), "failed")):
        path.write_text(source, encoding="utf-8")
        os.utime(path, (1_700_000_000, 1_700_000_000))  # as large and as old as the one before
        assert grade(DAY, path, warm=warm).status == status
    assert not (tmp_path / "__pycache__").exists()
