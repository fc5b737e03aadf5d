"""What a fresh Python says of torch and of kernels without a GPU: a broken torch is a finding, no crash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from grader import kernel

# The folder that `grader` is imported from.
PACKAGE = Path(__file__).resolve().parents[3]

TORCH = """import json, warnings
warnings.simplefilter("ignore")
import torch
facts = {"cuda": torch.version.cuda, "available": torch.cuda.is_available()}
facts["arches"] = torch.cuda.get_arch_list()
if torch.version.cuda:
    try: torch.ones(1, device="cuda").sum().item()
    except Exception as error: facts |= {"available": False, "reason": str(error).splitlines()[0]}
print(json.dumps(facts))"""
EVALUATED = """import json
from grader.course.setup import smoke_kernel
print(json.dumps(smoke_kernel.right()))"""


def torch() -> dict[str, Any]:
    """Its CUDA version, whether it can use the GPU, and for which GPUs it is built; or an error."""
    return dict(_says(TORCH))


def evaluated() -> bool | dict[str, str]:
    """Whether a kernel gives the right sums without a GPU; or an error."""
    found: bool | dict[str, str] = _says(EVALUATED, **kernel.ENVIRONMENT, PYTHONPATH=str(PACKAGE))
    return found


def _says(code: str, **environment: str) -> Any:
    """What a fresh interpreter prints as JSON, or {"error": the last line of its complaint}."""
    command = [sys.executable, "-c", code]
    surroundings = {**os.environ, **environment}
    with tempfile.TemporaryDirectory() as empty:
        try:
            answer = subprocess.run(
                command, capture_output=True, text=True, timeout=120, env=surroundings, cwd=empty, check=False
            )
        except subprocess.TimeoutExpired:
            return {"error": "no answer within two minutes"}
    if answer.returncode:
        lines = answer.stderr.strip().splitlines()
        return {"error": lines[-1] if lines else f"exit status {answer.returncode}"}
    return json.loads(answer.stdout.splitlines()[-1])
