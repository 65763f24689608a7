"""The site that `make site` has built: whole, and no link in it leads nowhere."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lxml import html

from tools.site.pages import SECTIONS, llms_index, with_links_inside

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "build" / "site"
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def pages() -> dict[Path, html.HtmlElement]:
    """Return every page, by its file."""
    result = {path: html.parse(str(path)).getroot() for path in sorted(BUILT.rglob("*.html"))}
    assert result, "There is no site: `make site` builds it."
    return result


def links_of(page: Path, root: html.HtmlElement) -> Iterator[tuple[Path, str, str]]:
    """Yield each link inside the site: the file it leads to, the place there, and as written."""
    for where in root.xpath("//a/@href | //img/@src"):
        parts = urlsplit(str(where))
        if not parts.scheme and not parts.netloc:
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            yield target, unquote(parts.fragment), str(where)


def test_no_link_leads_nowhere(pages: dict[Path, html.HtmlElement]) -> None:
    ids = {page: {*root.xpath("//@id"), ""} for page, root in pages.items()}
    lost = [
        f"{page.relative_to(BUILT)}: {written}"
        for page, root in pages.items()
        for target, fragment, written in links_of(page, root)
        if not target.exists() or (target in ids and fragment not in ids[target])
    ]
    assert lost == []


def test_every_page_of_the_docs_is_in_the_contents_or_reached_from_them(
    pages: dict[Path, html.HtmlElement],
) -> None:
    todo, reached = [BUILT / "index.html"], set[Path]()
    while todo:
        if (page := todo.pop()) not in reached and page in pages:
            reached.add(page)
            todo += [target for target, _, _ in links_of(page, pages[page])]
    written = {BUILT / path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    assert written - reached == set()


def test_llms_txt_is_the_index_of_the_docs_in_checkout_and_site() -> None:
    index = llms_index(DOCS)
    assert (ROOT / "llms.txt").read_text() == index, "`make contracts` writes it."
    assert (BUILT / "llms.txt").read_text() == index


def test_each_section_of_the_contents_is_there() -> None:
    assert {title.partition(":")[0] for title in SECTIONS} == {
        "Tutorials", "How to", "Reference", "Explanation", "Specification",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("page", "written", "shown"),
    [
        ("python.md", "[why](decisions/README.md)", "[why](decisions/README.md)"),
        ("python.md", "[there](https://example.org)", "[there](https://example.org)"),
        ("python.md", "[a file](../examples/x.yml)", "a file (`examples/x.yml`)"),
        ("decisions/0001.md", "[old](../../README.md#a)", "old (`README.md`)"),
    ],
)
def test_a_link_out_of_the_site_becomes_the_name_of_the_file(
    page: str, written: str, shown: str
) -> None:
    assert with_links_inside(page, written, DOCS) == shown
