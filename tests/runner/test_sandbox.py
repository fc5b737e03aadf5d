"""Each layer of confinement by itself: what the kernel grants of it is enough for what is said of it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import Any

import pytest

from grader.runner_answers import CONFINEMENTS

# One layer alone, then everything that can be tried from inside: in forks, because imports take two seconds.
INSIDE = """
import json, os, socket, sys, tempfile
from contextlib import suppress
from grader.runner.sandbox import confine, landlock, seccomp

def refuse(*_):
    raise OSError("not here")

for without in json.loads(sys.argv[1]):
    if not os.fork():
        break
    assert os.wait()[1] == 0
else:
    sys.exit()
folders = json.loads(sys.argv[2])
for module, name in (("landlock", "restrict"), ("seccomp", "refuse")):
    if module in without:
        setattr(globals()[module], name, refuse)
os.chdir(folders["hidden"][0])
told, _ = confine.confine({**folders, "on_cpu": True}, [])

def reached(reach):
    try:
        reach()
        return True
    except OSError:
        return False

def secret(path):
    if "42" not in open(path).read():
        raise OSError("it is empty")

(folder, file), (shown, link), scratch = folders["hidden"], folders["shown"], folders["scratch"]
print(json.dumps({
    "told": told.confined,
    "hidden files": [path for path in (f"{folder}/answer", file, "answer", file + "/../answer") if reached(lambda: secret(path))],
    "read-only files": reached(lambda: open(f"{shown}/left", "w")) or reached(lambda: os.truncate(f"{shown}/kernel.py", 0)),
    "no network": reached(lambda: socket.create_connection(("127.0.0.1", folders["port"]), timeout=1)),
    "hidden processes": reached(lambda: os.kill(folders["parent"], 0)) or reached(lambda: open(f"/proc/{folders['parent']}/environ")),
    "limited files": reached(lambda: open(f"{scratch}/large", "wb").truncate(1 << 30)),
    "shown": all(reached(lambda: open(f"{one}/kernel.py").read()) and reached(lambda: os.listdir(one)) for one in (shown, link)),
    "scratch": reached(lambda: tempfile.NamedTemporaryFile().write(b"x")),
    "python": reached(lambda: __import__("sqlite3")) and reached(lambda: os.popen("true").read()),
    "null": reached(lambda: open("/dev/null", "w").write("x")),
}))
"""  # noqa: E501
LAYERS = {
    "all": (),
    "without Landlock": ("landlock",),
    "without the filter": ("seccomp",),
    "nothing": ("landlock", "seccomp"),
}
NEEDED = ("shown", "scratch", "python", "null")
TRIED = ("hidden files", "read-only files", "no network", "hidden processes", "limited files")


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each set of layers says is in force, and what could be reached."""
    folder = tmp_path_factory.mktemp("confined")
    secret, shown, scratch = folder / "course", folder / "course" / "provided", folder / "scratch"
    elsewhere, beside = folder / "elsewhere", folder / "answer"
    for place in (secret, shown, scratch, elsewhere):
        place.mkdir()
    for answer in (secret / "answer", beside):
        answer.write_text("42")
    for place in (shown, elsewhere):
        (place / "kernel.py").write_text("x = 1\n")
    (folder / "link").symlink_to(secret)
    (secret / "venv").symlink_to(elsewhere)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        hidden, visible = [str(secret), str(beside)], [str(shown), str(secret / "venv")]
        folders = {"hidden": hidden, "shown": visible, "scratch": str(scratch)}
        given = json.dumps({**folders, "port": port, "parent": os.getpid()})
        command = [sys.executable, "-c", INSIDE, json.dumps([*LAYERS.values()]), given]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return dict(zip(LAYERS, map(json.loads, ran.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("without", LAYERS)
def test_what_is_said_to_be_in_force_is(without: str, inside: dict[str, dict[str, Any]]) -> None:
    found = inside[without]
    assert [name for name in NEEDED if not found[name]] == []
    assert [name for name in TRIED if name in found["told"] and found[name]] == []
    assert set(found["told"]) <= set(CONFINEMENTS)
    if without == "nothing":
        assert [name for name in TRIED if not found[name]] == ["limited files"]
