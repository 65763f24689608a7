"""Reads the sources of a plan, each once."""

from collections.abc import Sequence
from pathlib import Path

from services.builder.domain.build_data import Document
from services.builder.domain.model_questions import LanguageModel, article_request
from services.builder.domain.plan import FilesSource, Source, UrlSource, WikipediaSource
from services.builder.handlers.build_files import read_files
from services.builder.handlers.web_fetching import Page, PageFetcher
from services.builder.handlers.web_pages import PageCache, Robots, text_of
from services.builder.handlers.wikipedia import Wikipedia
from shared.errors import UsageError

PAGES = {"text/html", "application/xhtml+xml"}


class WebPages:
    """Fetches pages once, and remembers them."""

    def __init__(self, fetch: PageFetcher, cache: PageCache) -> None:
        self._fetch = fetch
        self._cache = cache
        self._robots = Robots(fetch)

    async def page(self, url: str) -> Page:
        """Return a page robots may read."""
        return self._cache.get(url) or self._kept(url, await self._fetch.get(url, self._robots))

    async def answer(self, url: str) -> Page:
        """Return what an interface for programs answers."""
        return self._cache.get(url) or self._kept(url, await self._fetch.get(url))

    def _kept(self, url: str, page: Page) -> Page:
        self._cache.keep(url, page)
        return page

    async def close(self) -> None:
        """Close the connections."""
        await self._fetch.close()


class ReadSources:
    """Reads sources; what two concepts share is read for the first and kept for the second."""

    def __init__(
        self, web: WebPages, wikipedia: Wikipedia, language_model: LanguageModel, domain: str
    ) -> None:
        self._web = web
        self._wikipedia = wikipedia
        self._language_model = language_model
        self._domain = domain
        self._read: dict[str, Sequence[Document]] = {}

    @property
    def notes(self) -> Sequence[str]:
        """Say what could not be read and was not needed."""
        return self._wikipedia.notes

    async def read(self, source: Source, concept: str, home: Path) -> Sequence[Document]:
        """Return the documents of one source.

        Raises
        ------
        UsageError
            It cannot be read.
        """
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
            return [await self._page(source)]
        if isinstance(source, WikipediaSource):
            return await self._wikipedia.read(source, concept)
        [reply] = await self._language_model.ask([article_request(source.subject, self._domain)])
        if reply.text is None:
            raise UsageError(f"No article about {source.subject!r} was written: {reply.reason}.")
        return [Document(f"written:{source.subject}", reply.text, source.licence)]

    async def _page(self, source: UrlSource) -> Document:
        page = await self._web.page(source.url)
        if page.kind in PAGES:
            return Document(page.url, text_of(page.text), source.licence)
        if page.kind == "text/plain":
            return Document(page.url, page.text, source.licence)
        raise UsageError(
            f"{source.url} is not a page but {page.kind}; only text and HTML are read."
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._web.close()
