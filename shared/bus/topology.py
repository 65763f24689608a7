"""Streams and durables, derived from the address book: the same on a laptop and on a cluster."""

from dataclasses import dataclass, replace

from shared.bus.port import MAX_RECORD_BYTES
from shared.bus.stage import R, Stage
from shared.contracts import ROUTES, Route, route_of
from shared.errors import ConfigurationError

DAY_S = 86_400
DEAD_LETTERS = "DEAD_LETTERS"
DEAD_ROOT = "dead.v1"
HEADER_ALLOWANCE_BYTES = 8 * 1024
"""What headers may add to a record before a stream refuses it."""


@dataclass(frozen=True)
class StreamLimits:
    """How much the bus keeps; the store keeps years."""

    replicas: int = 1
    """Copies of each stream: 1 on a laptop, 3 on a cluster."""
    kept_days: int = 7
    """How long records stay on the bus."""
    dead_kept_days: int = 30
    """How long dead letters wait for somebody to look at them."""
    stream_bytes: int = 2 * 1024**3
    """The most a stream holds on disk that has a record for every answer or comparison."""
    small_stream_bytes: int = 256 * 1024**2
    """The most any other stream holds on disk."""
    outstanding: int = 20_000
    """The most probes, or exchanges, that wait at once; who sends more is held back."""
    dedupe_window_s: int = 600
    """How long a repeated `<id>/<publication>` is recognised and dropped."""


SHARE = 0.5
"""How much of a laptop's disk the bus may fill; the store and everybody else need the rest."""
LEAST_STREAM_BYTES = 2 * (MAX_RECORD_BYTES + 2 * HEADER_ALLOWANCE_BYTES)
"""A smaller stream could not hold two of the largest records."""


@dataclass(frozen=True)
class StreamSpec:
    """One stream as it shall be."""

    name: str
    subjects: tuple[str, ...]
    work_queue: bool
    """A message leaves once it is settled, and a full stream refuses new ones; otherwise messages
    stay for their time, for every reader, and the oldest make room."""
    max_messages: int | None
    max_bytes: int
    max_age_s: int
    max_message_bytes: int
    dedupe_window_s: int
    replicas: int


@dataclass(frozen=True)
class DurableSpec:
    """One durable consumer as it shall be."""

    stream: str
    name: str
    filter: str
    ack_wait_s: float
    max_in_hand: int
    """Over all replicas together: a consumer-wide bound."""
    from_now: bool = False
    """Whether a new one begins with the next record instead of the oldest."""


def streams(sizes: StreamLimits) -> tuple[StreamSpec, ...]:
    """Return every stream of the platform."""
    return (*(_stream_of(route, sizes) for route in ROUTES), _dead_letters(sizes))


def limits_within(room_bytes: int) -> StreamLimits:
    """Return the sizes of a bus that may fill its share of this much disk, and no more.

    Raises
    ------
    ConfigurationError
        That is too little for any bus.
    """
    usual = StreamLimits()
    reserved = sum(stream.max_bytes for stream in streams(usual))
    scale = min(1.0, SHARE * room_bytes / reserved)
    small_stream_bytes = int(scale * usual.small_stream_bytes)
    if small_stream_bytes < LEAST_STREAM_BYTES:
        least = reserved * LEAST_STREAM_BYTES / usual.small_stream_bytes / SHARE
        raise ConfigurationError(
            f"The bus needs {least / 1e6:.0f} MB of disk, and has {room_bytes / 1e6:.0f} MB."
            " Free some, or choose a directory on another disk with BIASWATCH_STATE_DIR."
        )
    stream_bytes = int(scale * usual.stream_bytes)
    return replace(usual, stream_bytes=stream_bytes, small_stream_bytes=small_stream_bytes)


def _stream_of(route: Route, sizes: StreamLimits) -> StreamSpec:
    return StreamSpec(
        name=route.stream,
        subjects=(route.subjects,),
        work_queue=route.queue,
        max_messages=sizes.outstanding if route.queue else None,
        max_bytes=sizes.stream_bytes if route.many else sizes.small_stream_bytes,
        max_age_s=sizes.kept_days * DAY_S,
        max_message_bytes=MAX_RECORD_BYTES + HEADER_ALLOWANCE_BYTES,
        dedupe_window_s=sizes.dedupe_window_s,
        replicas=sizes.replicas,
    )


def _dead_letters(sizes: StreamLimits) -> StreamSpec:
    return StreamSpec(
        name=DEAD_LETTERS,
        subjects=(f"{DEAD_ROOT}.>",),
        work_queue=False,
        max_messages=None,
        max_bytes=sizes.stream_bytes,
        max_age_s=sizes.dead_kept_days * DAY_S,
        max_message_bytes=MAX_RECORD_BYTES + 2 * HEADER_ALLOWANCE_BYTES,
        dedupe_window_s=sizes.dedupe_window_s,
        replicas=sizes.replicas,
    )


def durable_of(stage: Stage[R]) -> DurableSpec:
    """Return the durable a stage reads."""
    route = route_of(stage.reads)
    return DurableSpec(
        stream=route.stream,
        name=stage.durable,
        filter=route.filter(stage.lane),
        ack_wait_s=stage.ack_wait_s,
        max_in_hand=stage.most_in_hand or max(1000, stage.capacity * 16),
        from_now=stage.drop_in is not None,
    )


def durables() -> tuple[DurableSpec, ...]:
    """Return every durable that can exist before its reader does (those per lane cannot)."""
    return tuple(
        DurableSpec(route.stream, route.durable(consumer), route.filter(), 30, 1000)
        for route in ROUTES
        if not route.by_lane
        for consumer in route.consumers
    )


def dead_subject(service: str, durable: str) -> str:
    """Return the subject of a service's dead letters."""
    return f"{DEAD_ROOT}.{service}.{durable}"
