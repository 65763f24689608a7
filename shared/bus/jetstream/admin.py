"""Streams and durables on the server: create, update and inspect them, and provision all."""

import asyncio
import json
from base64 import b64decode
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from biaswatch.shared.bus.dead_letters import StoredMessage
from biaswatch.shared.bus.jetstream.connection import Connection
from biaswatch.shared.bus.port import QueuePosition
from biaswatch.shared.bus.topology import DurableSpec, StreamLimits, StreamSpec, durables, streams
from biaswatch.shared.errors import BiaswatchError, ConfigurationError, TransientError

STREAM_NOT_FOUND = 10059
MESSAGE_NOT_FOUND = 10037
NO_STORAGE = 10047
SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class Lag:
    """How far a durable is behind."""

    waiting: int
    in_hand: int


class JetStreamRefusal(BiaswatchError):  # noqa: N818 - the server's answer, turned into a sentence by callers
    """The JetStream API answered with an error."""

    def __init__(self, code: int, description: str) -> None:
        super().__init__(f"JetStream answered: {description} ({code}).")
        self.code = code


class Admin:
    """The part of the JetStream API that the platform uses."""

    def __init__(self, connection: Connection, *, timeout_s: float = 5.0) -> None:
        self._connection = connection
        self._timeout_s = timeout_s

    async def ensure_stream(self, spec: StreamSpec) -> None:
        """Create the stream, or update an existing one.

        Raises
        ------
        ConfigurationError
            A stream of another kind has this name, or the server has no space for what it reserves.
        """
        try:
            await self._ensure_stream(spec)
        except JetStreamRefusal as refusal:
            if refusal.code != NO_STORAGE:
                raise
            raise ConfigurationError(
                f"The bus has no space left for the stream {spec.name}, which reserves"
                f" {spec.max_bytes / 1024**3:g} GiB: {refusal} Raise max_file_store in the"
                " server's configuration, and its volume with it."
            ) from refusal

    async def _ensure_stream(self, spec: StreamSpec) -> None:
        config = stream_config(spec)
        try:
            await self._api(f"STREAM.UPDATE.{spec.name}", config)
        except JetStreamRefusal as refusal:
            if refusal.code == NO_STORAGE:
                raise
            if refusal.code != STREAM_NOT_FOUND:
                raise ConfigurationError(
                    f"The stream {spec.name} cannot be updated: {refusal} Look at it with"
                    f" `nats stream info {spec.name}`; rename a stream of another kind."
                ) from refusal
            await self._api(f"STREAM.CREATE.{spec.name}", config)

    async def ensure_durable(self, spec: DurableSpec) -> None:
        """Create the durable, or update an existing one; not those of its partitions.

        A new durable starts at the oldest record of its stream: what was not handled is handled,
        and keyed writes absorb the rest. With `from_now` it starts at the next record.
        """
        request = {"stream_name": spec.stream, "config": durable_config(spec)}
        try:
            await self._api(f"CONSUMER.CREATE.{spec.stream}.{spec.name}.{spec.filter}", request)
        except JetStreamRefusal as refusal:
            raise TransientError(
                f"The durable {spec.name} cannot be created on {spec.stream}: {refusal} Run"
                " `biaswatch admin provision` on this server."
            ) from refusal

    async def lag(self, stream: str, name: str) -> Lag:
        """Return how many messages wait for a durable, and how many are delivered to workers."""
        info = await self._api(f"CONSUMER.INFO.{stream}.{name}")
        return Lag(waiting=info["num_pending"], in_hand=info["num_ack_pending"])

    async def settled(self, stream: str, name: str) -> int:
        """Return the sequence up to which a durable has acknowledged all that it reads."""
        floor = (await self._api(f"CONSUMER.INFO.{stream}.{name}"))["ack_floor"]
        return int(floor["stream_seq"])

    async def position(self, stream: str) -> QueuePosition:
        """Return the first sequence a stream still holds, and the last it has taken."""
        state = (await self._api(f"STREAM.INFO.{stream}"))["state"]
        return QueuePosition(first=state["first_seq"], last=state["last_seq"])

    async def subjects(self, stream: str, filter: str) -> dict[str, int]:  # noqa: A002
        """Count the messages a stream holds, by subject."""
        counts: dict[str, int] = {}
        while True:
            request = {"subjects_filter": filter, "offset": len(counts)}
            state = (await self._api(f"STREAM.INFO.{stream}", request))["state"]
            page = state.get("subjects") or {}
            counts.update(page)
            if not page or len(counts) >= state.get("num_subjects", 0):
                return counts

    async def next_message(self, stream: str, subject: str, sequence: int) -> StoredMessage | None:
        """Return the first message at or after `sequence` on a subject, or None behind the last."""
        request = {"seq": sequence, "next_by_subj": subject}
        try:
            message = (await self._api(f"STREAM.MSG.GET.{stream}", request))["message"]
        except JetStreamRefusal as refusal:
            if refusal.code == MESSAGE_NOT_FOUND:
                return None
            raise
        lines = b64decode(message.get("hdrs", "")).decode(errors="replace").split("\r\n")[1:]
        headers = dict(line.split(": ", 1) for line in lines if ": " in line)
        data = b64decode(message.get("data", ""))
        stored_at = datetime.fromisoformat(message["time"])
        return StoredMessage(message["subject"], message["seq"], data, headers, stored_at)

    async def delete_message(self, stream: str, sequence: int) -> None:
        """Remove one message for good, and overwrite its bytes on disk."""
        await self._api(f"STREAM.MSG.DELETE.{stream}", {"seq": sequence})

    async def _api(self, subject: str, request: object | None = None) -> dict[str, Any]:
        body = json.dumps(request).encode() if request is not None else b""
        answer: dict[str, Any] = json.loads(await self._ask(f"$JS.API.{subject}", body))
        if "error" in answer:
            raise JetStreamRefusal(
                answer["error"].get("err_code", 0), answer["error"]["description"]
            )
        return answer

    async def _ask(self, subject: str, body: bytes) -> bytes:
        """Send a request, and again if no reply came: all of these requests can be repeated."""
        for last in (False, True):
            try:
                reply = await self._connection.client.request(
                    subject, body, timeout=self._timeout_s
                )
            except NoRespondersError:
                raise TransientError(
                    "JetStream does not answer on this NATS server: it is starting, or it is"
                    " switched off (a `jetstream` block in its configuration switches it on)."
                ) from None
            except NatsError as error:
                if last:
                    raise TransientError(f"The bus did not answer {subject}: {error}.") from error
            else:
                return bytes(reply.data)
        raise AssertionError("the second try either answers or raises")


async def provision(admin: Admin, limits: StreamLimits | None = None) -> None:
    """Create what is missing, update what differs, touch nothing else; safe to run at any time."""
    for stream in streams(limits or StreamLimits()):
        await admin.ensure_stream(stream)
    for _, group in groupby(durables(), attrgetter("stream")):
        await asyncio.gather(*map(admin.ensure_durable, group))


def stream_config(spec: StreamSpec) -> dict[str, object]:
    """Return the stream's configuration for JetStream."""
    return {
        "name": spec.name,
        "subjects": list(spec.subjects),
        "retention": "workqueue" if spec.work_queue else "limits",
        "discard": "new" if spec.work_queue else "old",
        "storage": "file",
        "compression": "s2",
        "num_replicas": spec.replicas,
        "max_msgs": -1,
        "max_msgs_per_subject": spec.max_per_subject or -1,
        "discard_new_per_subject": spec.work_queue and spec.max_per_subject is not None,
        "max_bytes": spec.max_bytes,
        "max_age": spec.max_age_s * SECOND_NS,
        "max_msg_size": spec.max_message_bytes,
        "duplicate_window": spec.dedupe_window_s * SECOND_NS,
        "max_consumers": -1,
        "allow_direct": True,
        "deny_delete": spec.append_only,
        "deny_purge": spec.append_only,
    }


def durable_config(spec: DurableSpec) -> dict[str, object]:
    """Return the durable's configuration for JetStream.

    No `backoff`: it would silently replace the ack wait. No `max_deliver`: the worker moves what
    fails too often to the dead letters, so that nothing gets stuck on the server.
    """
    return {
        "name": spec.name,
        "durable_name": spec.name,
        "filter_subject": spec.filter,
        "deliver_policy": "new" if spec.from_now else "all",
        "ack_policy": "explicit",
        "ack_wait": int(spec.ack_wait_s * SECOND_NS),
        "max_deliver": -1,
        "max_ack_pending": spec.max_in_hand,
        "replay_policy": "instant",
    }
