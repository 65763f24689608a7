"""Wikipedia through its API: pages, their links, what links to them."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from services.builder.domain.build_data import Document
from services.builder.domain.keywords import Ranking, nearest
from services.builder.domain.plan import WikipediaSource
from services.builder.handlers.web_fetching import Page
from shared.errors import UsageError

MOST_LINK_PAGES = 10
"""How many answers of links are read for one page, 500 links in each."""


def site_of(language: str) -> str:
    """Return where a language's Wikipedia is."""
    return f"https://{language}.wikipedia.org"


class Wikipedia:
    """Reads pages and their neighbours.

    `get` fetches an address; the API is made for programs and has its own rules (a name, one
    question at a time), so robots.txt, which keeps robots off the address `/w/`, is not asked.
    """

    def __init__(
        self, get: Callable[[str], Any], ranking: Ranking, site: Callable[[str], str] = site_of
    ) -> None:
        self._get = get
        self._ranking = ranking
        self._site = site
        self.notes: list[str] = []
        """Related pages that could not be read."""

    async def read(self, source: WikipediaSource, concept: str) -> Sequence[Document]:
        """Return the page, and related pages by nearness to the concept.

        Raises
        ------
        UsageError
            There is no such page, or Wikipedia does not answer.
        """
        first = await self._page(source, source.page)
        found, visited = [first], {source.page, first.tag.rpartition("/wiki/")[2]}
        frontier = [first]
        for depth in range(source.depth if source.related else 0):
            titles = {title for page in frontier for title in page.links}
            if depth == 0 and source.backlinks:
                titles |= set(await self._backlinks(source))
            left = source.related - (len(found) - 1)
            chosen = nearest(self._ranking, concept, titles - visited, left)
            visited |= set(chosen)
            frontier = await self._pages(source, chosen)
            found += frontier
        return list({document.tag: document for document in found}.values())

    async def _pages(self, source: WikipediaSource, titles: Sequence[str]) -> list[Document]:
        found = []
        for title in titles:
            try:
                found.append(await self._page(source, title))
            except UsageError as error:
                self.notes.append(f"A related page was left out: {error}")
        return found

    async def _page(self, source: WikipediaSource, title: str) -> Document:
        wanted = {"titles": title, "redirects": "1", "prop": "extracts", "explaintext": "1"}
        [page] = (await self._ask(source, wanted))["query"]["pages"]
        if page.get("missing") or page.get("invalid") or not page.get("extract"):
            raise UsageError(f"The {source.language} Wikipedia has no page {title!r}.")
        name = str(page["title"])
        address = f"{self._site(source.language)}/wiki/{quote(name.replace(' ', '_'))}"
        links = await self._links(source, name)
        return Document(address, str(page["extract"]), source.licence, tuple(links))

    async def _links(self, source: WikipediaSource, title: str) -> list[str]:
        wanted = {"titles": title, "prop": "links", "plnamespace": "0", "pllimit": "max"}
        found: list[str] = []
        for _ in range(MOST_LINK_PAGES):
            answer = await self._ask(source, wanted)
            for page in answer["query"]["pages"]:
                found += [str(link["title"]) for link in page.get("links", [])]
            if "continue" not in answer:
                return found
            wanted = {**wanted, **{key: str(word) for key, word in answer["continue"].items()}}
        return found

    async def _backlinks(self, source: WikipediaSource) -> list[str]:
        wanted = {
            "list": "backlinks",
            "bltitle": source.page,
            "blnamespace": "0",
            "bllimit": str(source.backlinks),
        }
        answer = await self._ask(source, wanted)
        return [str(link["title"]) for link in answer["query"]["backlinks"]]

    async def _ask(self, source: WikipediaSource, wanted: Mapping[str, str]) -> dict[str, Any]:
        words = {"action": "query", "format": "json", "formatversion": "2", **wanted}
        url = f"{self._site(source.language)}/w/api.php?{urlencode(words)}"
        page: Page = await self._get(url)
        try:
            answer = json.loads(page.text)
        except ValueError:
            raise UsageError(f"{url} is not what Wikipedia's API answers.") from None
        if not isinstance(answer, dict) or "query" not in answer:
            why = answer.get("error", {}).get("info") if isinstance(answer, dict) else None
            raise UsageError(f"Wikipedia does not answer about {wanted}: {why or 'no query'}.")
        return answer
