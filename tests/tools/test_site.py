"""The site: every page of the course, as GitHub shows it, with nothing from elsewhere."""

from __future__ import annotations

import functools
import http.server
import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from grader.course import catalog
from tests.shown import FAINT
from tools import site as web
from tools import sitecheck, sitemeasured, sitepages

pytestmark = pytest.mark.xdist_group("site")

DRAWN = catalog.find("13")
# What a reader sees as a list, a table, a drawing, a heading, or set off from the text.
SEEN = ("li", "tr", "pre", "h2", "h3", "blockquote", "strong", "em", "code")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not web.generator_home().is_dir():
        pytest.skip("the generator is fetched by `track dev test` without arguments, or by `track dev site`")
    out = tmp_path_factory.mktemp("site") / "out"
    assert web.build(out, [DRAWN], lambda line: None) == []
    return out


class Seen(HTMLParser):
    """What a piece of HTML shows, counted."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.drawing = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Iterable[object]) -> None:
        if tag in SEEN and not (self.drawing and tag == "code"):
            self.found[tag] += 1
        self.drawing += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self.drawing -= tag == "pre"


def as_github_shows(*pages: Path) -> Counter[str]:
    return sum((rendered(page.read_text(encoding="utf-8")) for page in pages), Counter())


def rendered(text: str) -> Counter[str]:
    return Seen(MarkdownIt("commonmark").enable("table").render(text)).found


def built(site: Path, place: str) -> str:
    """The text of a page, without menus."""
    page = (site / place).read_text(encoding="utf-8")
    article = re.search(r"<article[^>]*>(.*?)</article>", page, re.DOTALL)
    assert article
    return article[1]


def test_every_lesson_and_its_hints_are_shown_as_on_github(site: Path) -> None:
    for day in catalog.course():
        told = Seen(built(site, f"days/{day.place}/index.html")).found
        told["h2"] -= 1  # Hints
        told["pre"] -= 1  # the skeleton
        wanted = as_github_shows(day.lesson, day.hints) + rendered(sitemeasured.of(day))
        wanted["h2"] -= 3  # the hints' own
        assert told == wanted, day.place


@pytest.mark.parametrize(
    "place", ["README.md", "SETUP.md", "CONTRIBUTING.md", "days/README.md", "days/GLOSSARY.md"]
)
def test_a_page_is_shown_as_on_github(site: Path, place: str) -> None:
    page = place.replace("README.md", "index.html").replace(".md", ".html")
    assert Seen(built(site, page)).found == as_github_shows(catalog.ROOT / place)


def test_a_lesson_has_all_that_belongs_to_it_in_its_place(site: Path) -> None:
    page = built(site, f"days/{DRAWN.place}/index.html")
    parts = (
        f"../../notebooks/{DRAWN.stem}.ipynb",
        'id="the-idea"',
        f'<iframe src="../../show/{DRAWN.stem}.html"',
        'id="your-task"',
        '<details class="example" open',
        "TODO",
        'id="how-it-is-graded"',
        '<details class="question">',
        'aria-label="softmax, rows=16384-cols=8192-fp16: ours',
    )
    places = [page.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
    picture = (site / "show" / f"{DRAWN.stem}.html").read_text(encoding="utf-8")
    assert 'id="data"' in picture
    assert "tl.load" not in picture, "the answer"


def test_every_lesson_stands_in_the_menu_and_its_week_is_a_page(site: Path) -> None:
    menu = (site / "index.html").read_text(encoding="utf-8")
    for day in catalog.course():
        assert f'href="./days/{day.place}/index.html"' in menu
    week = built(site, "days/week2/index.html")
    assert all(f"../{day.stem}/index.html" in week for day in catalog.days() if day.week == 2)


def test_without_a_repository_nothing_links_into_one(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "colab.research" not in text
        assert "/blob/" not in text


def test_with_a_repository_lessons_open_in_colab_and_files_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitepages, "REPOSITORY", "someone/course")
    pages = sitepages.pages(set())
    assert (
        "[Open in Colab](https://colab.research.google.com/github/someone/course/blob/notebooks/day13"
        in (pages[f"days/{DRAWN.place}/README.md"])
    )
    assert (
        "](https://github.com/someone/course/blob/main/grader/challenge/challenge.py)"
        in pages["CONTRIBUTING.md"]
    )


def test_code_is_left_alone_and_a_list_below_a_line_is_one() -> None:
    text = "Three:\n- one\n- two\n\n```text\nnot one:\n- [x](y.py)\n```\n"
    assert sitepages._at("README.md", text, set()) == text.replace("Three:\n", "Three:\n\n")


def test_every_lesson_is_in_the_reading_list() -> None:
    reading = sitepages.pages(set())["reading.md"]
    for day in catalog.days():
        assert f"[{day.heading}](days/{day.place}/README.md)" in reading
    lessons = [day.lesson.read_text(encoding="utf-8") for day in catalog.days()]
    assert reading.count("arXiv:2205.14135") == sum("2205.14135" in lesson for lesson in lessons)


def test_every_measured_time_is_plotted() -> None:
    text = sitemeasured.PAGE.read_text(encoding="utf-8")
    told = re.search(r"Over the (\d+) kernels", text)
    assert told
    assert len(sitemeasured.points()) == int(told[1])
    assert len(re.findall(r'<path class="(?:ours|right|slow)"', sitemeasured.page())) == int(told[1]) + 3


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ('<script src="https://else.net/a.js"></script>', "loads https://else.net/a.js from elsewhere"),
        ('<link rel="stylesheet" href="//fonts.net/f">', "loads //fonts.net/f from elsewhere"),
        ('<img src="a.png">', "img without a text"),
        ('<iframe src="b.html"></iframe>', "iframe without a text"),
        ('<a href="b.html">b</a>', "b.html leads nowhere"),
        ('<a href="../b.html">b</a>', "../b.html leads nowhere"),
        ('<a href="#there">b</a>', "#there leads to no such place"),
        ("<h1>twice</h1>", "2 headings of the first level"),
        ("{weight}", "and 500,000 are allowed"),
    ],
)
def test_what_is_wrong_with_a_page_is_told(tmp_path: Path, page: str, complaint: str) -> None:
    numbers = " ".join(str(n * n) for n in range(200_000)) if page == "{weight}" else ""
    good = '<!doctype html><html lang="en"><h1 id="top">A</h1><a href="#top">a</a><a href="https://x.y">b</a>'
    (tmp_path / "search.json").write_text("{}")
    (tmp_path / "index.html").write_text(good)
    assert sitecheck.complaints(tmp_path) == []
    (tmp_path / "index.html").write_text(good + page.replace("{weight}", numbers))
    assert complaint in "\n".join(sitecheck.complaints(tmp_path))


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(web.TrackError, match="no site that was built here"):
        web.build(tmp_path, [], lambda line: None)
    assert (tmp_path / "mine.txt").read_text() == "mine"


# In a browser: Playwright (pip install playwright) over a Chromium of the system.
LESSON = f"days/{DRAWN.place}/index.html"
KINDS = (
    "index.html",
    "days/index.html",
    "days/week1/index.html",
    LESSON,
    "measured.html",
    "grader/index.html",
    "404.html",
)
THEMES = {"light": "default", "dark": "slate"}


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_are_readable_and_ask_nobody_else(browser: Any, address: str, width: int, theme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=theme)
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    for kind in KINDS:
        page.goto(address + kind)
        page.wait_for_selector("article h1")
        page.evaluate("document.querySelectorAll('article details').forEach(one => one.open = true)")
        assert page.evaluate("document.body.dataset.mdColorScheme") == THEMES[theme]
        assert page.evaluate("document.documentElement.scrollWidth") <= width, kind
        assert page.evaluate(FAINT) == [], kind
    page.goto(address + LESSON)
    page.evaluate("document.querySelectorAll('article details').forEach(one => one.open = true)")
    page.locator("article iframe").scroll_into_view_if_needed()
    frame = page.frame_locator("article iframe")
    frame.locator("svg[aria-label='Who touches x_ptr']").wait_for(timeout=20_000)
    back = frame.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    assert back == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 23, 27)"}[theme], "the picture's theme"
    context.close()
    assert [url for url in asked if not url.startswith(address)] == []
    assert said == []


@pytest.mark.parametrize("served", [True, False])
def test_the_search_finds_the_lesson_first(browser: Any, address: str, site: Path, served: bool) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 844})
    page.goto(address if served else f"file://{site}/index.html")
    page.wait_for_selector("article h1")
    page.keyboard.press("Control+k")
    page.wait_for_timeout(1000)
    page.keyboard.type("masking", delay=30)
    page.get_by_text("Day 03 · Masking", exact=True).wait_for(timeout=20_000)
    assert "Day 03 · Masking" in page.locator("ol a").first.inner_text()
    page.close()


def test_letters_that_are_too_faint_are_found(browser: Any) -> None:
    page = browser.new_page()
    page.set_content('<article><p style="color: #888">faint</p><p>dark</p></article>')
    assert page.evaluate(FAINT) == ['P "faint" 3.54']
    page.close()
