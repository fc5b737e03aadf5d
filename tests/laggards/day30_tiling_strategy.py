"""Day 30 has no speed bar: whoever stores the scores fails the memory bar, so that is a mistake."""

laggards: list = []
