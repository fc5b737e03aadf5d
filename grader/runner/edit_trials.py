"""Edits of the learner's file, each run on the same small case: what a repair is looked for with.

Only results, addresses and races are looked at, which takes half the time of a call that is judged. What
comes through here is judged as any file is.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import inspect
import io
import linecache
import signal
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any
from unittest import mock

from triton.compiler import CompilationError, code_generator
from triton.compiler.code_generator import CodeGenerator
from triton.runtime.jit import JITFunction

from grader.kernel import frontend
from grader.kernel.bounds import Bounds
from grader.kernel.mutant_schemata import Edit, Schemata, stored_by_edits
from grader.kernel.ttir import Uncompilable
from grader.performance.timing.autograd_passes import results_of
from grader.runner import backward, loading
from grader.runner.command_loop import Reply
from grader.runner.device_functions import PROBES
from grader.runner.launches import observed
from grader.runner.non_tensor_arguments import TakingTensors
from grader.runner.tensor_provenance import World
from grader.runner.tensors_on_the_wire import pack_outputs, unpack_arguments
from grader.runner_answers import Called, Compiled, Failed, Fault

UNSEEN = Called("Tensor", [], [], [], [], False, [], 0, [], [], [])  # whatever is not looked at
SECONDS = 0.5  # for one of them: some loop for ever
COMPILING = 5.0  # for many that are compiled together
FIND_CARRIES: Any = getattr(CodeGenerator, "_find_carries", None)  # of Triton 3.6 and later
COLLECTED = 200_000  # objects made until garbage is looked for: a candidate makes tens of thousands
REPEATED = 2  # times that a byte is stored: where all programs do the work of each, that is no cure


class Editing:
    """Runs edits of a file on one case.

    Args:
        runner: which has loaded the file as it is.
    """

    def __init__(self, runner: Any) -> None:
        self.runner, self.blobs = runner, list[bytearray]()
        self.module: Any = None  # of the file as it is: a runner loads others, too
        self.header: dict[str, Any] = {}
        self.schemata = Schemata([])

    def case(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Take the case that they are run on; its answer says nothing."""
        gc.freeze()  # what is there by now, which each collection would walk through
        gc.set_threshold(COLLECTED)
        self.header, self.blobs, self.module = header, blobs, self.runner.module
        return UNSEEN, []

    def compile(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Compile edits of kernels, all at once, by a call of the file as it is."""
        texts = (bytes(blob).decode() for blob in blobs)
        numbered = enumerate(zip(header["functions"], header["lines"], texts, strict=True), 1)
        self.schemata = Schemata([Edit(n, *one) for n, one in numbered])
        refused = 0
        # Those that are refused may leave half an operation behind.
        while isinstance(answer := self._planted(COMPILING)[0], Failed) and answer.fault.kind == "compile":
            if len(self.schemata.refused) == refused:
                self.schemata = Schemata([])
                break
            refused = len(self.schemata.refused)
            self.schemata.renew()
        return Compiled(sorted(self.schemata.compiled), sorted(self.schemata.refused)), []

    def edited(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Call the file with one of them: one that is compiled, another text of a function, or of all."""
        if header["number"]:
            self.schemata.chosen = header["number"]
            return self._planted()
        function = _functions(self.module).get(header["function"])
        if function is None:  # no kernel, or one that the module does not name
            return self._call(lambda: loading.module("kernel", self.runner.path, bytes(blobs[-1])))
        source = function.src
        function._unsafe_update_src(bytes(blobs[0]).decode())
        try:
            return self._call(lambda: self.module)
        finally:
            function._unsafe_update_src(source)

    def _planted(self, seconds: float = SECONDS) -> Reply:
        with self.schemata.planted(_functions(self.module)):
            return self._call(lambda: self.module, self.schemata, seconds)

    def _call(
        self, module: Callable[[], Any], schemata: Schemata | None = None, seconds: float = SECONDS
    ) -> Reply:
        asked, path = self.header, self.runner.path
        world, bounds = World((), path), Bounds(path)
        specs = [*asked["arguments"], *asked["upstream"]]
        handed = unpack_arguments(specs, [bytearray(blob) for blob in self.blobs], "cpu")
        world.memory.add_inputs(specs, handed, asked["writes"])
        arguments, upstream = handed[: len(asked["arguments"])], handed[len(asked["arguments"]) :]
        written = [arguments[position].detach() for position in asked["writes"]]
        leaves = [arguments[position].requires_grad_() for position in asked["of"]]
        silent = contextlib.redirect_stdout(io.StringIO())
        try:
            with _at_most(seconds), silent, _brief(), observed(world, bounds, schemata) as launches:
                entry = getattr(module(), asked["entry"])
                if asked["made"] and not isinstance(entry, TakingTensors):
                    entry = TakingTensors(entry, asked["made"])
                entry = PROBES[asked["probe"]](entry) if asked["probe"] else entry
                with world:
                    results = results_of(entry(*arguments), written)
                    grads = backward.gradients(results, leaves, upstream, 1)
            outputs, data = pack_outputs([*results, *grads], world, None)
        except Exception as error:
            kind = "compile" if isinstance(error, CompilationError | Uncompilable) else "exception"
            return Failed(Fault(kind, type(error).__name__, "", 0, "", []), []), []
        if bounds.moved > REPEATED * sum(int(one.sum()) for one in bounds.stored.values()):
            return Failed(Fault("exception", "Repeated", "", 0, "", []), []), []
        report = replace(UNSEEN, outputs=outputs, launches=launches, backward=bool(grads))
        return replace(report, races=bounds.races.report(), overruns=bounds.report()), data


def _functions(module: Any) -> dict[str, JITFunction[Any]]:
    """A file's kernels by name, without what is wrapped around them."""
    found = {}
    for name, value in vars(module).items():
        while not isinstance(value, JITFunction) and hasattr(value, "fn"):
            value = value.fn
        if isinstance(value, JITFunction):
            found[name] = value
    return found


@contextlib.contextmanager
def _brief() -> Iterator[None]:
    """Saves a third of the front end's time: it reads the source token by token, walks it for a key, and
    visits the body of each loop twice, first to see what it sets.
    """
    with (
        mock.patch.object(inspect, "getsourcelines", _source_lines),
        mock.patch.object(frontend, "_named", _named),
        mock.patch.object(CodeGenerator, "_find_carries", _carried, create=True),
    ):
        yield


def _source_lines(function: Callable[..., Any]) -> tuple[list[str], int]:
    code = inspect.unwrap(function).__code__
    end = max(last for _, last, _, _ in code.co_positions() if last)
    return linecache.getlines(code.co_filename)[code.co_firstlineno - 1 : end], code.co_firstlineno


def _named(kernel: JITFunction[Any]) -> str:
    """Its text and line, and those of all of the file that it calls."""
    known = [kernel.__globals__.get(name) for name in kernel.fn.__code__.co_names]
    own = (one for one in known if isinstance(one, JITFunction) and one.__globals__ is kernel.__globals__)
    plain = [str(one) for one in known if not callable(one) and not inspect.ismodule(one)]
    return f"{kernel.src}{kernel.starting_line_number}{plain}{[*map(_named, own)]}"


def _carried(
    front_end: Any, node: Any, liveins: dict[str, Any], ignore: Collection[str] = ()
) -> tuple[list[str], Any, list[Any]]:
    """What a loop carries: the names that were there before, and that its body sets."""
    inside = [n for one in node.body for n in ast.walk(one) if isinstance(n, ast.Name)]
    sets = {name.id for name in inside if isinstance(name.ctx, ast.Store)}
    sets = sets.union(*(stored_by_edits(one) for body in node.body for one in ast.walk(body)))
    names = [name for name in liveins if name in sets and name not in ignore]
    values = [liveins[name] for name in names]
    if not all(map(code_generator._is_triton_value, values)):
        return FIND_CARRIES(front_end, node, liveins, ignore)  # type: ignore[no-any-return]
    return names, code_generator.flatten_values_to_ir(values), [value.type for value in values]


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in the block after so many seconds of this process, however busy the machine is."""

    def late(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
