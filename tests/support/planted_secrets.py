"""A deployment with a secret of every kind, and every place where one of them may be seen."""

import asyncio
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import select

from biaswatch.shared.bus.accounts import server_config
from biaswatch.shared.bus.jetstream import Admin, Connection, provision
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import OPERATOR, key_names
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.contracts import ExtractorStatus
from biaswatch.shared.store import Store
from biaswatch.shared.store.tables import metadata
from tests.support.alarm_receivers import http_receiver
from tests.support.bus_contents import on_the_keyed_bus, with_readers
from tests.support.secret_deployment import BY_NAME, SERVICES, SecretDeployment
from tests.support.waiting import eventually

URL_PASSWORD = "planted-url-password-0005"
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
    result = {}
    with store.engine.connect() as connection:
        for table in metadata.sorted_tables:
            rows = connection.execute(select(table)).all()
            result[table.name] = "\n".join(str(tuple(row)) for row in rows)
    return result


async def provoke(deployment: SecretDeployment) -> list[str]:
    """Do what may tell of a secret, most of it wrongly; return the replies."""
    suite = (await deployment.ask("POST", "/v1/suites", SUITE)).json()["hash"]
    webhook = f"https://hooks.invalid/{MONITORS_WEBHOOK}"
    monitor = {**MONITOR, "suite_hash": suite, "webhook": webhook}
    applied = await deployment.ask("POST", "/v1/monitors", monitor)
    assert applied.status_code == 200, applied.text
    replies = [(await deployment.ask("POST", "/v1/channels/nobody/test")).text]
    for name in ("tickets", "oncall"):
        trial = (await deployment.ask("POST", f"/v1/channels/{name}/test")).json()

        async def refused(alarm_id: str = trial["alarm_id"]) -> bool:
            reply = await deployment.ask("GET", f"/v1/alarms/{alarm_id}/deliveries")
            replies.append(reply.text)
            return "answered 403" in reply.text

        await eventually(refused)
    pages: list[tuple[str, str, object, str]] = [
        ("GET", path, None, "")
        for path in ("/", "/runs", "/monitors", "/monitors/coasts", "/status")
    ]
    for verb, path, body, token in (
        *pages,
        ("GET", "/v1/channels", None, ""),
        ("GET", "/v1/status", None, ""),
        ("GET", "/v1/runs", None, "planted-wrong-token"),
        ("POST", "/v1/runs", {"suite_hash": suite, "targets": ["openai:m@http://x y"]}, ""),
        ("POST", "/v1/monitors", {**monitor, "channels": ["none"]}, ""),
        ("GET", "/v1/audit", None, ""),
    ):
        replies.append((await deployment.ask(verb, path, body, token)).text)
    return replies


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


@dataclass(frozen=True)
class Survey:
    """All texts of a deployment, and its secrets by name."""

    secrets: Mapping[str, str]
    texts: Sequence[str]
    """Replies, logs, pages, metrics, rows and messages."""
    monitors: Sequence[str]
    """Rows and messages that hold monitors, which may name their own webhook."""

    @property
    def webhook_is_kept(self) -> bool:
        """Whether the monitor's webhook is where it has to be."""
        return any(MONITORS_WEBHOOK in text for text in self.monitors)

    def leaks(self) -> list[str]:
        """Return the names of the secrets that some text contains."""
        everywhere = [*self.texts, *self.monitors]
        names = [n for n, secret in self.secrets.items() if any(secret in t for t in everywhere)]
        webhook = any(MONITORS_WEBHOOK in text for text in self.texts)
        return names + ["webhook of a monitor"] * webhook


async def survey_of(folder: Path, store_url: str) -> Survey:
    """Run a deployment with secrets, provoke errors, and collect all that it shows and keeps."""
    public = ensure_keys(folder / "keys", key_names())
    seeds = {name: (folder / "keys" / f"{name}.seed").read_text().strip() for name in public}
    (folder / "state").mkdir()
    config = with_readers(server_config(public), folder / "readers")
    with (
        http_receiver() as receiver,
        EmbeddedServer(folder / "nats", extra_config=config) as server,
        Store.open(store_url) as store,
    ):
        receiver.status = 403
        operator = folder / "keys" / f"{OPERATOR}.seed"
        connection = await Connection.open(server.url, name=OPERATOR, seed_file=operator)
        await provision(Admin(connection))
        await connection.close()
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        store.extractors.announce(ExtractorStatus("words", "1", ("words",), tomorrow))
        deployment = SecretDeployment(folder, store_url, server.url, receiver.url)
        texts: list[str] = []
        for name in SERVICES:
            deployment.start(name)
        try:
            await deployment.working()
            texts += await provoke(deployment)
            await fail_to_start(deployment, seeds["evaluator"])
            texts += await deployment.shown()
            streamed = await on_the_keyed_bus(server.url, folder / "readers")
        finally:
            texts += deployment.end()
        assert receiver.posted, "the receiver was told the secrets"
        rows = stored(store)
    monitors = [rows.pop("monitor"), rows.pop("schedule"), rows.pop("text")]
    monitors += [text for text in streamed if text.startswith("bias.v1.monitor.")]
    others = [text for text in streamed if not text.startswith("bias.v1.monitor.")]
    secrets = {**BY_NAME, "url password": URL_PASSWORD, **seeds}
    return Survey(secrets, [*texts, *others, *rows.values()], monitors)
