"""Whoever names a server, by whatever way: nothing private is asked, and no redirect followed."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import httpx2
import pytest

from biaswatch.building.web_fetching import FetchLimits, PageFetcher
from biaswatch.services.generator.handlers.endpoints import connection_to
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.services.notifier.channels.webhook import post_to_monitors_webhook
from biaswatch.services.notifier.domain.attempts import Delivered
from biaswatch.shared.contracts import parse_target
from biaswatch.shared.contracts.providers.http import Application
from biaswatch.shared.errors import UsageError
from biaswatch.shared.llm.anthropic_messages import AnthropicMessages
from biaswatch.shared.llm.http_app import HttpApp
from biaswatch.shared.llm.openai_formats import OpenAIChat, OpenAIResponses
from biaswatch.shared.llm.port import CallFailed, Failure, ModelCall
from tests.support.model_server import Message, model_server
from tests.support.records import make_alarm
from tests.support.waiting import PATIENCE_S

CALL = ModelCall(
    model="m", messages=({"role": "user", "content": "?"},), repeat_key="r", timeout_s=PATIENCE_S
)
REFUSED = "refused"
Way = Callable[[str, tuple[str, ...]], Awaitable[str]]


async def _model(written: str, adapter: Any, hosts: tuple[str, ...]) -> str:
    settings = GeneratorSettings(generator_private_hosts=hosts)
    target = parse_target(written)
    model = adapter.connect(target, connection_to(target, settings))
    try:
        return str((await model.ask(CALL)).text)
    except CallFailed as failed:
        return REFUSED if failed.why is Failure.OFF_LIMITS else failed.why.value
    finally:
        await model.close()


async def chat(url: str, hosts: tuple[str, ...]) -> str:
    return await _model(f"openai:m@{url}", OpenAIChat, hosts)


async def responses(url: str, hosts: tuple[str, ...]) -> str:
    return await _model(f"openai-responses:m@{url}", OpenAIResponses, hosts)


async def messages(url: str, hosts: tuple[str, ...]) -> str:
    return await _model(f"anthropic:m@{url}", AnthropicMessages, hosts)


async def application(url: str, hosts: tuple[str, ...]) -> str:
    asked = Application(url=url, request={"q": "{prompt}"}, answer="/a").as_parameters()
    return await _model(f"http:app?{asked}", HttpApp, hosts)


async def webhook(url: str, hosts: tuple[str, ...]) -> str:
    attempt = await post_to_monitors_webhook(make_alarm(webhook=url), hosts, None)
    if isinstance(attempt, Delivered):
        return "told"
    return REFUSED if "private address" in attempt.why else attempt.why


async def page(url: str, hosts: tuple[str, ...]) -> str:
    del hosts  # the builder reads public pages alone
    limits = FetchLimits("test", pause_s=0, timeout_s=PATIENCE_S, largest_bytes=1000, tries=1)
    fetcher = PageFetcher(limits, clock=lambda: 0.0)
    try:
        return (await fetcher.get(url)).text
    except UsageError as error:
        return REFUSED if "private network" in str(error) else str(error)
    finally:
        await fetcher.close()


WAYS: dict[str, Way] = {
    item.__name__: item for item in (chat, responses, messages, application, webhook, page)
}
HOSTS = (
    *("127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "017700000001", "0.0.0.0"),  # noqa: S104
    *("[::1]", "[::]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
    *("169.254.169.254", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "100.100.100.200"),
    *("[64:ff9b:1::a9fe:a9fe]", "[64:ff9b:1:a9fe:a9:fe00::]", "[2002:a9fe:a9fe::1]"),
    *("168.63.129.16", "192.0.0.192", "[fd00:ec2::254]", "[fec0::1]", "[fe80::1]", "10.0.0.1"),
    *("172.16.0.1", "192.168.0.1", "100.64.0.1", "[2001:0:a9fe:a9fe::1]", "224.0.0.1"),
)


class Inside:
    """A server that nobody outside may reach; it counts who does."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.location = ""

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        self.asked.append(scope["path"])
        headers = [(b"location", self.location.encode()), (b"content-type", b"text/plain")]
        status = 307 if self.location else 200
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"secret"})


@pytest.fixture
def inside() -> Iterator[tuple[Inside, int]]:
    app = Inside()
    with model_server(app) as url:
        yield app, int(url.rpartition(":")[2].partition("/")[0])


@pytest.mark.parametrize("way", WAYS)
async def test_no_way_leads_to_a_private_address_however_it_is_written(
    way: str, inside: tuple[Inside, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy"):  # a proxy would ask for us
        monkeypatch.setenv(variable, f"http://127.0.0.1:{inside[1]}")
    results = {host: await WAYS[way](f"http://{host}:{inside[1]}/latest", ()) for host in HOSTS}
    assert {host: result for host, result in results.items() if result != REFUSED} == {}
    assert inside[0].asked == []
    print(f"{way}: {len(HOSTS)} private addresses, {len(inside[0].asked)} reached")


@pytest.mark.parametrize("way", [name for name in WAYS if name != "page"])
async def test_a_host_that_the_operator_names_is_asked_and_its_redirect_is_not_followed(
    way: str, inside: tuple[Inside, int]
) -> None:
    app, port = inside
    elsewhere = Inside()
    with model_server(elsewhere) as url:
        app.location = url
        assert await WAYS[way](f"http://127.0.0.1:{port}/x", ("127.0.0.1",)) != REFUSED
    assert len(app.asked) == 1
    assert elsewhere.asked == []


@pytest.mark.parametrize("way", WAYS)
async def test_a_name_that_leads_elsewhere_a_moment_later_is_asked_where_it_was_checked(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["93.184.215.14", "127.0.0.1", "127.0.0.1"])
    connected = []

    async def lookup(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), 80))]

    async def connect(_: Any, request: httpx2.Request) -> httpx2.Response:
        connected.append((request.url.host, request.headers["host"]))
        body = httpx2.ByteStream(b"{}")
        return httpx2.Response(200, headers={"content-type": "text/plain"}, stream=body)

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", lookup)
    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", connect)
    await WAYS[way]("http://rebinding.example/x", ())
    assert connected == [("93.184.215.14", "rebinding.example")]


async def test_one_private_address_among_public_ones_is_enough_to_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def lookup(*_: Any, **__: Any) -> list[Any]:
        result = ("93.184.215.14", "10.0.0.1")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (item, 80)) for item in result]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", lookup)
    results = [await way("http://both.example/x", ()) for way in WAYS.values()]
    assert results == [REFUSED] * len(WAYS)
