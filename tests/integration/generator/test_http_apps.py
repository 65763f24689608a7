"""Deployed applications as targets: asked by a template, read by a pointer, kept off the inside."""

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from biaswatch.readers.targets import read_target, with_file
from biaswatch.shared.contracts import parse_target
from biaswatch.shared.contracts.providers.http import Application
from biaswatch.shared.errors import UsageError
from biaswatch.shared.llm.http_app import HttpApp, filled_template, value_at
from biaswatch.shared.llm.port import CallFailed, Failure, ModelCall
from tests.support.model_server import model_server
from tests.support.waiting import PATIENCE_S

CALL = ModelCall(
    model="app.yaml",
    messages=(
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Is {system} a word?"},
    ),
    repeat_key="r7",
    timeout_s=PATIENCE_S,
)
REQUEST = {"q": "Ask: {prompt}", "how": "{system}", "turns": "{messages}", "n": 3, "id": "{repeat}"}


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve an application: the path is the status it answers with."""
    seen: list[dict[str, Any]] = []

    async def app(scope: dict[str, Any], receive: Callable, send: Callable) -> None:  # type: ignore[type-arg]
        if scope["type"] != "http":
            return
        body = (await receive())["body"]
        seen.append({"body": json.loads(body), "headers": dict(scope["headers"])})
        status = int(scope["path"].rpartition("/")[2])
        headers = [(b"retry-after", b"4"), (b"location", b"http://127.0.0.1:1/")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"out": [{"text": "Rating: 3"}]}'})

    with model_server(app) as url:
        yield url.removesuffix("/v1"), seen


async def ask(url: str, *, answer: str = "/out/0/text", **more: Any) -> str:
    application = Application(url=url, request=REQUEST, answer=answer)
    given = {"key": None, "private_hosts": ("127.0.0.1",), **more}
    app = HttpApp(application, **given)
    try:
        return (await app.ask(CALL)).text
    finally:
        await app.close()


async def why(url: str, **more: Any) -> CallFailed:
    with pytest.raises(CallFailed) as failed:
        await ask(url, **more)
    return failed.value


async def test_the_template_is_filled_and_the_pointer_followed(
    server: tuple[str, list[dict[str, Any]]],
) -> None:
    url, seen = server
    assert await ask(f"{url}/200", key="k1") == "Rating: 3"
    assert seen[-1]["headers"][b"x-biaswatch-purpose"] == b"study"
    assert seen[-1]["body"] == {
        "q": "Ask: Is {system} a word?",
        "how": "Be brief.",
        "turns": [{"role": "user", "content": "Is {system} a word?"}],
        "n": 3,
        "id": "r7",
    }
    assert seen[-1]["headers"][b"authorization"] == b"Bearer k1"


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (302, Failure.BAD_REQUEST),
        (404, Failure.BAD_REQUEST),
        (429, Failure.RATE_LIMITED),
        (500, Failure.SERVER_ERROR),
    ],
)
async def test_every_status_is_a_named_outcome_and_no_redirect_is_followed(
    server: tuple[str, list[dict[str, Any]]], status: int, failure: Failure
) -> None:
    failed = await why(f"{server[0]}/{status}")
    assert failed.why is failure
    assert failed.retry_after_s == (4 if status == 429 else None)


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_an_outcome_that_says_where_the_key_is_set(
    server: tuple[str, list[dict[str, Any]]], status: int
) -> None:
    failed = await why(f"{server[0]}/{status}", key="k1-secret")
    assert failed.why is Failure.KEY_REFUSED
    assert f"The target refused the key (HTTP {status})" in failed.detail
    assert "BIASWATCH_KEYS_DIR" in failed.detail
    assert "k1-secret" not in failed.detail


@pytest.mark.parametrize("pointer", ["/out/1/text", "/out/0", "/else", "/out/-/text", ""])
async def test_a_pointer_that_finds_no_text_is_garbage(
    server: tuple[str, list[dict[str, Any]]], pointer: str
) -> None:
    assert (await why(f"{server[0]}/200", answer=pointer)).why is Failure.GARBAGE


async def test_a_private_address_is_off_limits_until_it_is_named(
    server: tuple[str, list[dict[str, Any]]],
) -> None:
    failed = await why(f"{server[0]}/200", private_hosts=())
    assert failed.why is Failure.OFF_LIMITS
    assert "BIASWATCH_GENERATOR_PRIVATE_HOSTS" in failed.detail


async def test_a_name_that_points_inside_is_off_limits_too(
    server: tuple[str, list[dict[str, Any]]],
) -> None:
    url = server[0].replace("127.0.0.1", "localhost")
    assert (await why(f"{url}/200", private_hosts=())).why is Failure.OFF_LIMITS


async def test_what_was_checked_is_what_is_connected_to(
    server: tuple[str, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that answers with a public address once and a private one later reaches neither."""
    port = int(server[0].rpartition(":")[2])
    answers = iter(["192.0.2.1", "127.0.0.1"])

    async def lookup(*_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", lookup)
    guard = "biaswatch.shared.network.outgoing.is_public"
    monkeypatch.setattr(guard, lambda address: not address.is_loopback)
    seen = len(server[1])
    app = HttpApp(
        Application(url=f"http://elsewhere.example:{port}/200", request={}, answer="/out/0/text"),
        key=None,
    )
    short = ModelCall(model="m", messages=CALL.messages, repeat_key="r", timeout_s=0.3)
    with pytest.raises(CallFailed) as failed:
        await app.ask(short)
    await app.close()
    assert failed.value.why in {Failure.TIMEOUT, Failure.UNREACHABLE}
    assert len(server[1]) == seen


def test_pointers_unescape_and_index() -> None:
    document = {"a/b": {"m~n": [10, {"": "end"}]}}
    assert value_at(document, "/a~1b/m~0n/0") == 10
    assert value_at(document, "/a~1b/m~0n/1/") == "end"
    assert value_at(document, "") is document


def test_what_a_prompt_says_is_never_a_placeholder() -> None:
    assert filled_template("{prompt}{repeat}", CALL) == "Is {system} a word?r7"


def test_a_target_carries_its_application_so_that_the_generator_needs_no_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "app.yaml"
    path.write_text("url: https://assistant.example/ask\nrequest: {q: '{prompt}'}\nanswer: /text\n")
    written = f"http:{path}?role=assistant"
    target = parse_target(with_file(written))
    assert target.name == written
    assert target.base_url == "https://assistant.example/ask"
    assert Application.model_validate(target.parameters).request == {"q": "{prompt}"}
    assert target.system_prompt == "You are a helpful assistant."


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("url: ftp://x/\nrequest: {}\nanswer: /a\n", "url"),
        ("url: http://user:secret@x/\nrequest: {}\nanswer: /a\n", "url"),
        ("url: http://x/\nrequest: {}\nanswer: a\n", "answer"),
        ("url: http://x/\nanswer: /a\n", "request"),
        ("[", "not YAML"),
    ],
)
def test_a_wrong_file_is_a_sentence_that_repeats_nothing(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=says) as wrong:
        read_target(f"http:{path}")
    assert "secret" not in str(wrong.value)
