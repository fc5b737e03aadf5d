"""What a process of the learner's code may take, on a GPU as well."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.grading.warm_parent import UNTRUSTED
from grader.runner.resource_limits import LARGEST_FILE

LIMITED = """
import json, resource, sys
from grader.runner import resource_limits
resource_limits.usual(sys.argv[1] == "cpu")
score = int(open("/proc/self/oom_score_adj").read())
print(json.dumps([resource.getrlimit(resource.RLIMIT_FSIZE)[1], score]))
"""


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_no_file_fills_the_disk_and_where_memory_ends_the_learners_process_does(device: str) -> None:
    ran = subprocess.run([sys.executable, "-c", LIMITED, device], capture_output=True, text=True, check=True)
    largest, score = json.loads(ran.stdout)
    assert 0 < largest <= LARGEST_FILE
    assert score == 1000


FORKED = """
import sys
from grader.grading.forking import fork_runner
print(fork_runner(sys.argv[1])[0], flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("module", sorted(set(UNTRUSTED.values())))
def test_whoever_imports_the_learners_file_is_limited(module: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FORKED, module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdin
        assert parent.stdout
        limits, until = Path(f"/proc/{parent.stdout.readline().strip()}/limits"), time.monotonic() + 60
        while not (held := re.search(rf"Max file size +{LARGEST_FILE} +{LARGEST_FILE}", limits.read_text())):
            assert time.monotonic() < until, limits.read_text()
            time.sleep(0.1)
        parent.stdin.close()
    assert held
