"""Day 00: a vector backwards, for the tour."""

from __future__ import annotations

from grader.challenge import Case, Challenge

challenge = Challenge(
    entry="backwards",
    inputs=lambda case, draw: (draw(case.n),),
    reference=lambda x: x.flip(0),
    cases=[
        Case(n=4),
        Case(n=1),
        Case(n=64),
        Case(n=1024),
        Case(n=256, values="inf"),
        Case(n=256, values="nan"),
        Case(n=512, layout="offset"),
    ],
    suspects={"Nothing is turned round: element i comes from place i.": lambda x: x},
)
