"""The runner's loop: load the learner's file, run its function on raw inputs, send back raw outputs.

    load  {path, provided, mine, made}, and the file's bytes   → Loaded
    call  {entry, arguments, upstream, of, writes, calls, seed, others, between, split, again, gpu, traced}
                                                         → Called
    repeat {}, and other contents for the last call's inputs → Repeated
    peak  {entry, arguments, of, writes}                 → Peak
    operator {entry, operator, arguments, of}            → Registered

The answers are runner_answers.py's, or Failed where the learner's code raised.

It is forked for one grading and killed after it. It never learns an expected value, a tolerance or a later
seed.
"""

from __future__ import annotations

import faulthandler
import functools
import inspect
import os
import signal
import warnings
from types import FrameType
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from grader import kernel
from grader.kernel import autotuning, launch_hook, program_order
from grader.kernel.bounds import Bounds
from grader.kernel.launch import running
from grader.kernel.nonfinite import Nonfinite
from grader.performance.counting.fake_gpu import on_stage, without_gpu
from grader.performance.timing.autograd_passes import as_list, results_of
from grader.runner import backward, error_messages, loading, resource_limits
from grader.runner.command_loop import Reply, answering
from grader.runner.cuda_warmup import wake
from grader.runner.device_functions import PROBES
from grader.runner.host_reads import READS, HostReads
from grader.runner.launches import observed
from grader.runner.monkeypatches import Originals
from grader.runner.non_tensor_arguments import TakingTensors
from grader.runner.preceding_calls import in_calls, rehearse, write
from grader.runner.registered_operator import tested
from grader.runner.tensor_provenance import World
from grader.runner.tensors_on_the_wire import address_of, contents, pack_outputs, unpack_arguments
from grader.runner_answers import Called, Failed, Loaded, Parameter, Repeated
from grader.runner_measurements import Peak
from grader.wire import WHERE, Channel

LENT_TO = "call", "prepare", "peak"  # the commands that take gigabytes


class LearnerFile:
    """One learner's file, loaded."""

    def __init__(self) -> None:
        self.path = ""
        self.module: Any = None
        self.device = "cpu" if kernel.EVALUATES else "cuda"
        self.originals, self.replaced = Originals(), list[str]()
        self.last: Any = None  # what the last call did, where that can be repeated

    def load(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Import the file and say what functions it has."""
        self.path = header["path"]
        if kernel.EVALUATES:
            without_gpu()
        try:
            self.module = loading.load(self.path, bytes(blobs[0]), *loading.asked(header))
        finally:
            self._mend()
        functions = {}
        for name, value in vars(self.module).items():
            if callable(value) and not isinstance(value, type) and not name.startswith("__"):
                functions[name] = _parameters(value)
        return Loaded(functions, self.replaced), []

    def call(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """Run the entry inside a closed world and report all that can be observed."""
        entry = getattr(self.module, header["entry"])
        if header["probe"]:
            entry = PROBES[header["probe"]](entry)
        specs = [*header["arguments"], *header["upstream"]]
        between = unpack_arguments(header["between"], blobs[header["split"] :], self.device)
        blobs, *others = in_calls(blobs[: header["split"]], header["others"])
        handed = unpack_arguments(specs, blobs, self.device)
        arguments, upstream = handed[: len(header["arguments"])], handed[len(header["arguments"]) :]
        self.last, world = None, World(header["allow"], self.path)
        limits = Bounds(self.path) if kernel.EVALUATES else None
        world.memory.add_inputs(specs, handed, header["writes"])
        world.memory.add_inputs(header["between"], between)
        # Views of their own: what a launcher sets as an argument's .data is not its memory.
        written = [arguments[position].detach() for position in header["writes"]]
        leaves = [arguments[position].requires_grad_() for position in header["of"]]
        for value in (between[position] for position in header["of"] if between):
            if isinstance(value, torch.Tensor):
                value.requires_grad_()
        program_order.shuffle(header["seed"])
        launches: Any = []
        made = Nonfinite() if limits and header["traced"] else None
        try:
            with (
                on_stage(header["gpu"]),
                observed(world, limits, made) as launches,
                HostReads(world.busy) as reads,
                world,
            ):
                if others:
                    rehearse(entry, arguments, world, header, blobs, others)
                recording = world.record() if header["again"] else None
                for _ in range(header["calls"]):
                    launches.clear()
                    world.call += 1
                    result = entry(*arguments)
                if between:  # a backward pass comes behind the forward pass of another call
                    entry(*between)
                results = results_of(result, written)
                saved = backward.kept(results, world)
                unasked = backward.unasked(results)
                grads = backward.gradients(results, leaves, upstream, 1 + bool(others))
                self._synchronise()
            inputs = [value.untyped_storage() for value in handed if isinstance(value, torch.Tensor)]
            # Copied while it lives: what acts as a container of results dies is too late.
            outputs, data = pack_outputs(world.keep([*results, *grads]), world, header.get("slices"))
            may_change = {argument.untyped_storage().data_ptr() for argument in written}
            data += contents(inputs, [self.device == "cpu" or one.data_ptr() in may_change for one in inputs])
            self._mend()
        except Exception as error:
            return Failed(error_messages.describe(error, self.path), limits.report() if limits else []), []
        if recording:  # no large call's, whose memory is better left free
            self.last = recording, world, specs, handed
        report = Called(
            structure=type(result).__name__,
            outputs=outputs,
            launches=launches,
            foreign=world.foreign,
            lines=world.lines,
            late=sorted(world.late - world.early),
            replaced=self.replaced,
            reads=[name for name in reads.seen if name in READS],
            looked=bool(reads.seen) or world.answered,
            elsewhere=world.memory.elsewhere(),
            backward=bool(grads),
            saved=saved,
            unasked=backward.computed(unasked),
            allocated=world.memory.allocated(),
            races=limits.races.report() if limits else [],
            guards=[] if limits else world.memory.broken_guards(),  # without a GPU every address is seen
            overruns=limits.report() if limits else [],
            tunings=world.tunings,
            inputs=[storage.data_ptr() for storage in inputs],
            untouched=world.memory.untouched(limits.read) if limits else [],
            holes=world.memory.holes(limits.stored) if limits else None,
            made=made.behind(address_of([*results, *grads], *header["traced"])) if made else [],
        )
        return report, data

    def repeat(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """What the last call launched, launched again where its inputs hold these contents."""
        recording, world, specs, handed = self.last
        write(specs, handed, blobs)
        recording.repeat()
        self._synchronise()
        return Repeated(), pack_outputs(recording.results, world, None)[1]

    def allocated(self, header: dict[str, Any], blobs: list[bytearray]) -> Reply:
        """What one call holds at its peak, and what of it the outputs are; bytes."""
        from grader.runner import peak_memory

        arguments = unpack_arguments(header["arguments"], blobs, self.device)
        leaves = [arguments[position].requires_grad_() for position in header["of"]]
        held = peak_memory.Peak(arguments, self.path)
        with peak_memory.swept(), observed(held, Bounds(self.path)), held:
            result = getattr(self.module, header["entry"])(*arguments)
            with _disable_current_modes():
                upstream = backward.any_upstream(result)
            held.free(upstream)
            outputs = [*as_list(result), *backward.gradients(result, leaves, upstream, 1)]
            others = held.others_than(outputs)
        return Peak(held.peak, backward.size(outputs), others), []

    def _mend(self) -> None:
        self.replaced += [name for name in self.originals.mend() if name not in self.replaced]

    def _synchronise(self) -> None:
        if not kernel.EVALUATES:
            torch.cuda.synchronize()


def serve(channel: Channel) -> None:
    """Answer the judge until it hangs up; on a GPU that is awake before anything is asked for."""
    if not kernel.EVALUATES:
        wake()
    resource_limits.usual(kernel.EVALUATES)
    warnings.filterwarnings("ignore", module=r"triton\b")  # what is deprecated: the file did not print it
    if kernel.EVALUATES:
        launch_hook.install()
        autotuning.install()
        faulthandler.unregister(WHERE)  # or it would not see that there is another to go on to
        signal.signal(WHERE, _say_where)
        faulthandler.register(WHERE, all_threads=False, chain=True)
        # numpy's, of a maximum over NaN alone: no GPU says that, and the learner did not print it.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"(grader|numpy)\b")
    runner = LearnerFile()
    commands: dict[str, Any] = {"load": runner.load, "call": runner.call, "peak": runner.allocated}
    commands |= {"repeat": runner.repeat, "operator": functools.partial(tested, runner)}
    if kernel.EVALUATES:
        from grader.runner.edit_trials import Editing
        from grader.runner.launch_survey import surveyed
        from grader.runner.metering import Metering

        editing, metering = Editing(runner), Metering(runner)
        commands |= {name: getattr(editing, name) for name in ("case", "compile", "edited")}
        commands["survey"] = functools.partial(surveyed, runner)
        commands |= {name: getattr(metering, name) for name in ("meter", "walk", "trace")}
    else:
        from grader.runner.gpu_timing import Clock
        from grader.runner.tensors_lent_by_judge import Borrower

        clock = Clock(runner)
        commands |= {name: getattr(clock, name) for name in ("prepare", "round", "burst", "verify", "peak")}
        borrower = Borrower()
        commands |= {name: borrower.lending(commands[name]) for name in LENT_TO}
        commands["borrow"] = borrower.borrow
    answering(channel, commands, lambda: runner.path)


def _say_where(_: int, frame: FrameType | None) -> None:
    """Whoever asks for the stack is told of kernels, too, which have no frames of their own."""
    for path, line in running(frame):
        os.write(2, f'  File "{path}", line {line} in a kernel\n'.encode())


def _parameters(function: Any) -> list[Parameter] | None:
    """Positional parameters of a function and whether each is required; None when it takes any number."""
    if isinstance(function, TakingTensors):
        return function.parameters(_parameters(function.function))
    if schema := getattr(getattr(function, "_opoverload", None), "_schema", None):  # registered with torch
        return [Parameter(one.name, not one.has_default_value()) for one in schema.arguments]
    try:
        signature = inspect.signature(getattr(function, "fn", function), follow_wrapped=False)
    except (TypeError, ValueError):
        return None
    kinds = [p.kind for p in signature.parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [
        Parameter(p.name, p.default is inspect.Parameter.empty)
        for p in signature.parameters.values()
        if p.kind in positional
    ]
