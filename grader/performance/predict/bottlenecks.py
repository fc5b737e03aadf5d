"""What keeps a launch from being quicker, in words."""

from __future__ import annotations

from grader.performance.predict.prediction import Call

UNUSED = 0.8  # of the bytes of all sectors, that are asked for; below it sectors are what fills L2
LIMITED = {
    "memory": "it moves more bytes",
    "L2": "it loads the same bytes again and again, as small tiles do",
    "one program": "the program that has most to do takes that long by itself",
    "products": "it multiplies more than it must, or in tiles that are too small for the matrix units",
    "arithmetic": "it computes more than it must",
    "instructions": "issuing its instructions takes that long",
    "spills": "its registers lie in memory",
    "in turn": "its tl.dot stands in a `while`; only in a `for` does the compiler ask for tiles ahead",
    "starts": "there are so many programs that starting them takes that long: let each do more",
    "atomics": "so many atomics queue for one address: add up in the program first, then once atomically",
    "waiting": "its programs wait for memory step by step: fewer steps help",
}


def cause(call: Call, index: int) -> str:
    """Why the launch takes the time that is predicted."""
    launch, limit = call.launches[index], call.limits()[index]
    facts = call.compiled[index].facts
    if launch.kept:
        return "its autotuner kept what it chose for another problem: its key does not tell the two apart"
    if limit == "L2" and sum(site.useful for site in launch.sites) < UNUSED * launch.moved:
        return "most of what it moves are unused parts of sectors"
    if limit == "products" and facts and not facts["matrix"]:
        return "the matrix units stay idle"
    return LIMITED[limit]
