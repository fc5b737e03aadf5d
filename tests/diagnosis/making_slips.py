"""Makes slips, all in one process, and writes down as JSON what is said of each.

python -m tests.diagnosis.making_slips evaluated|compiled FOLDER
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from grader import datasheets
from grader.diagnosis.triton_errors import slip
from grader.runner import error_messages, loading
from tests.diagnosis.slips import COMPILED, EVALUATED, MATRIX, VECTOR


def written(old: str, new: str) -> str:
    """The source of a slip."""
    base = VECTOR if old in VECTOR else MATRIX
    assert base.count(old) == 1, old
    return base.replace(old, new)


def evaluated(path: str, source: str, x: torch.Tensor) -> None:
    """A call as a runner makes it."""
    from grader.kernel.bounds import Bounds
    from grader.runner.launches import observed
    from grader.runner.tensor_provenance import World

    world = World()
    world.memory.add_inputs([{"name": "x", "start": 0, "stop": x.nbytes}], [x])
    entry = loading.load(path, source.encode(), "").entry
    with observed(world, Bounds(path)), world:
        entry(x)


def compiled(path: str, source: str, x: torch.Tensor) -> None:
    """A launch as a GPU has it, up to the end of the compiler."""
    loading.load(path, source.encode(), "").entry(x)


def prepare(how: str) -> Any:
    """This process made ready, and the function that makes one slip."""
    warnings.simplefilter("ignore")
    if how == "evaluated":
        from grader.kernel import launch_hook

        launch_hook.install()
        return evaluated
    from triton.runtime import driver
    from triton.runtime.jit import JITFunction

    from grader.performance.compiler.fake_driver import Driver

    driver.set_active(Driver(datasheets.GPUS[datasheets.USUAL]))
    stock = JITFunction.run
    JITFunction.run = lambda self, *args, **options: stock(self, *args, **options | {"warmup": True})
    return compiled


def main() -> None:
    how, folder = sys.argv[1], Path(sys.argv[2])
    make, told = prepare(how), {}
    for number, (old, new, *_) in enumerate(EVALUATED if how == "evaluated" else COMPILED):
        source, path = written(old, new), folder / f"{number}.py"
        path.write_text(source, encoding="utf-8")
        fault = None
        try:
            make(str(path), source, torch.ones(100) if source.count("row") == 0 else torch.ones(37, 50))
        except Exception as error:
            fault = asdict(error_messages.describe(error, str(path)))
        said = slip(fault, source) if fault else None
        line = source.splitlines()[said.line - 1].strip() if said else ""
        told[f"{old} -> {new}"] = [said.says if said else str(fault), line]
    print(json.dumps(told))


if __name__ == "__main__":
    main()
