"""Which kernels, by which stores, a wrong result comes from.

A launch says which memory each of its parameters was, and the source what a kernel stores there and of what
that is made. From the wrong result back: whoever stored it, then whoever stored what that one read. Memory
of results that are right is not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from grader.challenge.harness.compare import Finding
from grader.challenge.harness.trial import Trial
from grader.diagnosis.evidence import Diagnosis, Evidence
from grader.diagnosis.pointer_expressions import WORDS, Part, assignments
from grader.diagnosis.source_context import function, functions, jitted, last, parameters
from grader.runner_answers import Called, TensorOutput

MISPLACED = ("overrun", "unwritten")  # findings about addresses and masks, and no values


@dataclass(frozen=True)
class Behind:
    """Where a wrong result comes from.

    Attributes:
        stores: kernels, the last one first, and the lines of their stores; none where no kernel was handed
            the result's memory.
        unwritten: kernels, and their parameters, that are memory which nobody wrote to and they read.
        whole: no other kernel is behind it by way of torch.
        calls: lines of kernels that store, or call a function that does.
    """

    stores: Mapping[str, frozenset[int]]
    unwritten: tuple[tuple[str, str], ...] = ()
    whole: bool = True
    calls: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Stored:
    """One store or atomic: the parameters that its address is made of, and all that it is made of.

    Attributes:
        call: the line of its kernel: where a function that it calls stores, that of the call.
    """

    line: int
    call: int
    into: frozenset[str]
    of: frozenset[str]


def behind(trial: Trial, tree: ast.Module) -> Behind | None:
    """Behind the wrong results of a trial, those kernels that all of them have in common if there are any.

    None where that is not known: nothing of it is a tensor's value, or it may be torch's.
    """
    report = trial.answer.report if trial.answer else None
    if not isinstance(report, Called):
        return None
    changed = trial.findings[0].facts.get("changed", len(report.inputs))
    if changed < len(report.inputs):  # whoever stored there, and no one before
        every = frozenset(at for launch in report.launches for at in launch.handed.values())
        return _slice(report.inputs[changed], report, every, tree)
    numbers = list(dict.fromkeys(f.facts["result"] for f in trial.findings if "result" in f.facts))
    tensors = [(n, out) for n, out in enumerate(report.outputs) if isinstance(out, TensorOutput)]
    memory = {n: out.memory for n, out in tensors if out.memory}
    if not numbers or not set(numbers) <= set(memory):
        return None
    right = {n: at for n, at in memory.items() if n not in numbers}
    past = frozenset(right.values())
    first, *others = (_slice(memory[n], report, past, tree) for n in numbers)
    if report.foreign and not first.stores:
        return None
    common = [kernel for kernel in first.stores if all(kernel in other.stores for other in others)]
    common = common or [*first.stores]
    if numbers[0] >= trial.asked_for:  # a gradient: whoever stored results that are right comes last
        plain = [at for n, at in right.items() if n < trial.asked_for]
        sound = {kernel for at in plain for kernel in _slice(at, report, past - {at}, tree).stores}
        common = [kernel for kernel in common if kernel not in sound] or common
    whole = first.whole or not report.foreign
    return Behind({kernel: first.stores[kernel] for kernel in common}, first.unwritten, whole)


def alone_behind(trial: Trial, evidence: Evidence) -> frozenset[int]:
    """The lines of kernels that wrong results are made from, and none that is right in every case.

    Weiser, "Program slicing", 1984; of the right results, Lyle and Weiser's dicing, 1987.
    """
    tree = ast.parse(evidence.source)
    report = trial.answer.report if trial.answer else None
    if not isinstance(report, Called):
        return frozenset()
    alike = [other for other in evidence.failed if other.challenge is trial.challenge]
    if (first := trial.findings[0]).kind == "overrun":
        return frozenset(made_on(frozenset({int(first.facts.get("line") or 0)}), tree, places=True))
    wrong = {found.facts.get("result") for other in alike for found in other.findings}
    lines: dict[bool, set[int]] = {True: set(), False: set()}
    for number, out in enumerate(report.outputs):
        if isinstance(out, TensorOutput) and out.memory:
            calls = _slice(out.memory, report, frozenset(), tree).calls
            lines[number in wrong] |= made_on(calls, tree, first.kind in MISPLACED)
    return frozenset(lines[True] - lines[False])


def made_on(lines: frozenset[int], tree: ast.Module, places: bool = False) -> set[int]:
    """These lines, on which kernels store, and those that make where, and what unless only `places` count."""
    found = set(lines)
    for kernel in filter(jitted, functions(tree)):
        calls = [n for n in ast.walk(kernel) if isinstance(n, ast.Call) and n.lineno in lines]
        accesses = [call for call in calls if places and last(call.func) in WORDS and call.args]
        masks = [each for call in accesses for each in call.keywords if each.arg == "mask"]
        names = _names([*masks, *(call.args[0] for call in accesses)] or calls)
        while more := [p for p in assignments(kernel) if p.sets & names and p.line not in found]:
            found.update(part.line for part in more)
            names = names.union(*(part.names for part in more))
    called = {last(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call) and n.lineno in found}
    helpers = (one for one in functions(tree) if jitted(one) and one.name in called)
    return found.union(*(range(one.lineno, (one.end_lineno or 0) + 1) for one in helpers))


def _slice(memory: int, report: Called, right: frozenset[int], tree: ast.Module) -> Behind:
    """Behind what lies in one memory."""
    wanted, made, found = {memory}, {*report.inputs, *report.untouched}, dict[str, frozenset[int]]()
    unwritten, calls = dict[tuple[str, str], None](), set[int]()
    kernels = {launch.kernel for launch in report.launches}
    written = {name: [*stores(function(tree, name), tree)] for name in kernels}
    for launch in reversed(report.launches):
        left = written[launch.kernel]
        while hits := [s for s in left if any(launch.handed.get(name) in wanted for name in s.into)]:
            left = [s for s in left if s not in hits]
            found[launch.kernel] = found.get(launch.kernel, frozenset()) | {s.line for s in hits}
            calls |= {s.call for s in hits}
            made |= {launch.handed[name] for s in hits for name in s.into if name in launch.handed}
            read = {
                name: launch.handed[name] for s in hits for name in s.of - s.into if name in launch.handed
            }
            wanted |= {*read.values()} - right
            unwritten |= {(launch.kernel, n): None for n, at in read.items() if at in report.untouched}
    if not found:  # nobody stored it, though some could have
        could = [launch.kernel for launch in report.launches if memory in launch.handed.values()]
        found = dict.fromkeys(could, frozenset())
    return Behind(found, tuple(unwritten), wanted <= made, frozenset(calls))


def of_nothing(report: Called, results: Iterable[int], tree: ast.Module) -> bool:
    """Whether one of these results is made from memory that nobody wrote."""
    outputs = [report.outputs[number] for number in results if number < len(report.outputs)]
    memory = [out.memory for out in outputs if isinstance(out, TensorOutput) and out.memory]
    return any(_slice(at, report, frozenset(), tree).unwritten for at in memory)


def garbage(trial: Trial, source: str) -> Diagnosis | None:
    """Where a kernel behind the wrong result read what nobody wrote: the end of a sentence that says so."""
    known = behind(trial, ast.parse(source))
    if known is None or not known.unwritten:
        return None
    kernel, name = known.unwritten[0]
    return (
        f"made from memory that nobody wrote: {kernel} reads {name}, and torch.empty leaves anything there.",
        f"the load of {name} in {kernel}, and who stores there before it",
    )


def of_holes(trial: Trial, finding: Finding, source: str) -> Diagnosis | None:
    """What is said of a result that kernels stored everywhere, though it holds what torch.empty left: they
    read that elsewhere. None where a part of the result was not stored, or that is not known.
    """
    report, number = trial.answer.report if trial.answer else None, finding.facts.get("result", -1)
    if number < len(trial.challenge.writes) or not trial.stored_everywhere(number):
        return None
    assert isinstance(report, Called)
    assert report.holes is not None
    name = str(finding.facts.get("at", "")).partition("[")[0] or "The result"
    name = f"The result {name}" if name.isidentifier() else name
    tree = ast.parse(source)
    if told := garbage(replace(trial, findings=[finding]), source):
        return f"{name} is {told[0]}", told[1]
    # By way of torch the memory of a result is not followed.
    read = _reads(report, report.untouched, tree) or _reads(report, report.holes, tree)
    start = f"{name} is stored everywhere, and made from memory that nobody wrote"
    first = {at: (kernel, scratch) for kernel, scratch, at in reversed(read)}.values()
    if not first:  # all of it holds something by the end
        return (
            f"{name} is stored everywhere, and holds what torch.empty leaves: a kernel reads memory before "
            "anything is stored there.",
            "what is read before it is written",
        )
    kernel, scratch = next(iter(first))  # the last one is nearest to the result
    return (
        f"{start}: {kernel} reads {scratch} where nothing was stored before, and torch.empty leaves anything "
        "there.",
        f"the load of {scratch} in {kernel}, and who stores there before it",
    )


def _reads(report: Called, memory: Iterable[int], tree: ast.Module) -> list[tuple[str, str, int]]:
    """Kernels that make what they store from such memory, with the parameters that it is."""
    return [
        (launch.kernel, name, at)
        for launch in report.launches
        for name, at in launch.handed.items()
        if at in memory and any(name in s.of - s.into for s in stores(function(tree, launch.kernel), tree))
    ]


def stores(
    kernel: ast.FunctionDef | None, tree: ast.Module, callers: frozenset[str] = frozenset()
) -> Iterator[Stored]:
    """Those of a kernel, and of the functions under @triton.jit that it calls."""
    if kernel is None or kernel.name in callers:
        return
    known, given = frozenset(parameters(kernel)), [*assignments(kernel)]
    for call in (node for node in ast.walk(kernel) if isinstance(node, ast.Call)):
        word = last(call.func)
        if word == "store" or word.startswith("atomic_"):
            into = {*_names(call.args[:1]), *_names([call.func])}
            yield Stored(
                call.lineno, call.lineno, known & _near(into, given), known & _far(_names([call]), given)
            )
        helper = function(tree, word) if isinstance(call.func, ast.Name) else None
        if helper is not None and jitted(helper):
            handed = _handed(call, helper)
            for inner in stores(helper, tree, callers | {kernel.name}):
                into, of = ({n for p in names for n in handed.get(p, ())} for names in (inner.into, inner.of))
                yield Stored(inner.line, call.lineno, known & _near(into, given), known & _far(of, given))


def reached(kernels: Iterable[str], tree: ast.Module) -> set[str]:
    """These kernels, and the functions under @triton.jit that they call."""
    found, queue = set[str](), [*kernels]
    every = {f.name: f for f in functions(tree) if jitted(f)}
    while queue:
        name = queue.pop()
        if name in every and name not in found:
            found.add(name)
            queue += [last(n.func) for n in ast.walk(every[name]) if isinstance(n, ast.Call)]
    return found


def _handed(call: ast.Call, helper: ast.FunctionDef) -> dict[str, set[str]]:
    given = {name: _names([value]) for name, value in zip(parameters(helper), call.args, strict=False)}
    return given | {word.arg: _names([word.value]) for word in call.keywords if word.arg}


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


def _near(names: set[str], given: list[Part]) -> set[str]:
    """What an address is made of; what is loaded is none."""
    return _far(names, [part for part in given if not part.has("load")])


def _far(names: set[str], given: list[Part]) -> set[str]:
    found = set(names)
    while more := {n for part in given if part.sets & found for n in part.names} - found:
        found |= more
    return found
