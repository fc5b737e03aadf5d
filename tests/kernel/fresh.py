"""Code that runs in a process of its own whose kernels are evaluated.

To import torch takes two seconds, so one process does it, at the first such test, and forks all others. It
runs nothing else: what a test patches goes with its own process.
"""

from __future__ import annotations

import functools
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

from grader import kernel

REPO = Path(__file__).resolve().parents[2]
HEAD = """
import torch, triton, triton.language as tl
from grader.kernel import autotuning, launch_hook, program_order
launch_hook.install()
torch.set_num_threads(1)
"""


def printed(code: str) -> str:
    """What `code` prints; a kernel needs a source file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "probe.py"
        path.write_text(HEAD + code, encoding="utf-8")
        parent = _parent()
        assert parent.stdin
        assert parent.stdout
        print(path, file=parent.stdin, flush=True)
        assert parent.stdout.readline(), "the process that forks has ended"
        return "".join(path.with_suffix(end).read_text(encoding="utf-8") for end in (".out", ".err"))


@functools.cache
def _parent() -> subprocess.Popen[str]:
    """Ends with this process, which holds the other end of what it reads."""
    another = os.environ.get("PYTHONPATH")  # Triton, perhaps
    where = os.pathsep.join(filter(None, [another, str(REPO)]))
    return subprocess.Popen(
        [sys.executable, "-m", "tests.kernel.fresh"],
        env={**os.environ, **kernel.ENVIRONMENT, "PYTHONPATH": where, "PYTHONWARNINGS": "ignore"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _serve() -> None:
    """Run each file that is named on stdin, and say when it is done."""
    from grader.grading.forking import run

    for module in ("torch", "triton.language", "grader.kernel.launch_hook"):
        __import__(module)
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
