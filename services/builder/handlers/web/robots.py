"""What a server asks of robots; its wish is kept."""

from urllib.parse import urljoin
from urllib.robotparser import RobotFileParser

from services.builder.handlers.web.fetching import Fetch, NotThereError
from shared.errors import UsageError


class Robots:
    """Knows the robots.txt of every server that was asked."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._known: dict[str, RobotFileParser] = {}

    async def __call__(self, url: str) -> None:
        """Raise UsageError unless robots may read this page."""
        where = urljoin(url, "/robots.txt")
        if where not in self._known:
            self._known[where] = await self._read(where)
        rules, agent = self._known[where], self._fetch.manners.user_agent
        if delay_s := rules.crawl_delay(agent):
            self._fetch.slow_down(url, float(delay_s))
        if not rules.can_fetch(agent, url):
            raise UsageError(f"{url} must not be read by robots, its server says.")

    async def _read(self, where: str) -> RobotFileParser:
        rules = RobotFileParser(where)
        try:
            rules.parse((await self._fetch.get(where)).text.splitlines())
        except NotThereError:
            rules.parse([])  # a server without rules has none
        # Any other failure is raised: what a server forbids is not known then.
        return rules
