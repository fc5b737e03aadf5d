"""How a call differs from that of our own solution, from what was counted and compiled of both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grader.performance.counting.counts import LaunchCounts
from grader.performance.predict.prediction import Call, Compiled
from grader.performance.predict.reference_predictions import Ours

ALIKE = 1.1  # times another's predicted time, up to which both are as fast
BYTES = 1.05  # times another's bytes, from which on they differ
WORDS = 60  # of a paragraph
NAMES = 3  # constants that are named
LIMITS = {
    "memory": "the bandwidth of DRAM",
    "L2": "the bandwidth of L2",
    "one program": "the program that has most to do",
    "products": "products of tiles",
    "instructions": "how many instructions it issues",
    "spills": "spilled registers",
    "in turn": "loads and products that take turns",
    "atomics": "how many atomics queue for one address",
    "starts": "how many programs there are to start",
}
COUNTED = 0.9  # of the operations that the task takes: with fewer, programs at work were not seen at it
LOADED = 0.25  # of the bytes that a launch asks for, from which on the width of its loads matters

Profile = dict[str, Any]


def profile(call: Call) -> Profile:
    """What of a call can be compared: JSON, kept of our solutions in ours.json.

    Returns:
        `moved`, bytes from and to DRAM; `longest`, the place of the launch that takes longest; `launches`,
        the unlike ones, and how many `times` each comes where that is more than once; of each its kernel,
        programs and limit, its constants in capitals, its warps, the bytes a thread that it spills, and the
        bytes a lane of its widest loads, where these matter. Empty where a kernel was not compiled, or not
        counted whole: a program that ends early by what it loads has nothing to do where nothing is loaded.
    """
    pairs = list(zip(call.launches, call.compiled, strict=True))
    own = [compiled for launch, compiled in pairs if launch.line]
    in_part = call.at_least or 0 < call.products < COUNTED * call.flops
    if in_part or not own or not all(compiled.facts for compiled in own):
        return {}
    times = [max(roof.values()) for roof in call.roofs()]
    every = [_launch(*pair, limit) for pair, limit in zip(pairs, call.limits(), strict=True)]
    # Less than must be moved is counted where programs are unlike one another, and a few stand for all.
    return {"moved": int(max(call.moved, call.ideal)), **counted(every, times.index(max(times)))}


def counted(every: list[Profile], longest: int) -> Profile:
    """The unlike ones of all launches, and which of them takes longest: a chunked loss makes 195 of ten."""
    unlike = [one for place, one in enumerate(every) if one not in every[:place]]
    counts = [every.count(one) for one in unlike]
    launches = [one | ({"times": n} if n > 1 else {}) for one, n in zip(unlike, counts, strict=True)]
    return {"longest": unlike.index(every[longest]), "launches": launches}


def _launch(launch: LaunchCounts, compiled: Compiled, limit: str) -> Profile:
    words, facts = launch.recipe.get("arguments", {}), compiled.facts
    constants = {n: w for n, w in words.items() if n.isupper() and isinstance(w, int)}
    loaded = sum(site.asked for site in launch.sites if site.kind == "load")
    wide = facts and facts["loads"] and not facts["tma"] and loaded >= LOADED * launch.asked
    return {
        "kernel": launch.kernel,
        "programs": launch.programs,
        "limit": limit,
        "constants": constants,
        "warps": facts.get("warps", 0),
        "stack": facts.get("stack", 0),
        "load": max(map(int, facts["loads"])) if wide else 0,
    }


def paragraph(us: float, mine: Profile, ours: Ours, where: str = "") -> str:
    """How a call that is predicted to take so many µs differs from ours, in at most WORDS words.

    Args:
        where: on which of several bars, ` in gelu_erf()`.

    Returns:
        the empty text where that is not known of both.
    """
    if not (mine and ours.profile):
        return ""
    said = [_time(us, ours.us, where) + _because(us / ours.us, mine, ours.profile) + "."]
    for sentence in _differences(mine, ours.profile):
        if len(" ".join([*said, sentence]).split()) <= WORDS:
            said.append(sentence)
    return " ".join(said)


def _time(us: float, ours: float, where: str) -> str:
    times, both = us / ours, f"{us:,.0f} µs, ours {ours:,.0f} µs"
    if times > ALIKE:
        return f"By prediction yours takes {times:.1f}× as long as our solution{where} ({both})"
    if times < 1 / ALIKE:
        return f"By prediction yours is faster than our solution{where} ({both})"
    return f"By prediction yours is about as fast as our solution{where} ({both})"


def _because(times: float, mine: Profile, ours: Profile) -> str:
    """Why it takes longer, where bytes say so or the limits differ; that they are alike, where they are."""
    if times <= ALIKE:
        same = mine == ours and times >= 1 / ALIKE
        return ", and like it in bytes, launches, block sizes and warps" if same else ""
    moved = mine["moved"] / ours["moved"] if ours["moved"] else 0.0
    here, there = (one["launches"][one["longest"]]["limit"] for one in (mine, ours))
    if here == "memory" and moved >= 1 + 0.7 * (times - 1):
        return f", because it moves {moved:.1f}× the bytes"
    return f": it is limited by {LIMITS[here]}, ours by {LIMITS[there]}" if here != there else ""


def _differences(mine: Profile, ours: Profile) -> Iterator[str]:
    """A sentence each, the most telling first."""
    counts = [sum(launch.get("times", 1) for launch in one["launches"]) for one in (mine, ours)]
    many = counts[0] != counts[1]
    times = mine["moved"] / ours["moved"] if mine["moved"] and ours["moved"] else 1.0
    if not 1 / BYTES < times < BYTES:
        here, there = (f" in {_count(counts[0], 'launch')}", f" in {counts[1]}") if many else ("", "")
        yield f"It moves {_mb(mine)}{here}, ours {_mb(ours)}{there}."
    elif many:
        yield f"It takes {_count(counts[0], 'launch')}, ours {counts[1]}."
    longest, theirs = (one["launches"][one["longest"]] for one in (mine, ours))
    if max(counts) == 1 or longest["kernel"] == theirs["kernel"]:
        yield from _of_launch(longest, theirs, "" if max(counts) == 1 else longest["kernel"])


def _of_launch(mine: Profile, ours: Profile, kernel: str) -> Iterator[str]:
    """What is otherwise in one launch; the kernel's name where there are several."""
    if mine["stack"] and not ours["stack"]:
        yield f"It spills {mine['stack']} bytes a thread, ours none."
    here, there = mine["constants"], ours["constants"]
    unlike = [name for name in here if name in there and here[name] != there[name]][:NAMES]
    fewer, more = sorted((mine["programs"], ours["programs"]))
    sizes = [", ".join(f"{name} = {one[name]}" for name in unlike) for one in (here, there)]
    programs = [_count(mine["programs"], "program"), f"{ours['programs']:,}"]
    both = [sizes, programs] if more > ALIKE * fewer else [sizes]
    parts = [" and ".join(filter(None, which)) for which in zip(*both, strict=True)]
    if any(parts):
        of = f" for {kernel}" if kernel else ""
        yield f"You {'use' if unlike else 'launch'} {parts[0]}{of}; ours {parts[1]}."
    if mine["warps"] != ours["warps"]:
        yield f"Your programs have {_count(mine['warps'], 'warp')} each, ours {ours['warps']}."
    if mine["load"] and ours["load"] and mine["load"] != ours["load"]:
        yield f"Your widest loads take {mine['load']} bytes a lane, ours {ours['load']}."


def _count(number: int, what: str) -> str:
    ending = "" if number == 1 else "es" if what.endswith("ch") else "s"
    return f"{number:,} {what}{ending}"


def _mb(one: Profile) -> str:
    return f"{one['moved'] / 1e6:,.0f} MB"
