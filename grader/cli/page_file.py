"""The page that a command writes: where it goes, all of it or nothing, and opened where that is asked for."""

from __future__ import annotations

from pathlib import Path

import click

from grader.course.learner.handout import write as replace
from grader.course.learner.workspace import writing
from grader.errors import TrackError, pasted


def target(out: Path, name: str, maker: str, again: str) -> Path:
    """Where the page goes; into a folder by a name of its own.

    Args:
        maker: the command that the page names as its generator: `track show`.
        again: the command that was typed, as far as the path.

    Raises:
        TrackError: it is no name of a page, or what stands there is the learner's.
    """
    with writing(out, _elsewhere(again, out)):
        path = out / name if out.is_dir() else out
        if path.suffix.lower() != ".html":
            problem = f"{path} is neither a folder nor the name of a page (.html)."
            raise TrackError(problem, f"{again} {pasted(path.with_suffix('.html'))}")
        if path.exists() and f'content="{maker}"'.encode() not in path.read_bytes():
            other = path.with_stem(f"{path.stem}-1")
            problem = f"{path} is not from `{maker}`, so it stays as it is."
            raise TrackError(problem, f"{again} {pasted(other)}")
    return path


def write(path: Path, content: bytes, again: str) -> None:
    """Writes it, and the folder that it lies in.

    Raises:
        CannotWrite: nothing of it was written.
    """
    with writing(path, _elsewhere(again, path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, content)


def _elsewhere(again: str, path: Path) -> str:
    return f"{again} ~/{pasted(path.with_suffix('.html').name)}"


def launch(path: Path) -> None:
    if click.launch(str(path.resolve())):
        raise TrackError(f"Nothing here opens {path.name}.", "Open the link above in a browser.")
