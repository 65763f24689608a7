"""Pictures of every page of a gateway, for somebody to look at: wide and narrow, light and dark.

`python -m tests.browser.pictures http://localhost:8080 FOLDER` follows the links of the overview;
files given behind it (reports, figures) are taken too.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise, product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.browser.conftest import FLAGS
from tests.support.browsed_platform import chromium_path

SIZES = tuple(product((390, 1280, 1920), ("light", "dark")))
KINDS = re.compile(r"(runs|monitors)/[^/?#]+")
FIELD = re.compile(r"(\w+)=")
MOST_OF_A_KIND = 24


def main() -> None:
    """Take them, and print each page's name."""
    from playwright.sync_api import sync_playwright

    address, folder, *files = sys.argv[1:]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium_path(), args=list(FLAGS))
        pages = [address.rstrip("/") + path for path in paths(browser, address.rstrip("/"))]
        pages += [Path(file).resolve().as_uri() for file in files]
        for width, scheme in SIZES:
            take(browser, pages, Path(folder), width, scheme)
        browser.close()


def paths(browser: Any, address: str) -> list[str]:
    """Return the paths of the overview, of what it leads to, and of what these lead to."""
    page = browser.new_page()
    values = dict.fromkeys(["/", "/start", *links(page, address, "/")])
    for path in [item for item in values if KINDS.fullmatch(item.strip("/"))][:MOST_OF_A_KIND]:
        values |= dict.fromkeys(links(page, address, path, below=path))
    answers = [path for path in values if path.endswith("/answers")]
    for path in answers[:MOST_OF_A_KIND]:
        twins = (link for link in links(page, address, path) if "/twins" in link)
        values |= dict.fromkeys(islice(twins, 1))
    values |= dict.fromkeys(compared(suites(page, address)))
    page.close()
    return list(values)


def suites(page: Any, address: str) -> dict[str, str]:
    """Return the suite of each run that the overview lists, the latest first."""
    page.goto(f"{address}/")
    links_to_runs = page.eval_on_selector_all(
        "td a[href^='/runs/']", "all => all.map(a => [a.getAttribute('href'), a.textContent])"
    )
    return {path.rpartition("/")[2]: suite.strip() for path, suite in links_to_runs}


def compared(suite_of: Mapping[str, str]) -> list[str]:
    """Return the pages that compare each run with the one before it of the same suite."""
    of_suite: dict[str, list[str]] = {}
    for run, suite in suite_of.items():
        of_suite.setdefault(suite, []).append(run)
    pairs = (pair for runs in of_suite.values() for pair in pairwise(runs))
    return [f"/compare?before={before}&after={after}" for after, before in pairs]


def links(page: Any, address: str, path: str, below: str = "/") -> Iterator[str]:
    """Return where a page leads to on this server; of long lists the first of each shape."""
    page.goto(address + path)
    seen: set[tuple[str, ...]] = set()
    for item in page.eval_on_selector_all("a[href]", "all => all.map(a => a.href)"):
        parts = urlsplit(item)
        if not item.startswith(address) or not parts.path.startswith(below):
            continue
        shape = parts.path, *sorted(FIELD.findall(parts.query))
        if shape not in seen and not parts.path.endswith((".csv", ".json", ".html")):
            seen.add(shape)
            yield f"{parts.path}?{parts.query}" if parts.query else parts.path


def take(browser: Any, pages: Iterable[str], folder: Path, width: int, scheme: str) -> None:
    """Take a picture of each page at one width and in one scheme."""
    present = folder / f"{width}-{scheme}"
    present.mkdir(parents=True, exist_ok=True)
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    for item in pages:
        page.goto(item)
        page.wait_for_timeout(300)  # scripts draw their charts
        name = re.sub(r"\W+", "-", urlsplit(item).path + urlsplit(item).query).strip("-")[:90]
        page.screenshot(path=present / f"{name or 'overview'}.png", full_page=True)
        print(present / f"{name or 'overview'}.png")
    context.close()


if __name__ == "__main__":
    main()
