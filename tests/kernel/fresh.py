"""Code that runs in a process of its own, whose kernels are evaluated or compiled.

To import torch takes two seconds, so one process of either kind does it, at the first such test, and forks
all others. It runs nothing else: what a test patches goes with its own process.
"""

from __future__ import annotations

import functools
import json
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from grader import kernel
from tests import environments

REPO = Path(__file__).resolve().parents[2]
HEAD = """
import torch, triton, triton.language as tl
from grader.kernel import autotuning, launch_hook, program_order
launch_hook.install()
torch.set_num_threads(1)
"""


def printed(code: str) -> str:
    """What `code` prints whose kernels are evaluated; a kernel needs a source file."""
    return "".join(_said(HEAD + code, True))


def answer(code: str, evaluates: bool = True) -> Any:
    """What `code` leaves in `answer`; it can import from examples/."""
    head = f"import json, sys\nsys.path.insert(0, {str(REPO / 'examples')!r})\n" + HEAD * evaluates
    return _last(_said(f"{head}{code}\nprint(json.dumps(answer))", evaluates))


def module(name: str, *words: str | Path, **environment: str) -> Any:
    """The document that `python -m name words` prints last, where kernels are compiled."""
    code = f"""
import os, runpy, sys
os.environ |= {environment}
sys.argv[1:] = {[str(word) for word in words]}
runpy.run_module({name!r}, run_name="__main__", alter_sys=True)
"""
    return _last(_said(code, False))


def _last(said: tuple[str, str]) -> Any:
    out, err = said
    assert out, err
    return json.loads(out.splitlines()[-1])


def _said(code: str, evaluates: bool) -> tuple[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "probe.py"
        path.write_text(code, encoding="utf-8")
        parent = _parent(evaluates)
        assert parent.stdin
        assert parent.stdout
        print(path, file=parent.stdin, flush=True)
        assert parent.stdout.readline(), "the process that forks has ended"
        out, err = (path.with_suffix(end).read_text(encoding="utf-8") for end in (".out", ".err"))
        return out, err


@functools.cache
def _parent(evaluates: bool) -> subprocess.Popen[str]:
    """Ends with this process, which holds the other end of what it reads."""
    another = os.environ.get("PYTHONPATH")  # Triton, perhaps
    where = os.pathsep.join(filter(None, [another, str(REPO)]))
    around = environments.plain(PYTHONPATH=where, PYTHONWARNINGS="ignore")
    return subprocess.Popen(
        [sys.executable, "-m", "tests.kernel.fresh"],
        env=around | kernel.ENVIRONMENT if evaluates else around,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _serve() -> None:
    """Run each file that is named on stdin, and say when it is done."""
    from grader.grading import preloaded_modules
    from grader.grading.forking import run

    if kernel.EVALUATES:
        for name in ("torch", "triton.language", "grader.kernel.launch_hook"):
            __import__(name)
    else:
        preloaded_modules.for_runners()
        preloaded_modules.for_judges()
    for line in sys.stdin:
        path = Path(line.rstrip("\n"))
        pid = os.fork()
        if pid == 0:
            for number, end in ((1, ".out"), (2, ".err")):
                os.dup2(os.open(path.with_suffix(end), os.O_WRONLY | os.O_CREAT), number)
            run(functools.partial(runpy.run_path, str(path), run_name="__main__"))
        os.waitpid(pid, 0)
        print("done", flush=True)


if __name__ == "__main__":
    _serve()
