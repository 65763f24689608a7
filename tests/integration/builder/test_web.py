"""Pages over real HTTP, from a server on loopback that behaves as badly as servers do."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from biaswatch.building.build import Build, BuiltSuite
from biaswatch.building.composition import build_of
from biaswatch.building.html_text import passages_of_html
from biaswatch.building.language_models import NoModel
from biaswatch.building.plan import Plan
from biaswatch.building.ranking import Bm25Ranking
from biaswatch.building.settings import BuilderSettings
from biaswatch.building.sources import ReadSources, WebPages, Wikipedia
from biaswatch.building.verbs import RuleVerbs
from biaswatch.building.web_fetching import FetchLimits, PageFetcher
from biaswatch.building.web_pages import PageCache
from biaswatch.shared.errors import UsageError
from biaswatch.shared.network.outgoing import GuardedTransport
from tests.support.model_server import model_server
from tests.support.waiting import PATIENCE_S

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
HTML = "text/html; charset=utf-8"
TEXT = "<p>The bakers of Velmora have always worked at night.</p><script>Velmora evil.</script>"
LARGE = 10 * 1024 * 1024


PAGES: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/moved": (302, {"location": "/page"}, b""),
    "/circle": (302, {"location": "/circle"}, b""),
    "/inside": (302, {"location": "http://169.254.169.254/latest/meta-data"}, b""),
    "/elsewhere": (302, {"location": "file:///etc/passwd"}, b""),
    "/gone": (404, {}, b""),
    "/always-busy": (429, {"retry-after": "0"}, b""),
    "/far": (429, {"retry-after": "86400"}, b""),
    "/picture": (200, {"content-type": "image/png"}, b"PNG"),
    "/letters": (200, {"content-type": HTML}, b"\xff\xfe no utf-8"),
    "/idna": (200, {"content-type": "text/html; charset=idna"}, b"a." * 70),
    "/punycode": (200, {"content-type": "text/html; charset=punycode"}, b"a" * 5000),
    "/base64": (200, {"content-type": "text/html; charset=base64"}, b"aaaa"),
    "/nul-charset": (200, {"content-type": 'text/html; charset="a\x01b"'}, b"aaaa"),
    "/astray": (302, {"location": "http://[::1"}, b""),
    "/mapped": (302, {"location": "http://[::ffff:10.0.0.1]/"}, b""),
    "/decimal": (302, {"location": "http://2852039166/"}, b""),
    "/large": (200, {"content-type": HTML}, b"x" * LARGE),
}
FOUND = (200, {"content-type": HTML}, TEXT.encode())


class Site:
    """An ASGI application: pages by path, and a count of who asked for what."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.agents: set[str] = set()
        self.robots = (404, "")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        path = scope["path"]
        headers = {key.decode(): value.decode() for key, value in scope["headers"]}
        self.asked[path] += 1
        self.agents.add(headers["user-agent"])
        status, more, body = PAGES.get(path, FOUND)
        if path == "/robots.txt":
            status, body = self.robots[0], self.robots[1].encode()
        elif path == "/busy" and self.asked[path] < 3:
            status, more = 429, {"retry-after": "0"}
        given = [(key.encode(), value.encode()) for key, value in more.items()]
        await send({"type": "http.response.start", "status": status, "headers": given})
        if path == "/slow":
            await send({"type": "http.response.body", "body": b"<p>", "more_body": True})
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        await send({"type": "http.response.body", "body": body})


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def url(site: Site) -> Iterator[str]:
    with model_server(site) as base:
        yield base.removesuffix("/v1")


class HereToo(httpx2.AsyncBaseTransport):
    """Reaches the one server of the test, besides what is public."""

    def __init__(self, url: str) -> None:
        self._port = int(url.rpartition(":")[2])
        self._guarded, self._here = GuardedTransport(), GuardedTransport({"127.0.0.1"})

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        local = request.url.port == self._port
        return await (self._here if local else self._guarded).handle_async_request(request)

    async def aclose(self) -> None:
        await self._guarded.aclose()
        await self._here.aclose()


class Webs:
    """Makes webs that reach the test's own server, and closes them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: list[WebPages] = []
        self.slept: list[float] = []

    def __call__(self, url: str, **limits: Any) -> WebPages:
        given = {
            "user_agent": "tester/1", "pause_s": 0.0, "timeout_s": PATIENCE_S,
            "largest_bytes": 2**20, "tries": 3,
        }  # fmt: skip
        fetch = PageFetcher(
            FetchLimits(**{**given, **limits}),
            clock=lambda: 0.0,
            sleep=self._sleep,
            transport=HereToo(url),
        )
        cache = PageCache(self._folder / "pages", 1, now=lambda: datetime.now(UTC))
        self._made.append(WebPages(fetch, cache))
        return self._made[-1]

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def close(self) -> None:
        for item in self._made:
            await item.close()


@pytest_asyncio.fixture
async def web(tmp_path: Path) -> AsyncIterator[Webs]:
    made = Webs(tmp_path)
    yield made
    await made.close()


def plan_of(*sources: dict[str, Any]) -> Plan:
    concept = {"name": "Velmora", "keywords": {"by_hand": ["Velmora"]}, "sources": list(sources)}
    return Plan.model_validate(
        {
            "name": "trial", "domain": "lands", "extractors": ["words"],
            "concepts": [concept], "prompts": {"kind": "continuations"},
        }
    )  # fmt: skip


async def built(there: WebPages, site: str, *sources: dict[str, Any]) -> BuiltSuite:
    ranking = Bm25Ranking()
    wikipedia = Wikipedia(there.answer, ranking, lambda _: site)
    reading = ReadSources(there, wikipedia, NoModel(), "lands")
    plan = plan_of(*sources)
    return await Build(
        plan, Path(), sources=reading, language_model=NoModel(), ranking=ranking, verbs=RuleVerbs()
    )()


async def test_a_page_becomes_prompts_with_its_address_as_their_source(url: str, web: Webs) -> None:
    suite = await built(web(url), url, {"kind": "url", "url": f"{url}/page"})
    assert [row["baseline"] for row in suite.rows] == [
        "The bakers of Velmora have always worked at night."
    ]
    assert suite.rows[0]["source_tag"] == f"{url}/page"


async def test_a_redirect_is_followed_and_the_last_address_is_the_source(
    url: str, web: Webs
) -> None:
    assert (await web(url).page(f"{url}/moved")).url == f"{url}/page"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/circle", "redirected more than 5 times"),
        ("/inside", "169.254.169.254, which is in a private network"),
        ("/elsewhere", "begins with http:// or https://"),
        ("/gone", "does not exist"),
        ("/always-busy", "the server is busy"),
        ("/far", "asks for a retry in 86400 s"),
        ("/letters", "not text in 'utf-8'"),
        ("/idna", "not text in 'idna'"),
        ("/punycode", "not text in 'punycode'"),
        ("/base64", "not text in 'base64'"),
        ("/nul-charset", "is not text in"),
        ("/astray", "redirects to an invalid address"),
        ("/mapped", "which is in a private network"),
        ("/decimal", "which is in a private network"),
        ("/large", "larger than 1 MiB"),
    ],
)
async def test_a_page_that_cannot_be_had_says_why(
    url: str, web: Webs, path: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        await web(url).page(url + path)


async def test_a_page_that_never_ends_is_given_up(url: str, web: Webs) -> None:
    with pytest.raises(UsageError, match="did not come within"):
        await web(url, timeout_s=0.3).page(f"{url}/slow")


async def test_a_server_that_is_busy_is_asked_again(site: Site, url: str, web: Webs) -> None:
    assert (await web(url).page(f"{url}/busy")).text == TEXT
    assert site.asked["/busy"] == 3


async def test_what_is_no_page_is_refused_by_its_kind(url: str, web: Webs) -> None:
    with pytest.raises(UsageError, match="not a page but image/png"):
        await built(web(url), url, {"kind": "url", "url": f"{url}/picture"})


async def test_without_the_tests_allowance_this_machine_is_a_private_network(
    site: Site, url: str, tmp_path: Path
) -> None:
    settings = BuilderSettings(state_dir=tmp_path)
    plan = plan_of({"kind": "url", "url": f"{url}/page"})
    with pytest.raises(UsageError, match="private network"):
        await build_of(plan, tmp_path, settings)()
    assert not site.asked


@pytest.mark.parametrize("number", ["2130706433", "0x7f000001", "127.1", "[::ffff:7f00:1]"])
async def test_an_address_written_in_another_way_is_the_same_address(
    number: str, web: Webs
) -> None:
    with pytest.raises(UsageError, match=r"private network|not known"):
        await web("http://127.0.0.1:1").page(f"http://{number}/")


async def test_an_address_with_a_password_is_refused_and_not_repeated(web: Webs) -> None:
    with pytest.raises(UsageError) as caught:
        await web("http://127.0.0.1:1").page("https://me:secret@example.org/")
    assert "secret" not in str(caught.value)


async def test_a_page_is_fetched_once_and_kept_for_the_next_build(
    site: Site, url: str, web: Webs
) -> None:
    for _ in range(2):
        await built(web(url), url, {"kind": "url", "url": f"{url}/page"})
    assert site.asked["/page"] == 1


def test_a_kept_page_grows_old(tmp_path: Path) -> None:
    from biaswatch.building.web_fetching import Page

    clock = [datetime(2026, 1, 1, tzinfo=UTC)]
    cache = PageCache(tmp_path, 1, now=lambda: clock[0])
    cache.keep("https://a.example", Page("https://a.example", "text/plain", "x"))
    assert cache.get("https://a.example")
    clock[0] += timedelta(days=1)
    assert cache.get("https://a.example") is None


async def test_a_wish_of_robots_txt_is_kept(site: Site, url: str, web: Webs) -> None:
    site.robots = (200, "User-agent: tester\nDisallow: /page\n")
    with pytest.raises(UsageError, match="must not be read by robots"):
        await web(url).page(f"{url}/page")
    with pytest.raises(UsageError, match="must not be read by robots"):
        await web(url).page(f"{url}/moved")
    assert site.asked["/page"] == 0


async def test_where_robots_txt_cannot_be_read_nothing_is(site: Site, url: str, web: Webs) -> None:
    site.robots = (500, "")
    with pytest.raises(UsageError, match="HTTP 500"):
        await web(url).page(f"{url}/page")
    assert site.asked["/page"] == 0


async def test_the_builder_says_who_it_is_and_pauses_between_pages(
    site: Site, url: str, web: Webs
) -> None:
    site.robots = (200, "User-agent: *\nCrawl-delay: 7\n")
    there = web(url, pause_s=2.0)
    await asyncio.gather(*(there.page(f"{url}/page{n}") for n in range(3)))
    assert site.agents == {"tester/1"}
    assert web.slept[0] == 2.0  # after robots.txt, which has not said yet what it wishes
    assert web.slept[-2:] == [7.0, 7.0]


NESTED = {
    "divs": "<div>" * 100_000 + "The bakers work at night." + "</div>" * 100_000,
    "inline": "<b><i>" * 100_000 + "The bakers work at night.",
    "tables": "<table><tr><td>" * 20_000 + "The bakers work at night.",
    "silent": "<p>The bakers work at night.</p>" + "<script>" * 50_000,
    "attributes": f"<p {'a=b ' * 100_000}>The bakers work at night.</p>",
    "entities": "<p>The bakers work at night. " + "&amp;" * 100_000 + "&#x110000;&#0;</p>",
    "comments": "<p>The bakers work at night.</p><!--" + "<!--" * 100_000,
    "doctype": '<!DOCTYPE a [<!ENTITY b "' + "c" * 1000 + '">]><p>The bakers work at night.&b;</p>',
}


@pytest.mark.parametrize("kind", NESTED)
async def test_hostile_markup_becomes_its_text(site: Site, url: str, web: Webs, kind: str) -> None:
    PAGES[f"/{kind}"] = (200, {"content-type": HTML}, NESTED[kind].encode())
    try:
        page = await web(url, largest_bytes=4 * 2**20).page(f"{url}/{kind}")
    finally:
        del PAGES[f"/{kind}"]
    texts = [passage.text for passage in passages_of_html(page.text)]
    assert any("The bakers work at night." in text for text in texts)
    assert not any("<script" in text for text in texts)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("User-agent: *\nCrawl-delay: 1000000", r"asks for pauses of 1e\+06 s"),
        ("User-agent: *\nDisallow: http://[::1", r"cannot be understood|must not be read"),
    ],
)
async def test_hostile_rules_for_robots_are_a_sentence(
    site: Site, url: str, web: Webs, rules: str, message: str
) -> None:
    site.robots = (200, rules)
    with pytest.raises(UsageError, match=message):
        await web(url).page(f"{url}/page")
