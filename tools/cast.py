"""`track dev cast`: the terminal of README.md, recorded from a real run and drawn as SVG by termtosvg."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grader.course import catalog
from grader.course.setup.bootstrap_venv import Clone
from grader.errors import CannotGrade
from tools.downloaded_tools import fetch

CAST = Path(__file__).with_name("grade.cast")
PICTURE = CAST.with_suffix(".svg")
SIZE = "90x29"  # columns and rows
DAY, SEED = catalog.find("13"), "4021"
RIGHT, SLIP = 'other=-float("inf")', "other=0.0"
KERNEL = f"my-track/{DAY.stem}/kernel.py"
# What is typed, what is run, and how long a reader gets for what comes of it, in seconds.
STEPS = (
    ("./track grade", f"{sys.executable} -m grader grade --cpu --seed {SEED}", 5.0),
    (f"sed -i '18s/0.0/-float(\"inf\")/' {KERNEL}", "", 1.0),
    ("./track grade", f"{sys.executable} -m grader grade --cpu --seed {SEED}", 0.0),
)


def record() -> None:
    """Grades day 13 with a slip, mends it, grades again, and draws what the terminal showed.

    Raises:
        CannotGrade: termtosvg cannot be fetched.
    """
    pins = Clone(catalog.ROOT).pins("cast")
    home = Path(sys.prefix) / "cast" / pins[0]
    if not fetch(home, "termtosvg", pins):
        raise CannotGrade("termtosvg could not be fetched.", "track dev cast, with network")
    own = {"PYTHONPATH": f"{home}:{catalog.ROOT}", "TRACK_COMMAND": "./track", "TERM": "xterm"}
    around = {**os.environ, **own}
    run = [sys.executable, "-m", "termtosvg"]
    with tempfile.TemporaryDirectory() as folder:
        around["TRACK_HOME"] = f"{folder}/my-track"
        start = [sys.executable, "-m", "grader", "start", "13"]
        subprocess.run(start, cwd=folder, env=around, capture_output=True, check=True)
        source = DAY.solution.read_text(encoding="utf-8")
        Path(folder, KERNEL).write_text(source.replace(RIGHT, SLIP), encoding="utf-8")
        play = f"{sys.executable} -m tools.cast"
        _, keyboard = pty.openpty()  # on which nothing is typed: from a pipe it would read the end
        recorded = [*run, "record", str(CAST), "-g", SIZE, "-c", play]
        subprocess.run(recorded, cwd=folder, env=around, stdin=keyboard, check=True)
    drawn = [*run, "render", str(CAST), str(PICTURE), "-M", "6000", "-t", "window_frame"]
    subprocess.run(drawn, env=around, check=True)
    # Once, and then it rests on its last frame: what moves for long has to be stopped (WCAG 2.2, 2.2.2).
    picture = PICTURE.read_text(encoding="utf-8")
    PICTURE.write_text(re.sub(r"iteration-count: ?infinite", "iteration-count:1", picture), encoding="utf-8")


def play() -> None:
    """Types and runs what is recorded."""
    for typed, command, pause in STEPS:
        print("$ ", end="", flush=True)
        for letter in typed:
            time.sleep(0.04)
            print(letter, end="", flush=True)
        print()
        subprocess.run(command or typed, shell=True, check=False)
        time.sleep(pause)
        print()


if __name__ == "__main__":
    play()
