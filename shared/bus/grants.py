"""Subjects on which a service creates, reads and settles its durables."""

from biaswatch.shared.contracts import Route

CREATE = "$JS.API.CONSUMER.CREATE"
"""The subject on which a durable is created, without stream, durable and filter."""
PULL = "$JS.API.CONSUMER.MSG.NEXT"
"""The subject on which a durable is read, without stream and durable."""


def reading(route: Route, service: str) -> tuple[str, ...]:
    """Return the subjects to create, inspect, read and acknowledge all durables of a service."""
    if route.by_lane:  # the names are not known beforehand, and the stream has this one reader
        return *grants(route, service, "*", None), f"$JS.API.STREAM.INFO.{route.stream}"
    return tuple(
        grant
        for number in (None, *route.partitions(service))
        for grant in grants(route, service, route.durable(service, partition=number), number)
    )


def following(route: Route) -> tuple[str, ...]:
    """Return the subjects to see how far the consumers of a stream are."""
    durables = [name for consumer in route.consumers for name in route.durables(consumer)]
    return (
        f"$JS.API.STREAM.INFO.{route.stream}",
        *(f"$JS.API.CONSUMER.INFO.{route.stream}.{durable}" for durable in durables),
    )


def grants(route: Route, service: str, durable: str, partition: str | None) -> tuple[str, ...]:
    """Return the subjects to create, inspect, read and acknowledge one durable."""
    subjects = route.filter_of(service, partition=partition)
    return f"{CREATE}.{route.stream}.{durable}.{subjects}", *settling(route, durable)


def settling(route: Route, durable: str) -> tuple[str, ...]:
    """Return the subjects to inspect, read and acknowledge one durable."""
    return (
        f"$JS.API.CONSUMER.INFO.{route.stream}.{durable}",
        f"{PULL}.{route.stream}.{durable}",
        f"$JS.ACK.{route.stream}.{durable}.>",
    )
