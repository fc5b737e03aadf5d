"""Day 01 has no speed bar: one program on 4096 elements measures the launch, not the kernel."""

laggards: list = []
