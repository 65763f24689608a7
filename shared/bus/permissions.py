"""Permissions on the bus, derived from the routes: least privilege for each service."""

from dataclasses import dataclass

from biaswatch.shared.bus.grants import CREATE, following, grants, reading, settling
from biaswatch.shared.bus.purging import text_routes
from biaswatch.shared.bus.topology import DEAD_EXCHANGE_ROOT, DEAD_ROOT, DEAD_STREAMS
from biaswatch.shared.contracts import ROUTES, Exchange, Purpose, Response, route_of
from biaswatch.shared.contracts.dropin import ROOT as DROP_IN_ROOT
from biaswatch.shared.contracts.dropin import service_name
from biaswatch.shared.contracts.identity import DEFAULT_TENANT
from biaswatch.shared.contracts.partitions import EVERY_PARTITION

OPERATOR = "operator"
"""The key of a person or a job that provisions, lists and replays; never a service."""
HOST = "extractor"
"""The service that reads records for drop-in extractors and calls them."""
DROP_IN = "dropin"
"""The key that all drop-in extractors share; `dropin-<name>` belongs to one alone."""
INGEST = "ingest"
"""The key of a system that sends production answers over the bus, and can do nothing else: those of
the first tenant; `ingest-<tenant>` is for those of another."""
CALLS = (f"{DROP_IN_ROOT}.>", "$SRV.PING", "$SRV.INFO", "$SRV.STATS")
"""The subjects on which drop-ins are discovered and called."""


@dataclass(frozen=True)
class Permissions:
    """Subjects a client may publish to and subscribe to; everything else is refused."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    deny: tuple[str, ...] = ()
    """Subjects it may not publish to although a wider grant covers them."""
    replies: bool = False
    """True if it may publish on the reply subject of a request."""


def service_names() -> tuple[str, ...]:
    """Return every service that a route names."""
    names = {name for route in ROUTES for name in (*route.producers, *route.consumers)}
    return tuple(sorted(names))


def key_names() -> list[str]:
    """Return the names that get a key from the start."""
    return [*service_names(), OPERATOR, DROP_IN, INGEST]


def permissions_of(service: str) -> Permissions:
    """Return what one service needs: publish its records, read and acknowledge its durables.

    A service may recreate its own durables only, so that it recovers when one is deleted.
    The filter is part of the subject, so a service cannot widen what it reads.
    """
    written = [
        subject for route in ROUTES if service in route.producers for subject in route.subjects
    ]
    read = [
        grant for route in ROUTES if service in route.consumers for grant in reading(route, service)
    ]
    read += [grant for route in ROUTES if service in route.followers for grant in following(route)]
    dead = [f"{DEAD_ROOT}.{service}.>"] if read else []
    dead += [
        f"{DEAD_EXCHANGE_ROOT}.{service}.{route.durable(service)}.*"
        for route in ROUTES
        if route.from_outside and service in route.consumers
    ]
    if service == HOST:
        own = reading(route_of(Response), HOST)
        read = [*(grant for grant in read if grant not in own), *_of_drop_ins()]
    return Permissions(
        publish=tuple(dict.fromkeys((*written, *read, *dead))),
        subscribe=(f"_INBOX_{service}.>",),
        deny=_of_others() if service == HOST else (),
    )


def _of_drop_ins() -> tuple[str, ...]:
    """Return what calling drop-ins needs: the names of their durables are not known in advance."""
    route = route_of(Response)
    partitions = f"{CREATE}.{route.stream}.*.{route.filter_of(HOST, None, EVERY_PARTITION)}"
    return *CALLS, *grants(route, HOST, "*", None), partitions


def _of_others() -> tuple[str, ...]:
    """Return the grants of drop-ins that would cover a durable of another service."""
    route = route_of(Response)
    names = [name for other in route.consumers if other != HOST for name in route.durables(other)]
    filters = (route.filter_of(HOST), route.filter_of(HOST, None, EVERY_PARTITION))
    creating = (
        f"{CREATE}.{route.stream}.{name}.{subjects}" for name in names for subjects in filters
    )
    return *creating, *(grant for name in names for grant in settling(route, name))


def drop_in_permissions(name: str) -> Permissions:
    """Return what a drop-in extractor needs: discovery, calls and replies; no JetStream.

    `dropin-<name>` is one extractor's own key, which receives no call to another.
    """
    suffix = name.removeprefix(DROP_IN).removeprefix("-")
    subscribed: tuple[str, ...]
    if not suffix:
        subscribed = (f"{DROP_IN_ROOT}.>", "$SRV.>")
        info_of_others = "$SRV.INFO.*"
    else:
        service = service_name(suffix)
        verbs = ("PING", "INFO", "STATS")
        about = [
            f"$SRV.{verb}{end}" for verb in verbs for end in ("", f".{service}", f".{service}.*")
        ]
        subscribed = (f"{DROP_IN_ROOT}.{suffix}.>", *about, f"_INBOX_{DROP_IN}.{suffix}.>")
        info_of_others = f"$SRV.INFO.{service}"
    return Permissions(
        # For checking whether another drop-in of the same name runs.
        publish=(info_of_others,),
        subscribe=(*subscribed, f"_INBOX_{name}.>"),
        replies=True,
    )


def ingest_permissions(name: str) -> Permissions:
    """Return what a live system needs to send its tenant's answers: publish, read the replies."""
    subject = route_of(Exchange).filter(tenant=tenant_of_key(name), purpose=Purpose.PRODUCTION)
    return Permissions(publish=(subject,), subscribe=(f"_INBOX_{name}.>",))


def tenant_of_key(ingest: str) -> str:
    """Return the tenant whose answers the key of a live system sends."""
    return ingest.removeprefix(INGEST).removeprefix("-") or DEFAULT_TENANT


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
            *(subject for route in ROUTES for subject in route.subjects),
            *CALLS,
        ),
        subscribe=(f"_INBOX_{OPERATOR}.>",),
    )


def permissions_of_key(name: str) -> Permissions:
    """Return what the key of this name may do: a service's, the operator's, another's."""
    if name == OPERATOR:
        return operator_permissions()
    if name.partition("-")[0] == INGEST:
        return ingest_permissions(name)
    return drop_in_permissions(name) if name.startswith(DROP_IN) else permissions_of(name)
