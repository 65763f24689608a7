"""Wikipedia's API over real HTTP: a small encyclopaedia that answers in the API's form."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from biaswatch.building.plan import WikipediaSource
from biaswatch.building.ranking import Bm25Ranking
from biaswatch.building.sources import WebPages, Wikipedia
from biaswatch.building.web_fetching import FetchLimits, Page, PageFetcher
from biaswatch.building.web_pages import PageCache
from biaswatch.shared.errors import UsageError
from biaswatch.shared.network.outgoing import GuardedTransport
from tests.support.model_server import model_server
from tests.support.waiting import PATIENCE_S

Message = MutableMapping[str, Any]
LINKS = {
    "Baker": ["Bakery", "Bread", "Nowhere", "Flour"],
    "Bakery": ["Baker", "Bakers' guild"],
    "Bread": ["Baker"],
    "Flour": [],
    "Bakers' guild": [],
    "Rebaker": ["Baker"],
}


class Encyclopaedia:
    """An ASGI application that answers `action=query` as MediaWiki does."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    async def __call__(
        self, scope: Message, _: Any, send: Callable[[Message], Awaitable[None]]
    ) -> None:
        assert scope["path"] == "/w/api.php"
        query = {key: values[0] for key, values in parse_qs(scope["query_string"].decode()).items()}
        assert (query["action"], query["format"], query["formatversion"]) == ("query", "json", "2")
        self.asked[query.get("prop") or query["list"]] += 1
        answer = json.dumps(self._answer(query)).encode()
        headers = [(b"content-type", b"application/json; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    def _answer(self, query: dict[str, str]) -> dict[str, Any]:
        if query.get("list") == "backlinks":
            title = query["bltitle"]
            back = [{"title": page} for page, links in LINKS.items() if title in links]
            return {"query": {"backlinks": back[: int(query["bllimit"])]}}
        title = {"Bakers": "Baker"}.get(query["titles"], query["titles"])
        if title == "Broken":
            return {"error": {"code": "internal", "info": "the database is away"}}
        if title not in LINKS:
            return {"query": {"pages": [{"title": title, "missing": True}]}}
        if query["prop"] == "extracts":
            text = f"== Trade ==\nThe page {title} speaks of bread.\n"
            return {"query": {"pages": [{"title": title, "extract": text}]}}
        # Two links in each answer, so that the rest must be asked for.
        begin = int(query.get("plcontinue", "0"))
        part = [{"ns": 0, "title": link} for link in LINKS[title][begin : begin + 2]]
        answer: dict[str, Any] = {"query": {"pages": [{"title": title, "links": part}]}}
        if begin + 2 < len(LINKS[title]):
            answer["continue"] = {"plcontinue": str(begin + 2), "continue": "||"}
        return answer


@pytest.fixture
def pages() -> Encyclopaedia:
    return Encyclopaedia()


@pytest.fixture
def site(pages: Encyclopaedia) -> Iterator[str]:
    with model_server(pages) as url:
        yield url.removesuffix("/v1")


async def read(site: str, folder: Path, **fields: Any) -> tuple[list[str], list[str]]:
    """Read a page; give the titles that were found, and the notes."""
    limits = FetchLimits("tester/1", pause_s=0, timeout_s=PATIENCE_S, largest_bytes=2**20, tries=2)
    fetch = PageFetcher(limits, clock=lambda: 0.0, transport=GuardedTransport({"127.0.0.1"}))
    web = WebPages(fetch, PageCache(folder / "pages", 1, now=lambda: datetime.now(UTC)))
    wikipedia = Wikipedia(web.answer, Bm25Ranking(), lambda _: site)
    try:
        source = WikipediaSource.model_validate({"kind": "wikipedia", "page": "Baker", **fields})
        documents = await wikipedia.read(source, "baker")
    finally:
        await web.close()
    assert all(document.licence.startswith("CC BY-SA") for document in documents)
    return [document.tag.removeprefix(f"{site}/wiki/") for document in documents], wikipedia.notes


async def test_a_page_is_read_with_its_address_and_its_licence(site: str, tmp_path: Path) -> None:
    assert await read(site, tmp_path) == (["Baker"], [])


async def test_a_redirect_of_the_encyclopaedia_leads_to_the_page(site: str, tmp_path: Path) -> None:
    assert (await read(site, tmp_path, page="Bakers"))[0] == ["Baker"]


async def test_related_pages_are_the_nearest_of_all_links(site: str, tmp_path: Path) -> None:
    # The page says "The page Baker speaks of bread": of its links this one stands with its topic.
    assert (await read(site, tmp_path, related=1))[0] == ["Baker", "Bread"]


async def test_pages_that_link_here_are_related_too(site: str, tmp_path: Path) -> None:
    result, _ = await read(site, tmp_path, related=5, backlinks=10)
    assert "Rebaker" in result
    assert "Rebaker" not in (await read(site, tmp_path, related=5))[0]


async def test_what_links_here_is_asked_of_the_title_that_a_redirect_leads_to(
    site: str, tmp_path: Path
) -> None:
    assert "Rebaker" in (await read(site, tmp_path, page="Bakers", related=5, backlinks=10))[0]


async def test_links_of_links_are_followed_to_the_depth_and_no_page_twice(
    site: str, tmp_path: Path
) -> None:
    shallow, _ = await read(site, tmp_path, related=20)
    deep, notes = await read(site, tmp_path, related=20, depth=3)
    assert sorted(shallow) == ["Baker", "Bakery", "Bread", "Flour"]
    assert sorted(deep) == ["Baker", "Bakers%27_guild", "Bakery", "Bread", "Flour"]
    assert notes == ["A related page was left out: The en Wikipedia has no page 'Nowhere'."]


@pytest.mark.parametrize(
    ("page", "message"), [("Nowhere", "has no page 'Nowhere'"), ("Broken", "the database is away")]
)
async def test_a_page_that_is_not_there_is_a_sentence(
    site: str, tmp_path: Path, page: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        await read(site, tmp_path, page=page)


async def test_reading_again_asks_nobody(site: str, tmp_path: Path, pages: Encyclopaedia) -> None:
    await read(site, tmp_path)
    asked = pages.asked.total()
    await read(site, tmp_path)
    assert pages.asked.total() == asked


ODD_ANSWERS = [
    "[" * 100_000, "null", "[]", '{"query": []}', '{"query": {"pages": {}}}',
    '{"query": {"pages": [1]}}',
    '{"query": {"pages": []}}', '{"error": [1]}', '{"error": {"info": ["' + "x" * 5000 + '"]}}',
    '{"query": {"pages": [{"title": null, "extract": ""}]}}',
    '{"query": {"pages": [{"missing": true}]}}',
]  # fmt: skip


@pytest.mark.parametrize("body", ODD_ANSWERS)
async def test_whatever_its_interface_answers_is_read_or_refused(body: str) -> None:
    async def get(url: str) -> Page:
        return Page(url, "application/json", body)

    source = WikipediaSource(kind="wikipedia", page="Bakers")
    with pytest.raises(UsageError) as refused:
        await Wikipedia(get, Bm25Ranking()).read(source, "Bakers")
    assert str(refused.value).endswith(".")
    assert len(str(refused.value)) < 1_000


async def test_odd_links_are_left_out() -> None:
    links = [1, {}, {"title": 3}, {"title": "x" * 10_000}, {"title": "Ovens"}]
    page = {"title": "Bakers", "extract": "They bake.", "links": links}
    answer = json.dumps({"query": {"pages": [page]}, "continue": ["odd"]})

    async def get(url: str) -> Page:
        return Page(url, "application/json", answer)

    [result] = await Wikipedia(get, Bm25Ranking()).read(
        WikipediaSource(kind="wikipedia", page="Bakers"), "Bakers"
    )
    assert result.links == ("Ovens",)
