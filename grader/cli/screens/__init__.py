"""Every word shown to a person. A screen is a function over a `Terminal` and ends with the next command."""

from __future__ import annotations

from grader.cli.screens.terminal import Terminal

__all__ = ["Terminal"]
