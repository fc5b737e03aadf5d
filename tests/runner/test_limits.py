"""What a process of the learner's code may take, on a GPU as well."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from grader.runner.limits import LARGEST_FILE

LIMITED = """
import json, resource, sys
from grader.runner import limits
limits.usual(sys.argv[1] == "cpu")
score = int(open("/proc/self/oom_score_adj").read())
print(json.dumps([resource.getrlimit(resource.RLIMIT_FSIZE)[1], score]))
"""


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_no_file_fills_the_disk_and_where_memory_ends_the_learners_process_does(device: str) -> None:
    ran = subprocess.run([sys.executable, "-c", LIMITED, device], capture_output=True, text=True, check=True)
    largest, score = json.loads(ran.stdout)
    assert 0 < largest <= LARGEST_FILE
    assert score == 1000
