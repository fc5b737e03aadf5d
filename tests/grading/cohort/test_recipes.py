"""The recipes for Slurm and KubeRay can be read by those who run them, and their commands exist."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest

from grader.cli.cohort import grade
from grader.course import catalog
from grader.course.setup.bootstrap_venv import Clone

RECIPES = catalog.ROOT / "grader" / "grading" / "cohort" / "recipes"
FILES = sorted(RECIPES.iterdir())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_command_in_a_recipe_exists_with_its_options(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    (command,) = re.findall(r"(?<!`)track cohort grade (.+?)(?: &)?$", text, re.MULTILINE)
    parsed = click.Context(grade), shlex.split(command)
    assert grade.parse_args(*parsed) == []
    assert (parsed[0].params["address"], parsed[0].params["gpus"]) == ("auto", True)


def test_bash_can_read_the_one_for_slurm() -> None:
    subprocess.run(["bash", "-n", str(RECIPES / "slurm.sh")], check=True)


def test_the_one_for_kubernetes_is_yaml_with_our_version_of_ray() -> None:
    yaml = pytest.importorskip("yaml", reason="it comes with Ray")
    job = yaml.safe_load((RECIPES / "kuberay.yaml").read_text(encoding="utf-8"))["spec"]
    cluster = job["rayClusterSpec"]
    assert Clone(catalog.ROOT).pins("cohort")[0] == f"ray=={cluster['rayVersion'].rpartition('.')[0]}.*"
    assert cluster["headGroupSpec"]["rayStartParams"] == {"num-cpus": "0"}
    limits = cluster["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["resources"]["limits"]
    assert limits["nvidia.com/gpu"] == "8"
