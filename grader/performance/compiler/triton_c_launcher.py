"""What launches a kernel: before Triton 3.7 a C compiler makes it, 0.3 s for each signature.

Made behind each compilation, by all builders at once, it kept the 16 cores of a matrix day busy with the same
few sources for 0.4 s.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any
from unittest import mock

from triton import knobs
from triton.backends.nvidia import driver
from triton.runtime import jit

IN_C = hasattr(driver, "make_launcher")
LOCKS = "track-launchers.lock"  # in Triton's cache; each source has a byte of it


def each_once() -> None:
    """From here on one process at a time makes a launcher; others find it in Triton's cache then."""
    if IN_C:
        stock: Any = driver.compile_module_from_src
        driver.compile_module_from_src = lambda *args, **named: _alone(stock, *args, **named)


def _alone(stock: Any, *args: Any, **named: Any) -> Any:
    source = named["src"] if "src" in named else args[0]
    place = int(hashlib.sha256(source.encode()).hexdigest()[:8], 16)
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):  # a file system without locks: then each makes its own
            Path(knobs.cache.dir).mkdir(parents=True, exist_ok=True)
            file = held.enter_context((Path(knobs.cache.dir) / LOCKS).open("w"))
            fcntl.lockf(file, fcntl.LOCK_EX, 1, place)
        return stock(*args, **named)


@contextlib.contextmanager
def beside() -> Iterator[None]:
    """While the block compiles a kernel, have its launcher made by a thread."""
    threads: list[Thread] = []

    def compiling(*, compile: dict[str, Any], **_: Any) -> None:
        signature = compile["signature"]
        if not any("tensordesc" in str(kind) for kind in signature.values()):  # its compiler says how it lies
            threads.append(Thread(target=made, args=(SimpleNamespace(signature=signature), None)))
            threads[-1].start()

    with contextlib.ExitStack() as hooked:
        if IN_C:
            hooked.enter_context(mock.patch.object(knobs.runtime, "jit_cache_hook", compiling))
            # A hook is handed all constants as JSON, too, which a function among them cannot be.
            hooked.enter_context(mock.patch.object(jit, "serialize_specialization_data", return_value=""))
        try:
            yield
        finally:
            for thread in threads:
                thread.join()


def made(src: Any, metadata: Any) -> None:
    """Make a launcher as Triton does; what it wants of metadata beyond that does not matter here.

    Args:
        src: with the signature: parameters, and their types as Triton spells them.
        metadata: of the compiled kernel, where there is one.
    """
    with contextlib.suppress(Exception):
        driver.CudaLauncher(src, metadata)
