"""Times on this machine's GPU, to hold predictions against: `track dev measured FILE [DAY …]`.

Every solution, honest alternative and laggard on every bar of its day, by do_bench, µs; and what the driver
says of its kernels.
`track dev predicted --measured FILE` reads it, on any machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import triton

from grader import catalog
from grader.catalog import Day
from grader.dev import planted


def kernels(day: Day) -> Iterator[tuple[str, str, str]]:
    """Name, source, and why the meter cannot see it: our solutions, honest alternatives, laggards."""
    yield "ours", day.solution.read_text(encoding="utf-8"), ""
    if day.fast_solution.is_file():
        yield "fast", day.fast_solution.read_text(encoding="utf-8"), ""
    for path in planted.honest(day):
        yield f"honest: {path.stem}", path.read_text(encoding="utf-8"), ""
    for laggard in planted.laggards(day):
        yield laggard.name, laggard.source(day), laggard.unseen


def measure(day: Day, source: str) -> dict[str, float]:
    """µs by bar, for one file."""
    import torch

    from grader.judge.case.oracle import gradient_positions
    from grader.judge.case.trial import draw, draw_upstream
    from grader.judge.challenges import load_challenges
    from grader.predict.prediction import bar_name
    from grader.timing.passes import as_list, timed

    module = _load(day, source)
    found = {}
    for challenge in load_challenges(day.hidden_tests):
        for speed in challenge.speeds:
            entry = getattr(module, challenge.entry)
            arguments = draw(challenge, speed.case, 1, "cuda")
            of = gradient_positions(challenge, arguments) if speed.part != "forward" else []
            upstream = ()
            if of:
                upstream = draw_upstream(speed.case, tuple(as_list(entry(*arguments))), 1, "cuda")
            function, given = timed(entry, arguments, upstream, of, speed.part)
            function(*given)
            ms = triton.testing.do_bench(
                lambda f=function, a=given: f(*a), warmup=10, rep=50, return_mode="median"
            )
            found[bar_name(day.stem, challenge.entry, speed.case.id, speed.part)] = 1e3 * ms
            del arguments, upstream, function, given
            torch.cuda.empty_cache()
    return found


def _load(day: Day, source: str) -> types.ModuleType:
    if str(day.provided) not in sys.path:
        sys.path.append(str(day.provided))
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(source)  # it stays: triton reads the source of each kernel at its first launch
    spec = importlib.util.spec_from_file_location("kernel", file.name)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["kernel"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def note_launches(noted: list[dict[str, Any]]) -> None:
    """From now on the driver's facts about each kernel that is launched are added to `noted`."""
    from triton.runtime.jit import JITFunction

    stock: Any = JITFunction.run

    def run(self: Any, *args: Any, **options: Any) -> Any:
        compiled = stock(self, *args, **options)
        if compiled is not None:
            # n_spills counts words of a thread's local memory.
            fact = {"kernel": self.__name__, "registers": compiled.n_regs, "stack": 4 * compiled.n_spills}
            fact["shared"] = compiled.metadata.shared
            if fact not in noted:
                noted.append(fact)
        return compiled

    JITFunction.run = run


def main() -> None:
    parser = argparse.ArgumentParser(
        "track dev measured", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("days", nargs="*")
    chosen = parser.parse_args()
    noted: list[dict[str, Any]] = []
    note_launches(noted)
    record: dict[str, Any] = {"triton": triton.__version__, "times": {}, "launches": {}}
    for day in [catalog.find(text) for text in chosen.days] or catalog.course():
        for name, source, _ in kernels(day):
            noted.clear()
            try:
                for bar, us in measure(day, source).items():
                    record["times"].setdefault(bar, {})[name] = us
            except Exception as error:
                print(f"{day.stem}, {name}: {error!r:.200}")
            record["launches"].setdefault(day.stem, {})[name] = list(noted)
        chosen.file.write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
