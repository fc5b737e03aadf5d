"""Times on this machine's GPU, to hold predictions against: `track dev measured FILE [DAY …]`.

Every solution, honest alternative and laggard on every bar of its day, by do_bench, µs; what the driver says
of its kernels; and beside them torch's own call, as it stands and compiled, and a copy of as many bytes.
`track dev predicted --measured FILE` and `track dev table FILE` read it, on any machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import triton

from grader import catalog
from grader.catalog import Day
from grader.dev import planted

if TYPE_CHECKING:
    from grader.challenge import Challenge, Speed

Choose = Callable[["Challenge", "Speed"], Callable[..., Any]]
PRODUCT = 8192  # rows and columns of the bf16 product that says what this GPU multiplies
PEERS = ("torch", "torch.compile", "copy")


def kernels(day: Day) -> Iterator[tuple[str, str, str]]:
    """Name, source, and why the meter cannot see it: our solutions, honest alternatives, laggards."""
    yield "ours", day.solution.read_text(encoding="utf-8"), ""
    if day.fast_solution.is_file():
        yield "fast", day.fast_solution.read_text(encoding="utf-8"), ""
    for path in planted.honest(day):
        yield f"honest: {path.stem}", path.read_text(encoding="utf-8"), ""
    for laggard in planted.laggards(day):
        yield laggard.name, laggard.source(day), laggard.unseen


def of_file(day: Day, source: str) -> Choose:
    """The entries of one file."""
    module = _load(day, source)
    return lambda challenge, speed: getattr(module, challenge.entry)


def of_torch(challenge: Challenge, speed: Speed) -> Callable[..., Any]:
    """The call that the bar is set against, or the reference."""
    from grader.judge.case.oracle import values_of

    if speed.torch or challenge.chance is None:
        return speed.torch or challenge.reference
    return lambda *arguments: values_of(challenge, arguments)


def of_compile(challenge: Challenge, speed: Speed) -> Callable[..., Any]:
    """The same, compiled for this very shape."""
    import torch

    torch.compiler.reset()
    compiled: Callable[..., Any] = torch.compile(of_torch(challenge, speed), dynamic=False)
    return compiled


def copied(day: Day) -> dict[str, float]:
    """µs by bar of a plain copy that moves as many bytes."""
    import torch

    from grader.judge.case.trial import draw

    found = {}
    for name, challenge, speed in bars(day):
        half = speed.moved(*draw(challenge, speed.case, 1, "cuda")) // 2
        source = torch.empty(max(half, 1), dtype=torch.uint8, device="cuda")
        target = torch.empty_like(source)
        found[name] = _us(partial(target.copy_, source))
        del source, target
        torch.cuda.empty_cache()
    return found


def product_rate() -> float:
    """Operations a µs of torch's large bf16 product."""
    import torch

    one = torch.randn(PRODUCT, PRODUCT, dtype=torch.bfloat16, device="cuda")
    return float(2 * PRODUCT**3 / _us(lambda: one @ one))


def _us(call: Callable[[], object]) -> float:
    return 1e3 * float(triton.testing.do_bench(call, warmup=10, rep=50, return_mode="median"))


def bars(day: Day) -> Iterator[tuple[str, Challenge, Speed]]:
    """The bars of a day, by their names."""
    from grader.judge.challenges import load_challenges
    from grader.predict.prediction import bar_name

    for challenge in load_challenges(day.hidden_tests):
        for speed in challenge.speeds:
            yield bar_name(day.stem, challenge.entry, speed.case.id, speed.part), challenge, speed


def measure(day: Day, choose: Choose) -> dict[str, float]:
    """µs by bar of the functions that `choose` gives."""
    import torch

    from grader.judge.case.oracle import gradient_positions
    from grader.judge.case.trial import draw, draw_upstream
    from grader.timing.passes import as_list, timed

    found = {}
    for name, challenge, speed in bars(day):
        entry = choose(challenge, speed)
        arguments = draw(challenge, speed.case, 1, "cuda")
        of = gradient_positions(challenge, arguments) if speed.part != "forward" else []
        upstream = ()
        if of:
            upstream = draw_upstream(speed.case, tuple(as_list(entry(*arguments))), 1, "cuda")
        function, given = timed(entry, arguments, upstream, of, speed.part)
        function(*given)
        found[name] = _us(partial(function, *given))
        del entry, arguments, upstream, function, given
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
    record: dict[str, Any] = {**_machine(), "times": {}, "launches": {}}
    for day in [catalog.find(text) for text in chosen.days] or catalog.course():
        for name, source, _ in kernels(day):
            noted.clear()
            _keep(record, day, name, partial(_measured, day, source))
            record["launches"].setdefault(day.stem, {})[name] = list(noted)
        of_each = (partial(measure, day, of_torch), partial(measure, day, of_compile), partial(copied, day))
        for name, times in zip(PEERS, of_each, strict=True):
            _keep(record, day, name, times)
        chosen.file.write_text(json.dumps(record, indent=1), encoding="utf-8")


def _measured(day: Day, source: str) -> dict[str, float]:
    return measure(day, of_file(day, source))


def _machine() -> dict[str, Any]:
    import torch

    gpu = torch.cuda.get_device_name()
    return {"gpu": gpu, "triton": triton.__version__, "torch": torch.__version__, "product": product_rate()}


def _keep(record: dict[str, Any], day: Day, name: str, times: Callable[[], dict[str, float]]) -> None:
    """Write down the times of one kernel on every bar; what raises is told, and has none."""
    try:
        for bar, us in times().items():
            record["times"].setdefault(bar, {})[name] = us
    except Exception as error:
        print(f"{day.stem}, {name}: {error!r:.200}")


if __name__ == "__main__":
    main()
