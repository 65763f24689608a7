"""Keys and tokens are planted, things go wrong, and nothing that is kept or logged has them."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.bus_contents import on_the_bus
from tests.support.commands import CommandLine
from tests.support.model_server import model_server, replying
from tests.support.planted_secrets import URL_PASSWORD, survey_of

PLANTED = {
    "OPENAI_API_KEY": "sk-planted-provider-key-0001",
    "BIASWATCH_GATEWAY_RUN_TOKEN": "planted-run-token-0002",
    "BIASWATCH_GATEWAY_READ_TOKEN": "planted-read-token-0003",
    "BIASWATCH_TOKEN": "planted-run-token-0002",
}
SERVER_KEY = "sk-planted-server-key-0004"
SECRETS = (*PLANTED.values(), SERVER_KEY, URL_PASSWORD)


@pytest.fixture
def suite(tmp_path: Path) -> str:
    probes = [
        {"key": f"p{n}", "groups": {"side": "ab"[n % 2]}, "prompt": f"Rate {n}."} for n in range(6)
    ]
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"name": "six", "extractors": ["words"], "probes": probes}))
    return str(path)


@pytest.fixture
def troubled() -> Iterator[str]:
    """A server that answers some calls and fails others, each in its own way."""
    replies = [
        (200, {"choices": [{"message": {"content": "Fine."}, "finish_reason": "stop"}]}),
        (500, {"error": {"message": "Broken."}}),
        (200, {"nothing": "of the kind"}),
        (400, {"error": {"message": "Not so."}}),
    ]
    seen: list[object] = []

    def reply(asked: object) -> tuple[int, object]:
        seen.append(asked)
        return replies[len(seen) % len(replies)]

    with model_server(replying(reply)) as address:
        yield address


def test_nothing_that_is_kept_or_logged_holds_a_planted_key(
    tmp_path: Path, suite: str, troubled: str
) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "127.0.0.1").write_text(SERVER_KEY)
    command = CommandLine(
        tmp_path / "state",
        BIASWATCH_KEYS_DIR=str(keys),
        BIASWATCH_GENERATOR_PRIVATE_HOSTS='["127.0.0.1"]',
        BIASWATCH_GENERATOR_TRIES="2",
        **PLANTED,
    )
    texts: list[str] = []
    with command.up("--processes") as platform:
        for target in (f"openai:m@{troubled}", "openai:m@http://127.0.0.1:9/v1"):
            result = command("run", suite, "--target", target, "--json")
            texts += [result.stdout, result.stderr]
        wrong = command("runs", "--token", "another")
        texts += [wrong.stdout, wrong.stderr]
        streamed = asyncio.run(on_the_bus(command.bus()))
        assert streamed
        texts += streamed
    texts += platform.communicate()
    store = f"postgresql://someone:{URL_PASSWORD}@127.0.0.1:1/x"
    away = CommandLine(tmp_path / "other", BIASWATCH_STORE_URL=store)("runs")
    texts += [away.stdout, away.stderr]
    kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert len(kept) > 10
    texts += [path.read_bytes().decode(errors="replace") for path in kept]
    leaked = {secret for secret in SECRETS for text in texts if secret in text}
    assert leaked == set()


@pytest.mark.parametrize("empty_store_url", ["postgresql"], indirect=True)
async def test_nothing_tells_of_the_secrets_of_a_deployment(store_url: str, tmp_path: Path) -> None:
    survey = await survey_of(tmp_path, store_url)
    assert survey.webhook_is_kept, "the monitor's file names it"
    assert survey.leaks() == []
