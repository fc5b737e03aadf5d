"""Names as they are shown, whoever chose them."""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    r"""`text` in one line and in the order in which it is written: controls, marks that turn the direction of
    writing, ends of lines and half characters stand as `\x1b`, `\u202e`, `\n` and `\udcff`.
    """
    unseen = {one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")}
    return "".join(one.encode("unicode_escape").decode() if one in unseen else one for one in text)
