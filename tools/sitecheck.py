"""What a site must keep to: no broken link, nothing from elsewhere, a text for every picture, light pages."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from grader.version import REPOSITORY

# Bytes of a page with all that it loads, the index of the search too, compressed as a server sends them.
HEAVY = 500_000
INDEX = "search.json"
ADDRESS = f"/{REPOSITORY.partition('/')[2]}/" if REPOSITORY else "/"  # where GitHub's pages have it
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}
FETCHED = ("stylesheet", "icon", "preload", "modulepreload", "manifest", "preconnect", "dns-prefetch")


class Page(HTMLParser):
    """What one page of HTML refers to, and what it says of itself."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.mute: list[str] = []
        self.headings = 0
        self.lang = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        self.anchors.update(has[name] for name in ("id", "name") if name in has)
        self.headings += tag == "h1"
        self.lang = has.get("lang", self.lang) if tag == "html" else self.lang
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
        if tag in LOADS and LOADS[tag] in has:
            self.loaded.append(has[LOADS[tag]])
        if tag == "link" and any(word in FETCHED for word in has.get("rel", "").split()):
            self.loaded.append(has.get("href", ""))
        if (tag == "img" and "alt" not in has) or (tag == "iframe" and not has.get("title")):
            self.mute.append(tag)
        if tag == "svg" and has.get("role") == "img" and not has.get("aria-label"):
            self.mute.append(tag)


@cache
def read(path: Path) -> Page:
    return Page(path)


def complaints(site: Path) -> list[str]:
    """What is wrong with the site in this folder, a line each."""
    read.cache_clear()
    _compressed.cache_clear()
    found = []
    for path in sorted(site.rglob("*.html")):
        place = path.relative_to(site)
        found += [f"{place}: {what}" for what in _of(site, read(path))]
    return found


def _of(site: Path, page: Page) -> Iterator[str]:
    yield from (f"{tag} without a text" for tag in page.mute)
    if not page.lang:
        yield "no language"
    if page.headings != 1:
        yield f"{page.headings} headings of the first level"
    yield from (f"loads {what} from elsewhere" for what in page.loaded if _outside(what))
    for link in (*page.links, *page.loaded):
        if not _outside(link) and not link.startswith(("data:", "mailto:", "javascript:")):
            yield from _broken(site, page, link)
    weight = weigh(site, page)
    if weight > HEAVY:
        yield f"weighs {weight:,} bytes, and {HEAVY:,} are allowed"


def _outside(link: str) -> bool:
    return bool(urlsplit(link).netloc)


def _broken(site: Path, page: Page, link: str) -> Iterator[str]:
    target = _file(site, page.path, link)
    if site not in (target, *target.parents) or not target.is_file():
        yield f"{link} leads nowhere"
    elif target.suffix == ".html":
        anchor = unquote(urlsplit(link).fragment)
        if anchor and anchor not in read(target).anchors | {"__skip"}:
            yield f"{link} leads to no such place"


def _file(site: Path, page: Path, link: str) -> Path:
    path = unquote(urlsplit(link).path)
    if path.startswith("/"):  # of the page for what is not found, which is shown in any folder
        target = site / path.removeprefix(ADDRESS)
    else:
        target = Path(page.parent, path).resolve() if path else page
    return target / "index.html" if target.is_dir() else target


def weigh(site: Path, page: Page) -> int:
    """Compressed bytes of a page, its frames, what those load, and the index of the search."""
    files = {page.path, site / INDEX}
    waiting = [page]
    while waiting:
        here = waiting.pop()
        for link in here.loaded:
            target = _file(site, here.path, link)
            if _outside(link) or link.startswith("data:") or target in files or not target.is_file():
                continue
            files.add(target)
            if target.suffix == ".html":
                waiting.append(read(target))
    styles = [path for path in files if path.suffix == ".css"]
    for style in styles:
        urls = re.findall(r"url\(['\"]?([^'\")]+)", style.read_text(encoding="utf-8"))
        local = (url for url in urls if not url.startswith(("data:", "#")) and not _outside(url))
        files |= {_file(site, style, url) for url in local}
    return sum(_compressed(path) for path in files if path.is_file())


@cache
def _compressed(path: Path) -> int:
    return len(gzip.compress(path.read_bytes()))
