"""Cache of web pages, and robots.txt."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urljoin
from urllib.robotparser import RobotFileParser

from biaswatch.building.web_fetching import LONGEST_WAIT_S, Page, PageFetcher, PageMissingError
from biaswatch.shared.errors import UsageError


class PageCache:
    """Keeps pages by their address, each in a file; builds may share it."""

    def __init__(self, folder: Path, days: float, *, now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._age = timedelta(days=days)
        self._now = now

    def get(self, url: str) -> Page | None:
        """Return the cached page; None if it is missing, too old or damaged."""
        try:
            kept = json.loads(self._file(url).read_text(encoding="utf-8"))
            if self._now() - datetime.fromisoformat(kept["at"]) < self._age:
                return Page(**kept["page"])
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return None

    def keep(self, url: str, page: Page) -> None:
        """Store a page atomically."""
        self._folder.mkdir(parents=True, exist_ok=True)
        kept = {"asked": url, "at": self._now().isoformat(), "page": asdict(page)}
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=self._folder, delete=False
        ) as file:
            json.dump(kept, file)
        os.replace(file.name, self._file(url))  # noqa: PTH105 - it replaces in one step

    def _file(self, url: str) -> Path:
        return self._folder / f"{hashlib.sha256(url.encode()).hexdigest()}.json"


class Robots:
    """The robots.txt of each server."""

    def __init__(self, fetch: PageFetcher) -> None:
        self._fetch = fetch
        self._known: dict[str, RobotFileParser] = {}

    async def __call__(self, url: str) -> None:
        """Raise UsageError unless robots may read this page."""
        where = urljoin(url, "/robots.txt")
        if where not in self._known:
            self._known[where] = await self._read(where)
        rules, agent = self._known[where], self._fetch.limits.user_agent
        if delay_s := float(rules.crawl_delay(agent) or 0):
            if delay_s > LONGEST_WAIT_S:
                raise UsageError(f"{url}: its server asks for pauses of {delay_s:g} s.")
            self._fetch.slow_down(url, delay_s)
        if not rules.can_fetch(agent, url):
            raise UsageError(f"{url} must not be read by robots, its server says.")

    async def _read(self, where: str) -> RobotFileParser:
        rules = RobotFileParser(where)
        try:
            rules.parse((await self._fetch.get(where)).text.splitlines())
        except PageMissingError:
            rules.parse([])  # a server without rules has none
        except UsageError:
            raise
        except (ValueError, OverflowError):
            raise UsageError(f"{where} cannot be understood, so nothing is read there.") from None
        # Any other failure is raised: what a server forbids is not known then.
        return rules
