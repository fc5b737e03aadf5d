"""The code in the answer of a language model, which often stands between words and in Markdown fences."""

from __future__ import annotations

import ast
import contextlib
import re
from textwrap import dedent

FENCED = re.compile(r"^[ \t]*(```+|~~~+)[^\n`]*\n(.*?)(?:^[ \t]*\1[ \t]*\r?$|\Z)", re.MULTILINE | re.DOTALL)


def code(answer: str) -> str:
    """The answer itself where it is Python or has no fence; else the last fenced block that speaks of triton,
    or the last one.

    The last, since models think first and correct themselves. A fence may be left open at the end.
    """
    blocks = [dedent(body) for _, body in FENCED.findall(answer)] or [answer]
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        ast.parse(answer)
        return answer
    return next((block for block in reversed(blocks) if "triton" in block), blocks[-1])
