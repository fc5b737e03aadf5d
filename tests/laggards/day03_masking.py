"""Day 03 has no speed bar: one program on one block measures the launch, not the kernel."""

laggards: list = []
