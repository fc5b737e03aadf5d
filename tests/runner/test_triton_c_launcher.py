"""What launches a kernel is made while the kernel is compiled, and by one process."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
import triton
from triton.backends.nvidia import driver

from grader.performance.compiler import triton_c_launcher

pytestmark = pytest.mark.every_triton


@pytest.mark.parametrize(("kind", "early"), [("*fp32", True), ("tensordesc<fp16[16, 16]>", False)])
def test_it_is_made_beside_its_kernel_where_the_signature_says_all(
    kind: str, early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, made, compiled = Event(), list[bool](), Event()

    def make(src: str, **_: Any) -> Any:
        made.append(not compiled.is_set())
        begun.set()
        return SimpleNamespace(launch=None)

    monkeypatch.setattr(driver, "compile_module_from_src", make, raising=False)
    monkeypatch.setattr(driver, "library_dirs", list)  # which asks for libcuda.so
    src = SimpleNamespace(signature={"x": kind, "n": "i32"})
    with triton_c_launcher.beside():
        if triton_c_launcher.IN_C:
            begins = triton.knobs.runtime.jit_cache_hook
            assert not begins(compile={"signature": src.signature}, fn=None), "True would end the compilation"
            assert begun.wait(10 * early) is early
        compiled.set()
    triton_c_launcher.made(src, SimpleNamespace(tensordesc_meta=[None] * (not early)))
    assert made == ([True, False] if early else [False]) * triton_c_launcher.IN_C


def test_processes_make_the_same_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    made = tmp_path / "made"

    def make(src: str) -> None:
        if not made.exists():
            time.sleep(0.5)
            with made.open("a") as file:
                file.write(src)

    forks = multiprocessing.get_context("fork")
    several = [forks.Process(target=triton_c_launcher._alone, args=(make, "launch();")) for _ in range(3)]
    for process in several:
        process.start()
    for process in several:
        process.join(20)
    assert [process.exitcode for process in several] == [0, 0, 0]
    assert made.read_text() == "launch();"
