"""Day 29 has no speed bar: a merge is 12 bytes a number for whoever writes it in one kernel."""

laggards: list = []
