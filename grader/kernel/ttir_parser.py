"""TTIR, as Triton prints it, read.

The printed text holds from Triton 3.6 to 3.9; its bindings show no constants and no predicates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.kernel.ttir import Block, Function, Operation, Program, Region, Type

NAME = r"%[\w.$-]+"
VALUE = re.compile(rf"{NAME}(?:#\d+)?")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
PLACE = re.compile(r"^#(loc\d*) = loc\((.*)\)$", re.M)
INLINE = re.compile(r" loc\((?:#loc\d*|unknown|\"[^\"]*\"\(#loc\d*\)|callsite\([^()]*\))\)")
ATTRIBUTES = re.compile(r"<?\{[^{}]*\}>?")
GENERIC = re.compile(r'^"(tt\.\w+)"')
FUNCTION = re.compile(r"tt\.func (public|private) @(\S+?)\((.*)\) .*\{")
ARGUMENT = re.compile(rf"({NAME}): (!?[\w.]+(?:<[^ {{]*>)?)")
FOR = re.compile(r"scf\.for (?:unsigned )?(\S+) = (\S+) to (\S+) step (\S+)(?: iter_args\((.*?)\) ->)?")
LEAVES = {"scf.yield", "scf.condition", "cf.br", "cf.cond_br", "tt.return", "tt.map_elementwise.return"}
LEAVES |= {"tt.reduce.return", "tt.scan.return"}


def program(text: str) -> Program:
    """A module's text, read.

    Raises:
        ValueError: it is not written as we know it.
    """
    return _Reader(text).program()


class _Reader:
    def __init__(self, text: str) -> None:
        self.places = dict(PLACE.findall(text))
        lines = (line.strip() for line in text.split("\n"))
        self.lines: Iterator[str] = (line for line in lines if line and not line.startswith("#"))
        self.slots: dict[str, int] = {}
        self.count = 0
        self.closing = ""  # the line that ended the last region

    def program(self) -> Program:
        functions, kernel = dict[str, Function](), ""
        for line in self.lines:
            head = FUNCTION.match(INLINE.sub("", line))
            if head:
                arguments = ARGUMENT.findall(ATTRIBUTES.sub("", head[3]))
                slots = [self._new(name) for name, _ in arguments]
                kinds = [_type(kind) for _, kind in arguments]
                functions[head[2]] = Function(head[2], kinds, self._region(slots))
                kernel = head[2] if head[1] == "public" else kernel
        return Program(functions, kernel, self.count, self.places)

    def _new(self, name: str) -> int:
        self.slots[name] = self.count
        self.count += 1
        return self.count - 1

    def _slots(self, text: str) -> list[int]:
        return [
            self.slots[name if name in self.slots else name.replace("#0", "")] for name in VALUE.findall(text)
        ]

    def _region(self, args: list[int]) -> Region:
        """Blocks up to the line that closes the region."""
        region = Region({"": Block(args, [])})
        block = region.body
        pending = list[tuple[Operation, str]]()
        for line in self.lines:
            if line.startswith("}"):
                self.closing = line
                break
            if line.startswith("^"):
                line = INLINE.sub("", line).partition(" // ")[0]
                name = line[: re.match(r"\^\w+", line).end()]  # type: ignore[union-attr]
                slots = [self._new(each) for each in re.findall(NAME, line)]
                first = not block.operations and len(region.blocks) == 1 and not args
                block = Block(slots, [])
                region.blocks["" if first else name] = block
            else:
                block.operations.append(self._operation(line, pending))
        for branch, text in pending:  # to blocks that were not read yet
            found = re.findall(r"(\^\w+)(?:\(([^):]*)[^)]*\))?", text)
            branch.next = [(name, self._slots(given)) for name, given in found]
        return region

    def _operation(self, line: str, pending: list[tuple[Operation, str]]) -> Operation:
        generic, words = GENERIC.search(re.sub(r"^.*? = (?=\")", "", line)), list[str]()
        line, _, place = line.rpartition(" loc(") if line.endswith(")") else (line, "", "")
        if not generic:
            words = QUOTED.findall(line)
            line = QUOTED.sub('""', line)
        results, equals, text = line.partition(" = ") if line.startswith("%") else ("", "", line)
        name = generic[1] if generic else text.split(" ", 1)[0].split("(")[0]
        made = Operation(name, [], [], text, words, [], [], place.rstrip(")").lstrip("#"))
        if name == "scf.for":
            self._loop(made)
        elif text.endswith("{"):
            self._holder(made)
        else:
            plain = ATTRIBUTES.sub("", text)
            made.ins = self._slots(plain.split(" ^")[0] if name.startswith("cf.") else plain)
            made.takes, made.gives = _types(plain)
            if name.startswith("cf."):
                pending.append((made, text))
        if made.regions:  # its place, and what it is told, stand behind them
            _, _, place = self.closing.rpartition(" loc(")
            made.place, made.text = place.rstrip(")").lstrip("#"), f"{made.text} {self.closing}"
        for result in results.split(", ") if equals else []:
            each, _, several = result.partition(":")
            made.outs += (
                [self._new(f"{each}#{n}") for n in range(int(several))] if several else [self._new(each)]
            )
        return made

    def _loop(self, made: Operation) -> None:
        head = FOR.match(made.text)
        if head is None:
            raise ValueError(f"a loop that is written otherwise: {made.text}")
        carried = re.findall(rf"({NAME}) = ({NAME}(?:#\d+)?)", head[5] or "")
        made.ins = self._slots(" ".join([head[2], head[3], head[4], *(given for _, given in carried)]))
        made.regions = [self._region([self._new(head[1]), *(self._new(name) for name, _ in carried)])]

    def _holder(self, made: Operation) -> None:
        """An operation with regions, other than a loop."""
        if made.name == "scf.while":
            given = re.search(r"scf\.while \((.*?)\) :", made.text)
            carried = re.findall(rf"({NAME}) = ({NAME}(?:#\d+)?)", given[1] if given else "")
            made.ins = self._slots(" ".join(each for _, each in carried))
            made.regions = [self._region([self._new(name) for name, _ in carried]), self._region([])]
            return
        if made.name != "scf.if":
            made.ins = self._slots(made.text.partition("(")[2].partition(")")[0])
            made.regions = [self._region([])]
            made.takes, made.gives = _types(ATTRIBUTES.sub("", INLINE.sub("", self.closing)))
            return
        made.ins = self._slots(made.text.split("->")[0])
        made.regions = [self._region([])]
        empty = Region({"": Block([], [])})
        made.regions.append(self._region([]) if "else" in self.closing else empty)


def _types(text: str) -> tuple[list[Type], list[Type]]:
    """Types of operands and of results; where one kind is printed it is both's."""
    _, colon, printed = text.rpartition(" : ")
    if not colon:
        return [], []
    left, arrow, right = printed.partition(" -> ")
    if not arrow:
        left, arrow, right = printed.partition(" to ")
    takes = [_type(each) for each in _split(left.replace(" * ", ", "))]
    return takes, [_type(each) for each in _split(right)] if arrow else takes


def _split(text: str) -> list[str]:
    """At commas outside of brackets."""
    text = text.strip()
    text = text[1:-1] if text.startswith("(") else text
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def _type(text: str) -> Type:
    block = re.fullmatch(r"tensor<((?:\d+x)*)(.*?)(?:, #.*)?>", text.strip())
    shape = tuple(int(size) for size in block[1].split("x")[:-1]) if block else ()
    return Type(shape, _element(block[2] if block else text.strip()))


def _element(text: str) -> str:
    pointer = re.fullmatch(r"!tt\.ptr<(.*?)(?:, \d+)?>", text)
    return f"*{_element(pointer[1])}" if pointer else text
