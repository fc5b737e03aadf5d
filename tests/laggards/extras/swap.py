"""Extra swap has no speed bar: one program on 4096 elements measures the launch, not the kernel."""

from __future__ import annotations

laggards: list = []
