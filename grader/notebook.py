"""The course in a notebook: `%load_ext grader.notebook`, then a cell that begins with `%%grade 13`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

DRIVE = Path("/content/drive/MyDrive")  # where Colab mounts it


def load_ipython_extension(shell: Any) -> None:
    """Registers the magics. Where Colab's Drive is mounted, the work is kept there."""
    from grader.cli.jupyter import magics

    if DRIVE.is_dir():
        os.environ.setdefault("TRACK_HOME", str(DRIVE / "my-track"))
    for name, line in magics.LINES.items():
        shell.register_magic_function(line, "line", name)
    for name, cell in magics.CELLS.items():
        shell.register_magic_function(cell, "cell", name)
