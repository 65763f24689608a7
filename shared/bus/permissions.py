"""Permissions on the bus, derived from the routes: least privilege for each service."""

from dataclasses import dataclass

from biaswatch.shared.bus.dead_letters import text_routes
from biaswatch.shared.bus.topology import DEAD_EXCHANGE_ROOT, DEAD_ROOT, DEAD_STREAMS
from biaswatch.shared.contracts import ROUTES, Exchange, Purpose, Response, Route, route_of
from biaswatch.shared.contracts.dropin import ROOT, service_name

OPERATOR = "operator"
"""The key of a person or a job that provisions, lists and replays; never a service."""
HOST = "extractor"
"""The service that reads records for drop-in extractors and calls them."""
DROP_IN = "dropin"
"""The key that all drop-in extractors share; `dropin-<name>` belongs to one alone."""
INGEST = "ingest"
"""The key of a system that sends production answers over the bus, and can do nothing else: those of
the first tenant; `ingest-<tenant>` is for those of another."""
FIRST_TENANT = "default"
CALLS = (f"{ROOT}.>", "$SRV.PING", "$SRV.INFO", "$SRV.STATS")
"""The subjects on which drop-ins are discovered and called."""

PULL = "$JS.API.CONSUMER.MSG.NEXT"
"""The subject on which a durable is read, without stream and durable."""


@dataclass(frozen=True)
class Permissions:
    """Subjects a client may publish to and subscribe to; everything else is refused."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    deny: tuple[str, ...] = ()
    """Subjects it may not publish to although a wider grant covers them."""
    replies: bool = False
    """Whether it may publish on the reply subject of a request."""


def service_names() -> tuple[str, ...]:
    """Return every service that a route names."""
    names = {name for route in ROUTES for name in (*route.producers, *route.consumers)}
    return tuple(sorted(names))


def key_names() -> list[str]:
    """Return the names that get a key from the start."""
    return [*service_names(), OPERATOR, DROP_IN, INGEST]


def permissions_of(service: str) -> Permissions:
    """Return what one service needs: publish its records, read and acknowledge its durables.

    A service may recreate its own durables and no others, so that it recovers when one is deleted.
    The filter is part of the subject, so a service cannot widen what it reads.
    """
    written = [route.subjects for route in ROUTES if service in route.producers]
    read = [
        grant for route in ROUTES if service in route.consumers for grant in _read(route, service)
    ]
    read += [grant for route in ROUTES if service in route.followers for grant in _followed(route)]
    dead = [f"{DEAD_ROOT}.{service}.>"] if read else []
    dead += [
        f"{DEAD_EXCHANGE_ROOT}.{service}.{route.durable(service)}.*"
        for route in ROUTES
        if route.from_outside and service in route.consumers
    ]
    deny: tuple[str, ...] = ()
    if service == HOST:
        # Drop-ins' durables have names that are not known beforehand; none may be a reader's.
        route = route_of(Response)
        others = [route.durable(each) for each in route.consumers if each != HOST]
        deny = tuple(grant for durable in others for grant in _grants(route, HOST, durable))
        # What is granted twice would be asked twice.
        own = _grants(route, HOST, route.durable(HOST))
        read = [*CALLS, *(each for each in read if each not in own), *_grants(route, HOST, "*")]
    return Permissions(
        publish=(*written, *read, *dead), subscribe=(f"_INBOX_{service}.>",), deny=deny
    )


def drop_in_permissions(name: str) -> Permissions:
    """Return what a drop-in extractor needs: discovery, calls and replies; no JetStream.

    `dropin-<name>` is one extractor's own key, which receives no call to another.
    """
    mine = name.removeprefix(DROP_IN).removeprefix("-")
    subscribed: tuple[str, ...]
    if not mine:
        subscribed = (f"{ROOT}.>", "$SRV.>")
        others = "$SRV.INFO.*"
    else:
        service = service_name(mine)
        verbs = ("PING", "INFO", "STATS")
        about = [
            f"$SRV.{verb}{end}" for verb in verbs for end in ("", f".{service}", f".{service}.*")
        ]
        subscribed = (f"{ROOT}.{mine}.>", *about, f"_INBOX_{DROP_IN}.{mine}.>")
        others = f"$SRV.INFO.{service}"
    return Permissions(
        # It looks whether another of its name runs, and would be mixed with it.
        publish=(others,),
        subscribe=(*subscribed, f"_INBOX_{name}.>"),
        replies=True,
    )


def ingest_permissions(name: str) -> Permissions:
    """Return what a live system needs to send its tenant's answers: publish, read the replies."""
    tenant = name.removeprefix(INGEST).removeprefix("-") or FIRST_TENANT
    mine = route_of(Exchange).filter(tenant=tenant, purpose=Purpose.PRODUCTION)
    return Permissions(publish=(mine,), subscribe=(f"_INBOX_{name}.>",))


def operator_permissions() -> Permissions:
    """Return what provisioning, dead letters and purging need.

    The operator reads only records that carry texts, since a purge must see whose they are, and
    the anchors of the audit trail, which it may not remove.
    """
    streams = [*(route.stream for route in ROUTES), *DEAD_STREAMS]
    kept = [route.stream for route in ROUTES if route.append_only]
    readable = [*(route.stream for route in text_routes()), *kept, *DEAD_STREAMS]
    verbs = [f"STREAM.{verb}.{{}}" for verb in ("CREATE", "UPDATE", "INFO")]
    verbs += [f"CONSUMER.{verb}.{{}}.>" for verb in ("CREATE", "INFO", "DELETE")]
    return Permissions(
        publish=(
            *(f"$JS.API.{verb.format(name)}" for verb in verbs for name in streams),
            *(f"$JS.API.STREAM.MSG.GET.{name}" for name in readable),
            *(f"$JS.API.STREAM.MSG.DELETE.{name}" for name in streams if name not in kept),
            *(route.subjects for route in ROUTES),
            *CALLS,
        ),
        subscribe=(f"_INBOX_{OPERATOR}.>",),
    )


def _read(route: Route, service: str) -> tuple[str, ...]:
    # The names of lanes' durables are not known beforehand; the stream has this one reader.
    durable = "*" if route.by_lane else route.durable(service)
    return (
        *_grants(route, service, durable),
        *((f"$JS.API.STREAM.INFO.{route.stream}",) if route.by_lane else ()),
    )


def _followed(route: Route) -> tuple[str, ...]:
    """Return the subjects to see how far the consumers of a stream are."""
    durables = [route.durable(consumer) for consumer in route.consumers]
    return (
        f"$JS.API.STREAM.INFO.{route.stream}",
        *(f"$JS.API.CONSUMER.INFO.{route.stream}.{durable}" for durable in durables),
    )


def _grants(route: Route, service: str, durable: str) -> tuple[str, ...]:
    """Return the subjects to create, inspect, read and acknowledge one durable."""
    return (
        f"$JS.API.CONSUMER.CREATE.{route.stream}.{durable}.{route.filter_of(service)}",
        f"$JS.API.CONSUMER.INFO.{route.stream}.{durable}",
        f"{PULL}.{route.stream}.{durable}",
        f"$JS.ACK.{route.stream}.{durable}.>",
    )


def permissions_of_key(name: str) -> Permissions:
    """Return what the key of this name may do: a service's, the operator's, another's."""
    if name == OPERATOR:
        return operator_permissions()
    if name.partition("-")[0] == INGEST:
        return ingest_permissions(name)
    return drop_in_permissions(name) if name.startswith(DROP_IN) else permissions_of(name)
