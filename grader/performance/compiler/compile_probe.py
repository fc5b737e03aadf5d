"""Whether the compiler takes a kernel, and what shared memory it needs: a tenth of a second, not one.

What rejects a kernel stands at the compiler's beginning. Machine code, which takes nearly all of its time,
says how quick a kernel is, and that is asked of the timed ones alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from triton._C.libtriton import ir, nvidia, passes
from triton.backends.nvidia import compiler


class Enough(Exception):
    """Thrown to leave the compiler, with the bytes of shared memory of a program; None where Triton does not
    say.
    """


def shared_memory(compile_kernel: Callable[[], Any]) -> int | None:
    """What a program of the kernel needs, in bytes; None where that is not known.

    Args:
        compile_kernel: as ever, by JITFunction.warmup.

    Raises:
        Whatever the compiler says of a kernel that it does not take.
    """
    try:
        with _cut_short():
            return int(compile_kernel().metadata.shared)  # it lay in Triton's cache
    except Enough as done:
        shared: int | None = done.args[0]
        return shared


@contextmanager
def _cut_short() -> Iterator[None]:
    """While the block runs, compiling ends where memory has been allocated."""
    backend: Any = compiler.CUDABackend
    stock = backend.add_stages

    def add_stages(self: Any, stages: dict[str, Any], options: Any, *rest: Any) -> None:
        stock(self, stages, options, *rest)

        def leave(module: Any, metadata: dict[str, Any]) -> None:
            raise Enough(_allocated(module, self.target.arch, options))

        stages["llir"] = leave

    with mock.patch.object(backend, "add_stages", add_stages):
        yield


def _allocated(module: Any, capability: int, options: Any) -> int | None:
    """As the backend's make_llir begins."""
    manager = ir.pass_manager(module.context)
    try:
        passes.ttgpuir.add_combine_tensor_select_and_if(manager)
        passes.ttgpuir.add_allocate_warp_groups(manager)
        passes.convert.add_scf_to_cf(manager)
        version = compiler.get_ptx_version_from_options(options, capability)
        nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(manager, capability, version)
        manager.run(module, "allocate")
        return int(module.get_int_attr("ttg.shared"))
    except (AttributeError, TypeError, RuntimeError):
        return None
