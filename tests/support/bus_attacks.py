"""Attacks on the bus by the holder of a key, and what a bystander sees of their effects."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg

from biaswatch.shared.bus.jetstream import Admin
from biaswatch.shared.bus.jetstream.admin import JetStreamRefusal, durable_config
from biaswatch.shared.bus.permissions import INGEST, permissions_of_key, service_names
from biaswatch.shared.bus.topology import (
    DEAD_EXCHANGES,
    DEAD_LETTERS,
    DEAD_STREAMS,
    DurableSpec,
    dead_exchange_subject,
    dead_subject,
    durables,
)
from biaswatch.shared.contracts import ROUTES, Exchange, Route, route_of
from biaswatch.shared.contracts.partitions import partition_of
from biaswatch.shared.errors import BiaswatchError
from tests.support.waiting import PATIENCE_S

STREAMS = [*(route.stream for route in ROUTES), *DEAD_STREAMS]
READERS = [(route, service) for route in ROUTES for service in route.consumers]
REQUEST_INFO = "Nats-Request-Info"
"""The header in which the server itself tells who asks; a client may try to forge it."""

STREAM_VERBS = (
    "STREAM.CREATE.{}", "STREAM.UPDATE.{}", "STREAM.DELETE.{}", "STREAM.PURGE.{}", "STREAM.INFO.{}",
    "STREAM.MSG.DELETE.{}", "STREAM.MSG.GET.{}", "STREAM.SNAPSHOT.{}", "STREAM.RESTORE.{}",
    "STREAM.PEER.REMOVE.{}", "STREAM.LEADER.STEPDOWN.{}", "DIRECT.GET.{}", "CONSUMER.LIST.{}",
    "CONSUMER.NAMES.{}", "CONSUMER.CREATE.{}",
)  # fmt: skip
DURABLE_VERBS = (
    "CONSUMER.CREATE.{}.{}", "CONSUMER.DURABLE.CREATE.{}.{}", "CONSUMER.DELETE.{}.{}",
    "CONSUMER.INFO.{}.{}", "CONSUMER.MSG.NEXT.{}.{}", "CONSUMER.PAUSE.{}.{}",
    "CONSUMER.RESET.{}.{}", "CONSUMER.UNPIN.{}.{}", "CONSUMER.LEADER.STEPDOWN.{}.{}",
)  # fmt: skip
ANYWHERE = (
    "$JS.API.INFO", "$JS.API.STREAM.LIST", "$JS.API.STREAM.NAMES", "$JS.API.SERVER.REMOVE",
    "$JS.API.META.LEADER.STEPDOWN", "$JS.API.ACCOUNT.PURGE.$G", "$SYS.REQ.SERVER.PING",
    "$SYS.REQ.ACCOUNT.PING", "$SYS.REQ.SERVER.PING.JSZ", "_R_.x", "none.x", "none.STREAM.INFO.RUNS",
)  # fmt: skip
BODIES = (b"", b"{}", b'{"seq": 1}', b'{"batch": 9, "expires": 200000000}')


OTHER_TENANTS = ("default", "hiring", "t")


def record_subject(route: Route) -> str:
    """Return a subject of this kind of record."""
    return f"bias.v1.{route.record.kind}.t.measure.x"


def durable_names(route: Route, service: str) -> list[str]:
    """Return durables of a service: that without partition, and one with."""
    lane = "x" if route.by_lane else None
    return [route.durable(service, lane), *route.durables(service)[-1:]][: 2 if route.fair else 1]


def targets() -> list[str]:
    """Return every subject on which a foreign message would do harm."""
    api = [verb.format(stream) for verb in STREAM_VERBS for stream in STREAMS]
    api += [
        verb.format(route.stream, name)
        for verb in DURABLE_VERBS
        for route, service in READERS
        for name in durable_names(route, service)
    ]
    acks = [
        f"$JS.ACK.{route.stream}.{name}.1.1.1.1700000000000000000.0"
        for route, service in READERS
        for name in durable_names(route, service)
    ]
    return [
        *(record_subject(route) for route in ROUTES),
        *(f"{record_subject(route)}.{partition_of('t')}" for route in ROUTES if route.fair),
        *(f"bias.v1.exchange.{tenant}.production.x" for tenant in OTHER_TENANTS),
        *(dead_subject(service, route.durable(service)) for route, service in READERS),
        *(
            dead_exchange_subject(service, route.durable(service), record_subject(route))
            for route, service in READERS
            if route.from_outside
        ),
        *(f"$JS.API.{item}" for item in api),
        *acks,
        *ANYWHERE,
        *(f"_INBOX_{service}.x" for service in service_names()),
    ]


def harmful_deliveries() -> list[str]:
    """Return the subjects on which a record that is pushed there would do harm."""
    harmful = (
        "bias.",
        "dead.",
        "dead_exchange.",
        "$JS.ACK.",
        "$JS.API.STREAM.PURGE",
        "$JS.API.STREAM.DELETE",
    )
    return [
        target for target in targets() if target.startswith((*harmful, "$JS.API.CONSUMER.DELETE"))
    ]


def granted(key: str) -> list[str]:
    """Return a literal subject for everything that a key may publish."""
    return [
        subject.replace("bias.v1.*", "bias.v1.x").replace("*", "x").replace(">", "x")
        for subject in permissions_of_key(key).publish
    ]


@dataclass
class Attacker:
    """The holder of one key."""

    key: str
    client: Client
    tried: int = 0
    heard: list[Msg] = field(default_factory=list)
    """What it received that was not sent to its own inbox."""

    async def publish(
        self, subject: str, body: bytes = b"", reply: str = "", **headers: str
    ) -> None:
        """Try one message."""
        self.tried += 1
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        await self.client.publish(subject, body, reply, named or None)

    async def listen(self) -> None:
        """Try to hear what is meant for others."""

        async def hear(message: Msg) -> None:
            if not message.subject.startswith(f"_INBOX_{self.key}."):
                self.heard.append(message)

        for subject in (">", "bias.v1.>", "dead.v1.>", "_INBOX_recorder.>", "$JS.>", "_R_.>"):
            self.tried += 1
            await self.client.subscribe(subject, cb=hear)

    async def serve(self, subject: str) -> None:
        """Answer each request with the subject in its body as the answer's own reply subject."""

        async def answer(message: Msg) -> None:
            target = message.data.decode()
            await self.publish(message.reply, b"{}", target)
            await self.publish(message.reply, b"{}", target)  # one answer is granted, not two
            await self.publish(target, b"{}")

        await self.client.subscribe(subject, cb=answer)
        await self.client.flush()

    async def send_everywhere(self) -> None:
        """Publish on every subject itself, as oneself and in the server's name."""
        forged = json.dumps({"acc": "RUNS", "svc": "RUNS", "user": "operator"})
        for subject, body in itertools.product(targets(), BODIES):
            await self.publish(subject, body)
        for subject in targets():
            await self.publish(subject, b"{}", **{REQUEST_INFO: forged})

    async def have_replies_sent_everywhere(self) -> None:
        """Make the server reply to what is allowed on every subject that is not."""
        for subject, target in itertools.product(granted(self.key), targets()):
            await self.publish(subject, b'{"batch": 2, "expires": 100000000}', target)

    async def mark_own_records(self) -> None:
        """Publish what is allowed with headers that make a stream drop, delay or move messages."""
        for subject in (item for item in granted(self.key) if item.startswith("bias.")):
            for scope in ("all", "sub"):
                await self.publish(subject, b"{}", **{"Nats-Rollup": scope})
            for target in targets():
                schedule = {
                    "Nats-Schedule": "@at 2020-01-01T00:00:00Z",
                    "Nats-Schedule-Target": target,
                }
                await self.publish(subject, b"{}", **schedule)
            await self.publish(subject, b"{}", **{"Nats-TTL": "1s"})

    async def make_durables_deliver_everywhere(self, operator: Admin) -> None:
        """Create durables of its own that push to every subject."""
        for route in ROUTES:
            if self.key not in route.consumers:
                continue
            name = route.durable(self.key, "x" if route.by_lane else None)
            spec = DurableSpec(route.stream, name, route.filter_of(self.key), 30, 10)
            for target in harmful_deliveries():
                config = {**durable_config(spec), "deliver_subject": target, "headers_only": True}
                await self._create(spec, {"config": config})
                await _remove(operator, spec)
            for change in _widened(spec):
                await self._create(spec, {"config": {**durable_config(spec), **change}})
                await _remove(operator, spec)

    async def _create(self, spec: DurableSpec, request: dict[str, Any]) -> None:
        self.tried += 1
        subject = f"$JS.API.CONSUMER.CREATE.{spec.stream}.{spec.name}.{spec.filter}"
        body = json.dumps({"stream_name": spec.stream, **request}).encode()
        await self.client.request(subject, body, timeout=PATIENCE_S)


def _widened(spec: DurableSpec) -> Iterable[dict[str, Any]]:
    yield {"filter_subject": ">"}
    yield {"filter_subject": "", "filter_subjects": ["bias.v1.>"]}
    yield {"name": "recorder-response", "durable_name": "recorder-response"}
    yield {"sourcing": True}
    yield {"direct": True, "deliver_subject": "bias.v1.run.t.measure.x", "ack_policy": "none"}
    yield {"ack_policy": "flow_control", "deliver_subject": "bias.v1.run.t.measure.x"}
    yield {"inactive_threshold": 1, "mem_storage": True, "num_replicas": 1}


async def _remove(operator: Admin, spec: DurableSpec) -> None:
    try:
        await operator._api(f"CONSUMER.DELETE.{spec.stream}.{spec.name}")
    except JetStreamRefusal:
        return  # it was refused, so there is nothing to remove


@dataclass(frozen=True)
class BusState:
    """What the streams and durables hold."""

    streams: dict[str, dict[str, Any]]
    durables: dict[str, dict[str, Any]]
    dead: dict[str, int]
    exchanges: dict[str, int]
    """The production answers that wait, by subject."""

    @classmethod
    async def read(cls, operator: Admin) -> "BusState":
        """Read it with the operator's key."""
        streams = {name: await operator._api(f"STREAM.INFO.{name}") for name in STREAMS}
        result = {}
        for durable in durables():
            try:
                result[durable.name] = await operator._api(
                    f"CONSUMER.INFO.{durable.stream}.{durable.name}"
                )
            except BiaswatchError:
                continue  # an attacker's own, which was removed so that it can be made anew
        dead, dead_exchanges, exchanges = [
            await operator.subjects(stream, ">")
            for stream in (*DEAD_STREAMS, route_of(Exchange).stream)
        ]
        return cls(streams, result, dead | dead_exchanges, exchanges)

    def harm_by(self, key: str, after: "BusState") -> list[str]:
        """Return what has changed that this key has no right to change."""
        return [
            *self._streams_harmed(key, after),
            *(
                f"{name} was read, acknowledged or changed"
                for name, info in self.durables.items()
                if not name.startswith(f"{key}-")
                and _settled(info) != _settled(after.durables[name])
            ),
            *(
                f"a dead letter was written on {subject}"
                for subject, count in after.dead.items()
                if count != self.dead.get(subject, 0) and subject.split(".")[2] != key
            ),
            *(
                f"answers were sent in on {subject}"
                for subject, count in after.exchanges.items()
                if count > self.exchanges.get(subject, 0)
                and not any(
                    _covers(grant, form)
                    for grant in permissions_of_key(key).publish
                    for form in (subject, subject.rpartition(".")[0])  # with and without partition
                )
            ),
        ]

    def _streams_harmed(self, key: str, after: "BusState") -> Iterable[str]:
        writes = {route.stream for route in ROUTES if key in route.producers} | {DEAD_LETTERS}
        outside = {route for route in ROUTES if route.from_outside and key in route.consumers}
        writes |= {DEAD_EXCHANGES} if outside else set()
        writes |= {route_of(Exchange).stream} if key.startswith(INGEST) else set()
        # Who reads a queue may acknowledge, and so remove, what it holds.
        takes = {route.stream for route in ROUTES if route.queue and key in route.consumers}
        for name, info in self.streams.items():
            then, now = info["state"], after.streams[name]["state"]
            if info["config"] != after.streams[name]["config"]:
                yield f"{name} is configured differently"
            if name not in takes and now["messages"] < then["messages"]:
                yield f"{name} has lost messages"
            if now["last_seq"] != then["last_seq"] and name not in writes:
                yield f"{name} has {now['last_seq'] - then['last_seq']} messages of {key}"


def _covers(grant: str, subject: str) -> bool:
    """Tell whether a grant without `>` covers a subject."""
    pairs = zip(grant.split("."), subject.split("."), strict=False)
    same_length = grant.count(".") == subject.count(".")
    return same_length and all(pattern in ("*", token) for pattern, token in pairs)


def _settled(info: dict[str, Any]) -> object:
    floor, delivered = info["ack_floor"], info["delivered"]
    sequences = [
        item[name] for item in (floor, delivered) for name in ("consumer_seq", "stream_seq")
    ]
    return info["config"], info["num_ack_pending"], sequences


@asynccontextmanager
async def raw_client(url: str, key: str, seed: str) -> AsyncIterator[Client]:
    """Connect as an attacker would: without the care that the platform's own client takes."""

    async def ignore(_: Exception) -> None:
        return

    client = Client()
    await client.connect(
        url, nkeys_seed_str=seed, inbox_prefix=f"_INBOX_{key}", error_cb=ignore, name=key
    )
    try:
        yield client
    finally:
        await client.close()


async def settle(client: Client) -> None:
    """Return when the server has done what this client sent, and delayed replies have ended."""
    await client.flush(30)
    await asyncio.sleep(0.3)  # a pull of an attack expires after 0.1 s, and nothing tells of it
