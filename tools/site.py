"""`track dev site`: the course's own pages as a web site. Nothing is written twice."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from grader.cli.screens import access_page, day_as_notebook
from grader.course import catalog
from grader.course.catalog import Day
from grader.course.learner.workspace import writing
from grader.course.setup.bootstrap_venv import Clone
from grader.errors import CannotGrade, TrackError
from grader.grading.inspection_request import ask
from grader.grading.warm_client import Warm
from grader.version import REPOSITORY
from tools import sitecheck, sitepages
from tools.downloaded_tools import fetch

STYLE = Path(__file__).with_name("site.css")
# A browser starts no worker from a file's address: on a disk the search starts its own from its text.
WORKER = """\
if (location.protocol === "file:")
  window.Worker = class extends Worker {
    constructor() { super(URL.createObjectURL(new Blob([SOURCE]))); }
  };
"""
ROOMS = (
    *("cli", "grading", "judge", "diagnosis", "runner", "challenge", "kernel"),
    *("performance/counting", "performance/compiler", "performance/predict"),
)
IMAGE = re.compile(r"!\[.*?\]\((?!https?:)([^)\s]+)\)")
# No option that asks another server for anything: no fonts, no repo_url (its stars), no analytics.
FEATURES = [f"navigation.{name}" for name in ("indexes", "top", "footer")]
FEATURES += [
    "search.highlight",
    "content.code.copy",
    "toc.integrate",
]  # 110 columns of code fit at 1280 pixels
# GitHub's Markdown and no more: the rest of the generator's own list makes signs of `~`, `^`, `==` and `(c)`.
MARKDOWN: dict[str, Any] = {
    **{name: {} for name in ("attr_list", "md_in_html", "sane_lists", "tables", "pymdownx.details")},
    **{f"pymdownx.{name}": {} for name in ("highlight", "superfences", "inlinehilite")},
    "toc": {"permalink": True},
}


def build(out: Path, drawn: Iterable[Day], told: Callable[[str], None]) -> list[str]:
    """Builds the site into `out`, in place of one that was built there before.

    Args:
        drawn: the days whose lesson gets the picture of our solution: seconds each.
        told: called with a line for each step.

    Returns: what is wrong with it, a line each.

    Raises:
        TrackError: `out` holds something else.
        CannotGrade: the generator cannot be fetched, or does not take the pages; it has said why.
    """
    if out.exists() and any(out.iterdir()) and not (out / "search.json").is_file():
        raise TrackError(f"{out} is no site that was built here, and stays.", "Name another folder.")
    if not fetched():
        raise CannotGrade("The site's generator could not be fetched.", "track dev site, with network")
    with tempfile.TemporaryDirectory() as scratch, writing(out):
        folder = Path(scratch)
        shown = _draw(drawn, folder / "docs" / "show", told)
        told("notebooks and pages")
        _write(folder, shown)
        _generate(folder)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(folder / "site", out)
    told("links, texts for pictures, weights")
    return sitecheck.complaints(out)


def generator_home() -> Path:
    """Where the generator lies: beside what is installed, so that its packages meet none of ours."""
    newest, *_ = Clone(catalog.ROOT).pins("site")
    return Path(sys.prefix) / "site" / newest.partition(";")[0]


def fetched() -> bool:
    """Whether the generator is here, or could be fetched."""
    return fetch(generator_home(), "the site's generator", Clone(catalog.ROOT).pins("site"))


def _draw(days: Iterable[Day], folder: Path, told: Callable[[str], None]) -> set[Day]:
    """The page of `track show` of each solution; days whose solution launches no kernel have none."""
    folder.mkdir(parents=True)
    shown = set()
    with Warm("cpu") as warm:
        for day in days:
            told(f"the picture of {day.name[0].lower()}{day.name[1:]}")
            source = day.solution.read_bytes()
            try:
                parts = ask(day, day.solution, "show", source=source, warm=warm, given=" --file")
            except TrackError as problem:
                told(f"  none: {problem}")
                continue
            if any(part["launches"] for part in parts):
                text = access_page.page(day, [], parts)  # without its lines: they are the answer
                (folder / f"{day.stem}.html").write_text(text, encoding="utf-8")
                shown.add(day)
    return shown


def _write(folder: Path, shown: set[Day]) -> None:
    """Everything that the generator takes, and its configuration."""
    docs = folder / "docs"
    (docs / "notebooks").mkdir(parents=True)
    for day in catalog.course():
        day_as_notebook.write(day, docs / "notebooks" / f"{day.stem}.ipynb")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", docs / "notebooks", catalog.ROOT], check=True)
    for place, text in sitepages.pages(shown).items():
        (docs / place).parent.mkdir(parents=True, exist_ok=True)
        (docs / place).write_text(text, encoding="utf-8")
        for picture in map((docs / place).parent.joinpath, IMAGE.findall(text)):
            picture.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(catalog.ROOT / picture.resolve().relative_to(docs.resolve()), picture)
    shutil.copy(STYLE, docs)
    (search,) = generator_home().glob("zensical/templates/assets/javascripts/workers/search.*.js")
    worker = WORKER.replace("SOURCE", json.dumps(search.read_text(encoding="utf-8")))
    (docs / "iframe-worker.js").write_text(worker, encoding="utf-8")
    (folder / "zensical.toml").write_text(f"project = {_toml(_project())}\n", encoding="utf-8")


def _project() -> dict[str, Any]:
    """The generator's configuration: https://zensical.org/docs/setup/basics/"""
    themes = (("light", "default", "moon", "dark"), ("dark", "slate", "sun", "light"))
    palette = [
        {
            "media": f"(prefers-color-scheme: {theme})",
            "scheme": scheme,
            "toggle": {"icon": f"lucide/{icon}", "name": f"Switch to {other}"},
        }
        for theme, scheme, icon, other in themes
    ]
    owner, _, name = REPOSITORY.partition("/")
    github = {"icon": "fontawesome/brands/github", "link": f"https://github.com/{REPOSITORY}"}
    return {
        "site_name": "Triton Track",
        **({"site_url": f"https://{owner}.github.io/{name}/"} if REPOSITORY else {}),
        "site_description": "A course in GPU kernel programming with Triton, graded day by day",
        "docs_dir": "docs",
        "site_dir": "site",
        "use_directory_urls": False,  # so that the pages also work from a disk
        "nav": _nav(),
        "extra_css": [STYLE.name],
        "theme": {"font": False, "features": FEATURES, "palette": palette},
        "extra": {"social": [github] if REPOSITORY else [], "polyfills": ["iframe-worker.js"]},
        "markdown_extensions": MARKDOWN,
        # The plugin loads a script from elsewhere, unless one of this name is there.
        "plugins": {"search": {}, "offline": {}},
    }


def _nav() -> list[dict[str, Any]]:
    groups = {title: [place, *map(_entry, days)] for place, (title, days) in sitepages.groups().items()}
    rooms = [{room: f"grader/{room}/README.md"} for room in ROOMS]
    apart = [
        {"How grading works": ["grader/README.md", *rooms]},
        {"Predicted and measured": "measured.md"},
        {"Add a day": "CONTRIBUTING.md"},
        {"The workshop": "tools/README.md"},
        {"Changes": "CHANGELOG.md"},
    ]
    return [
        {"Home": "README.md"},
        {"Set-up": "SETUP.md"},
        {"Syllabus": ["days/README.md", *({title: pages} for title, pages in groups.items())]},
        {"Glossary": "days/GLOSSARY.md"},
        {"Reading": "reading.md"},
        {"How fast": "solutions/README.md"},
        {"Teaching": "TEACHING.md"},
        {"For developers": apart},
    ]


def _entry(day: Day) -> dict[str, str]:
    title = f"{day.label} · {day.title}" if day.number else day.title
    return {title: f"days/{day.place}/README.md"}


def _toml(value: object) -> str:
    """A value as TOML has it on one line; its strings are JSON's."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _generate(folder: Path) -> None:
    """Runs the generator, which takes no link to a page or heading that is not there."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", "zensical.toml"]
    around = {**os.environ, "PYTHONPATH": str(generator_home()), "NO_COLOR": "1"}
    answer = subprocess.run(command, cwd=folder, env=around, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise CannotGrade("The generator refuses the pages:", f"{answer.stdout}{answer.stderr}".strip())
