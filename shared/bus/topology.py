"""Streams and durables, derived from the routes: the same on a laptop and on a cluster."""

from dataclasses import dataclass, replace

from biaswatch.shared.bus.port import MAX_RECORD_BYTES
from biaswatch.shared.bus.stage import R, Stage
from biaswatch.shared.contracts import ROUTES, Route, route_of
from biaswatch.shared.contracts.routes import ROOT
from biaswatch.shared.errors import ConfigurationError

DAY_S = 86_400
FOR_EVER = 0
"""JetStream's word for no limit of age."""
DEAD_LETTERS = "DEAD_LETTERS"
DEAD_ROOT = "dead.v1"
DEAD_EXCHANGES = "DEAD_EXCHANGES"
"""A separate stream for invalid records from outside, so that they cannot push out the dead letters
of services."""
DEAD_EXCHANGE_ROOT = "dead_exchange.v1"
DEAD_STREAMS = (DEAD_LETTERS, DEAD_EXCHANGES)
HEADER_ALLOWANCE_BYTES = 8 * 1024
"""Allowance for headers in the maximum message size of a stream."""


@dataclass(frozen=True)
class StreamLimits:
    """How much and how long the bus keeps; the store keeps years."""

    replicas: int = 1
    """Copies of each stream: 1 on a laptop, 3 on a cluster."""
    kept_days: int = 7
    """How long records stay on the bus."""
    dead_kept_days: int = 30
    """How long dead letters stay on the bus."""
    dead_per_tenant: int = 1000
    """Maximum dead letters of one tenant's records from outside, the oldest are dropped. The stream
    has room for those of four tenants with records of maximum size."""
    stream_bytes: int = 2 * 1024**3
    """The most bytes of a stream with a record for every answer or comparison."""
    small_stream_bytes: int = 256 * 1024**2
    """The most bytes of any other stream."""
    outstanding: int = 20_000
    """The most probes of one target, or exchanges of one live system, that wait at once; the stream
    refuses more of that one, and takes the others'."""
    dedupe_window_s: int = 60
    """Time for which a repeated `<id>/<publication>` is dropped; longer than publishers retry. The
    server keeps each name in memory, about 100 bytes. Keyed writes absorb later duplicates."""


DISK_SHARE = 0.5
"""The share of a laptop's disk the bus may fill; the store and other programs need the rest."""
LEAST_STREAM_BYTES = 2 * (MAX_RECORD_BYTES + 2 * HEADER_ALLOWANCE_BYTES)
"""A smaller stream could not hold two of the largest records."""


@dataclass(frozen=True)
class StreamSpec:
    """The wanted configuration of one stream."""

    name: str
    subjects: tuple[str, ...]
    work_queue: bool
    """True if an acknowledged message is removed, and what is full refuses new ones; otherwise
    messages stay until their age limit, for every reader, and the oldest are dropped first."""
    max_per_subject: int | None
    """The most messages of one subject; a subject that is full fills no other, and pushes none of
    another out."""
    max_bytes: int
    max_age_s: int
    max_message_bytes: int
    dedupe_window_s: int
    replicas: int
    append_only: bool = False
    """True if the server refuses, for ever, to delete or purge a message."""


@dataclass(frozen=True)
class DurableSpec:
    """The wanted configuration of one durable consumer."""

    stream: str
    name: str
    filter: str
    ack_wait_s: float
    max_in_hand: int
    """The most unacknowledged records, over all replicas together."""
    from_now: bool = False
    """True if a new durable starts at the next record instead of the oldest."""
    partitions: tuple["DurableSpec", ...] = ()
    """The durables of the same stage for one partition each; this one then reads what was published
    without partition."""

    @property
    def all(self) -> tuple["DurableSpec", ...]:
        """All durables of the stage."""
        return self, *self.partitions


def streams(limits: StreamLimits) -> tuple[StreamSpec, ...]:
    """Return every stream of the platform."""
    return (
        *(_stream_of(route, limits) for route in ROUTES),
        _dead_letters(DEAD_LETTERS, DEAD_ROOT, None, limits),
        _dead_letters(DEAD_EXCHANGES, DEAD_EXCHANGE_ROOT, limits.dead_per_tenant, limits),
    )


def limits_within(free_bytes: int) -> StreamLimits:
    """Return the limits of a bus that may fill its share of this much disk.

    Raises
    ------
    ConfigurationError
        That is too little.
    """
    usual = StreamLimits()
    reserved = sum(stream.max_bytes for stream in streams(usual))
    scale = min(1.0, DISK_SHARE * free_bytes / reserved)
    small_stream_bytes = int(scale * usual.small_stream_bytes)
    if small_stream_bytes < LEAST_STREAM_BYTES:
        least = reserved * LEAST_STREAM_BYTES / usual.small_stream_bytes / DISK_SHARE
        raise ConfigurationError(
            f"The bus needs {least / 1e6:.0f} MB of disk, and has {free_bytes / 1e6:.0f} MB."
            " Free some, or choose a directory on another disk with BIASWATCH_STATE_DIR."
        )
    stream_bytes = int(scale * usual.stream_bytes)
    return replace(usual, stream_bytes=stream_bytes, small_stream_bytes=small_stream_bytes)


def _stream_of(route: Route, limits: StreamLimits) -> StreamSpec:
    return StreamSpec(
        name=route.stream,
        subjects=route.subjects,
        work_queue=route.queue,
        max_per_subject=limits.outstanding if route.queue else None,
        max_bytes=limits.stream_bytes if route.many else limits.small_stream_bytes,
        max_age_s=FOR_EVER if route.append_only else limits.kept_days * DAY_S,
        max_message_bytes=MAX_RECORD_BYTES + HEADER_ALLOWANCE_BYTES,
        dedupe_window_s=limits.dedupe_window_s,
        replicas=limits.replicas,
        append_only=route.append_only,
    )


def _dead_letters(
    name: str, root: str, max_per_subject: int | None, limits: StreamLimits
) -> StreamSpec:
    return StreamSpec(
        name=name,
        subjects=(f"{root}.>",),
        work_queue=False,
        max_per_subject=max_per_subject,
        max_bytes=limits.stream_bytes,
        max_age_s=limits.dead_kept_days * DAY_S,
        max_message_bytes=MAX_RECORD_BYTES + 2 * HEADER_ALLOWANCE_BYTES,
        dedupe_window_s=limits.dedupe_window_s,
        replicas=limits.replicas,
    )


def durable_of(stage: Stage[R]) -> DurableSpec:
    """Return the durable a stage reads, with those of its partitions."""
    route = route_of(stage.reads)
    spec = DurableSpec(
        stream=route.stream,
        name=stage.durable,
        filter=route.filter_of(stage.service, stage.lane),
        ack_wait_s=stage.ack_wait_s,
        max_in_hand=stage.most_in_hand or max(1000, stage.capacity * 16),
        from_now=stage.drop_in is not None,
    )
    return _with_partitions(spec, route, stage.service, stage.drop_in)


def durables() -> tuple[DurableSpec, ...]:
    """Return every durable that can be created in advance (those per lane cannot)."""
    return tuple(
        durable
        for route in ROUTES
        if not route.by_lane
        for consumer in route.consumers
        for durable in _in_advance(route, consumer).all
    )


def _in_advance(route: Route, consumer: str) -> DurableSpec:
    name, subjects = route.durable(consumer), route.filter_of(consumer)
    spec = DurableSpec(route.stream, name, subjects, 30, 1000)
    return _with_partitions(spec, route, consumer, None)


def _with_partitions(
    spec: DurableSpec, route: Route, consumer: str, drop_in: str | None
) -> DurableSpec:
    partitions = tuple(
        replace(
            spec,
            name=route.durable(consumer, drop_in, partition),
            filter=route.filter_of(consumer, partition=partition),
        )
        for partition in route.partitions(consumer)
    )
    return replace(spec, partitions=partitions)


def dead_subject(service: str, durable: str) -> str:
    """Return the subject of a service's dead letters."""
    return f"{DEAD_ROOT}.{service}.{durable}"


def dead_exchange_subject(service: str, durable: str, subject: str) -> str:
    """Return the subject of a dead letter that came from outside on `subject`: its tenant's."""
    tenant = subject.removeprefix(f"{ROOT}.").split(".")[1]
    return f"{DEAD_EXCHANGE_ROOT}.{service}.{durable}.{tenant}"
