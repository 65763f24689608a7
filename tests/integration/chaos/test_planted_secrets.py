"""Keys and tokens are planted, things go wrong, and nothing that is kept or logged has them."""

import asyncio
import json
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from biaswatch.shared.bus.jetstream import Admin, Connection, provision
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import OPERATOR, key_names, server_config
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import ExtractorStatus
from biaswatch.shared.store import Store
from biaswatch.shared.store.tables import metadata
from tests.support.alarm_receivers import http_receiver
from tests.support.bus_contents import on_the_bus, on_the_keyed_bus, with_readers
from tests.support.commands import CommandLine
from tests.support.model_server import model_server, replying
from tests.support.secret_deployment import BY_NAME, SERVICES, SecretDeployment
from tests.support.waiting import eventually

PLANTED = {
    "OPENAI_API_KEY": "sk-planted-provider-key-0001",
    "BIASWATCH_GATEWAY_RUN_TOKEN": "planted-run-token-0002",
    "BIASWATCH_GATEWAY_READ_TOKEN": "planted-read-token-0003",
    "BIASWATCH_TOKEN": "planted-run-token-0002",
}
SERVER_KEY = "sk-planted-server-key-0004"
URL_PASSWORD = "planted-url-password-0005"
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
    said: list[str] = []
    with command.up("--processes") as platform:
        for target in (f"openai:m@{troubled}", "openai:m@http://127.0.0.1:9/v1"):
            done = command("run", suite, "--target", target, "--json")
            said += [done.stdout, done.stderr]
        wrong = command("runs", "--token", "another")
        said += [wrong.stdout, wrong.stderr]
        streamed = asyncio.run(on_the_bus(command.bus()))
        assert streamed
        said += streamed
    said += platform.communicate()
    store = f"postgresql://someone:{URL_PASSWORD}@127.0.0.1:1/x"
    away = CommandLine(tmp_path / "other", BIASWATCH_STORE_URL=store)("runs")
    said += [away.stdout, away.stderr]
    kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert len(kept) > 10
    said += [path.read_bytes().decode(errors="replace") for path in kept]
    found = {secret for secret in SECRETS for text in said if secret in text}
    assert found == set()


MONITORS_WEBHOOK = "planted-monitor-webhook-0013"
"""Stands in the monitor's file, so it is kept with the monitor; nothing else may tell of it."""
SUITE = {
    "name": "coasts",
    "extractors": ["words"],
    "probes": [
        {"key": group, "prompt": "?", "set": "s", "groups": {"concept": group}} for group in "ab"
    ],
}
MONITOR = {
    "name": "coasts",
    "target": "simulator:unbiased",
    "cadence": "6h",
    "features": [{"extractor": "words", "feature": "words", "high": 10, "tolerance": 0.5}],
    "comparisons": [{"dimension": "concept", "a": "a", "b": "b"}],
    "channels": ["tickets", "oncall"],
}


def stored(store: Store) -> dict[str, str]:
    """Return everything that the store has, by table."""
    found = {}
    with store.engine.connect() as connection:
        for table in metadata.sorted_tables:
            rows = connection.execute(select(table)).all()
            found[table.name] = "\n".join(str(tuple(row)) for row in rows)
    return found


async def provoke(deployment: SecretDeployment) -> list[str]:
    """Do what may tell of a secret, most of it wrongly; return the replies."""
    suite = (await deployment.ask("POST", "/v1/suites", SUITE)).json()["hash"]
    webhook = f"https://hooks.invalid/{MONITORS_WEBHOOK}"
    monitor = {**MONITOR, "suite_hash": suite, "webhook": webhook}
    applied = await deployment.ask("POST", "/v1/monitors", monitor)
    assert applied.status_code == 200, applied.text
    said = [(await deployment.ask("POST", "/v1/channels/nobody/test")).text]
    for name in ("tickets", "oncall"):
        trial = (await deployment.ask("POST", f"/v1/channels/{name}/test")).json()

        async def refused(alarm_id: str = trial["alarm_id"]) -> bool:
            reply = await deployment.ask("GET", f"/v1/alarms/{alarm_id}/deliveries")
            said.append(reply.text)
            return "answered 403" in reply.text

        await eventually(refused)
    for verb, path, body, token in (
        ("GET", "/v1/channels", None, ""),
        ("GET", "/v1/status", None, ""),
        ("GET", "/v1/runs", None, "planted-wrong-token"),
        ("POST", "/v1/runs", {"suite_hash": suite, "targets": ["openai:m@http://x y"]}, ""),
        ("POST", "/v1/monitors", {**monitor, "channels": ["none"]}, ""),
        ("GET", "/v1/audit", None, ""),
    ):
        said.append((await deployment.ask(verb, path, body, token)).text)
    return said


async def fail_to_start(deployment: SecretDeployment, seed: str) -> None:
    """Start services whose secrets are wrong, each in its own way."""
    away = deployment.store_url.set(host="127.0.0.1", port=1, query={})
    spoilt = deployment.folder / "keys" / "spoilt.seed"
    spoilt.write_text(f"{seed}x\n")
    wrong: tuple[tuple[str, Mapping[str, str]], ...] = (
        ("oracle", {"BIASWATCH_STORE_URL": away.render_as_string(hide_password=False)}),
        ("evaluator", {"BIASWATCH_NATS_SEED_FILE": str(spoilt)}),
        ("extractor", {"BIASWATCH_NATS_SEED_FILE": str(deployment.folder / "channel_token")}),
        ("builder", {"BIASWATCH_STORE_URL": f"mysql://me:{URL_PASSWORD}@h/x"}),
    )
    for name, settings in wrong:
        deployment.start(name, **settings)
    for name, _ in wrong:
        process = deployment.running.pop(name)
        try:
            await asyncio.to_thread(process.wait, 60)
        except subprocess.TimeoutExpired:
            process.kill()  # it waits for what may come back


@pytest.mark.parametrize("empty_store_url", ["postgresql"], indirect=True)
async def test_nothing_tells_of_the_secrets_of_a_deployment(store_url: str, tmp_path: Path) -> None:
    public = ensure_keys(tmp_path / "keys", key_names())
    seeds = {name: (tmp_path / "keys" / f"{name}.seed").read_text().strip() for name in public}
    (tmp_path / "state").mkdir()
    config = with_readers(server_config(public), tmp_path / "readers")
    with (
        http_receiver() as receiver,
        EmbeddedServer(tmp_path / "nats", extra_config=config) as server,
        Store.open(store_url) as store,
    ):
        receiver.status = 403
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        operator = tmp_path / "keys" / f"{OPERATOR}.seed"
        connection = await Connection.open(server.url, name=OPERATOR, seed_file=operator)
        await provision(Admin(connection))
        await connection.close()
        store.extractors.announce(ExtractorStatus("words", "1", ("words",), tomorrow))
        deployment = SecretDeployment(tmp_path, store_url, server.url, receiver.url)
        said: list[str] = []
        for name in SERVICES:
            deployment.start(name)
        try:
            await deployment.working()
            said += await provoke(deployment)
            await fail_to_start(deployment, seeds["evaluator"])
            said += await deployment.shown()
            streamed = await on_the_keyed_bus(server.url, tmp_path / "readers")
        finally:
            said += deployment.end()
        assert receiver.posted, "the receiver was told the secrets, and nobody else"
        rows = stored(store)
    monitors = [rows.pop("monitor"), rows.pop("schedule"), rows.pop("text")]
    monitors += [each for each in streamed if each.startswith("bias.v1.monitor.")]
    others = [each for each in streamed if not each.startswith("bias.v1.monitor.")]
    said += [*others, *rows.values()]
    secret = {**BY_NAME, "url password": URL_PASSWORD, **seeds}
    assert any(MONITORS_WEBHOOK in text for text in monitors)
    assert {
        name for name, each in secret.items() if any(each in t for t in [*said, *monitors])
    } == set()
    assert [text for text in said if MONITORS_WEBHOOK in text] == []
