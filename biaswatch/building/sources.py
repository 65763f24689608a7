"""Reads a plan's sources: files, web pages, Wikipedia, and written articles."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from biaswatch.building.build_data import Document, Passage, document_of
from biaswatch.building.build_files import read_files
from biaswatch.building.html_text import passages_of_html
from biaswatch.building.markdown_text import passages_of_markdown, passages_of_text
from biaswatch.building.model_questions import LanguageModel, article_request
from biaswatch.building.plan import FilesSource, Source, UrlSource, WikipediaSource
from biaswatch.building.ranking import Ranking, nearest
from biaswatch.building.sentences import sentences
from biaswatch.building.web_fetching import Page, PageFetcher
from biaswatch.building.web_pages import PageCache, Robots
from biaswatch.shared.errors import UsageError

READERS: Mapping[str, Callable[[str], Iterable[Passage]]] = {
    "text/html": passages_of_html,
    "application/xhtml+xml": passages_of_html,
    "text/plain": passages_of_text,
    "text/markdown": passages_of_markdown,
}
"""Reader by media type."""


class WebPages:
    """Fetches each page once and caches it."""

    def __init__(self, fetch: PageFetcher, cache: PageCache) -> None:
        self._fetch = fetch
        self._cache = cache
        self._robots = Robots(fetch)

    async def page(self, url: str) -> Page:
        """Return a page that robots.txt allows."""
        return self._cache.get(url) or self._kept(url, await self._fetch.get(url, self._robots))

    async def answer(self, url: str) -> Page:
        """Return the reply of an API."""
        return self._cache.get(url) or self._kept(url, await self._fetch.get(url))

    def _kept(self, url: str, page: Page) -> Page:
        self._cache.keep(url, page)
        return page

    async def close(self) -> None:
        """Close the connections."""
        await self._fetch.close()


MOST_LINK_PAGES = 10
"""Most result pages of links read for one page, 500 links in each."""


@dataclass
class Wikipedia:
    """Reads pages and their neighbours.

    `get` fetches an address. The API has its own rules for programs (a user agent, one request at a
    time), so robots.txt, which bars robots from `/w/`, does not apply.
    """

    get: Callable[[str], Any]
    ranking: Ranking
    site: Callable[[str], str] = "https://{}.wikipedia.org".format
    """Where the Wikipedia of a language is."""
    notes: list[str] = field(default_factory=list)
    """Related pages that could not be read."""

    async def read(self, source: WikipediaSource, concept: str) -> Sequence[Document]:
        """Return the page, and related pages by nearness to the concept.

        Raise UsageError if the page does not exist or Wikipedia does not answer.
        """
        title, first = await self._page(source, source.page)
        documents, visited = [first], {source.page, title}
        frontier, context = [first], list(sentences(first.text))
        for depth in range(source.depth if source.related else 0):
            titles = {title for page in frontier for title in page.links}
            if depth == 0 and source.backlinks:
                titles |= set(await self._backlinks(source, title))
            left = source.related - (len(documents) - 1)
            chosen = nearest(self.ranking, concept, titles - visited, left, context)
            pages = await self._pages(source, chosen)
            visited |= {*chosen, *pages}
            frontier = list(pages.values())
            documents += frontier
        return list({document.tag: document for document in documents}.values())

    async def _pages(self, source: WikipediaSource, titles: Sequence[str]) -> dict[str, Document]:
        pages: dict[str, Document] = {}
        for title in titles:
            try:
                title, page = await self._page(source, title)
                pages[title] = page
            except UsageError as error:
                self.notes.append(f"A related page was left out: {error}")
        return pages

    async def _page(self, source: WikipediaSource, title: str) -> tuple[str, Document]:
        """Return a page and its own title, which a redirect may lead to."""
        wanted = {"titles": title, "redirects": "1", "prop": "extracts", "explaintext": "1"}
        page = next(iter(_pages_of(await self._ask(source, wanted), source)), {})
        if page.get("missing") or page.get("invalid") or not page.get("extract"):
            raise UsageError(f"The {source.language} Wikipedia has no page {title!r}.")
        name = str(page.get("title") or title)
        address = f"{self.site(source.language)}/wiki/{quote(name.replace(' ', '_'))}"
        links = await self._links(source, name)
        document = document_of(address, passages_of_text(str(page["extract"])), source.licence)
        return name, replace(document, links=tuple(links))

    async def _links(self, source: WikipediaSource, title: str) -> list[str]:
        wanted = {"titles": title, "prop": "links", "plnamespace": "0", "pllimit": "max"}
        titles: list[str] = []
        for _ in range(MOST_LINK_PAGES):
            answer = await self._ask(source, wanted)
            for page in _pages_of(answer, source):
                titles += _titles(page.get("links"))
            if not isinstance(more := answer.get("continue"), dict):
                return titles
            wanted = {**wanted, **{key: str(word)[:LONGEST_TITLE] for key, word in more.items()}}
        return titles

    async def _backlinks(self, source: WikipediaSource, title: str) -> list[str]:
        """Return the pages that link to this title; to that of a redirect hardly any do."""
        wanted = {
            "list": "backlinks",
            "bltitle": title,
            "blredirect": "1",
            "blnamespace": "0",
            "bllimit": str(source.backlinks),
        }
        answer = await self._ask(source, wanted)
        return _titles(answer["query"].get("backlinks"))

    async def _ask(self, source: WikipediaSource, wanted: Mapping[str, str]) -> dict[str, Any]:
        words = {"action": "query", "format": "json", "formatversion": "2", **wanted}
        url = f"{self.site(source.language)}/w/api.php?{urlencode(words)}"
        page: Page = await self.get(url)
        try:
            answer = json.loads(page.text)
        except (ValueError, RecursionError):
            raise UsageError(f"{url} is not what Wikipedia's API answers.") from None
        if not isinstance(answer, dict) or not isinstance(answer.get("query"), dict):
            error = answer.get("error") if isinstance(answer, dict) else None
            why = (
                str(error.get("info") or "no query")[:200]
                if isinstance(error, dict)
                else "no query"
            )
            raise UsageError(f"Wikipedia does not answer about {wanted}: {why}.")
        return answer


LONGEST_TITLE = 1_000


def _pages_of(answer: Mapping[str, Any], source: WikipediaSource) -> list[dict[str, Any]]:
    pages = answer["query"].get("pages")
    if not isinstance(pages, list) or not all(isinstance(page, dict) for page in pages):
        raise UsageError(f"The {source.language} Wikipedia answers without pages.")
    return pages


def _titles(links: Any) -> list[str]:
    entries = links if isinstance(links, list) else []
    titles = [link.get("title") for link in entries if isinstance(link, dict)]
    return [link for link in titles if isinstance(link, str) and len(link) <= LONGEST_TITLE]


@dataclass
class ReadSources:
    """Reads sources; one shared by two concepts is read once."""

    web: WebPages
    wikipedia: Wikipedia
    language_model: LanguageModel
    domain: str
    _read: dict[str, Sequence[Document]] = field(default_factory=dict)

    @property
    def notes(self) -> Sequence[str]:
        """Optional pages that could not be read."""
        return self.wikipedia.notes

    async def read(self, source: Source, concept: str, home: Path) -> Sequence[Document]:
        """Return the documents of one source; raise UsageError where it cannot be read."""
        # Nearness to the concept decides which related pages are read, so it is part of the name.
        ranked = concept if isinstance(source, WikipediaSource) else ""
        address = ranked + source.model_dump_json()
        if address not in self._read:
            self._read[address] = await self._of(source, concept, home)
        return self._read[address]

    async def _of(self, source: Source, concept: str, home: Path) -> Sequence[Document]:
        if isinstance(source, FilesSource):
            return read_files(source, home)
        if isinstance(source, UrlSource):
            page = await self.web.page(source.url)
            if page.kind not in READERS:
                problem = f"is not a page but {page.kind}; only text and HTML are read."
                raise UsageError(f"{source.url} {problem}")
            return [document_of(page.url, READERS[page.kind](page.text), source.licence)]
        if isinstance(source, WikipediaSource):
            return await self.wikipedia.read(source, concept)
        [reply] = await self.language_model.ask([article_request(source.subject, self.domain)])
        if reply.text is None:
            raise UsageError(f"No article about {source.subject!r} was written: {reply.reason}.")
        passages = passages_of_markdown(reply.text)
        return [document_of(f"written:{source.subject}", passages, source.licence)]

    async def close(self) -> None:
        """Close the connections."""
        await self.web.close()
