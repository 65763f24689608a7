"""Who may do what on the bus: derived from the address book, least privilege for each service."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from shared.bus.purging import text_routes
from shared.bus.topology import DEAD_LETTERS, DEAD_ROOT
from shared.contracts import ROUTES, Exchange, Response, Route, route_of
from shared.contracts.dropin import ROOT, service_name

OPERATOR = "operator"
"""Who provisions, lists and replays: a person or a job, never a service."""
HOST = "extractor"
"""Which service reads and asks for drop-in extractors."""
DROP_IN = "dropin"
"""The key all drop-in extractors share; `dropin-<name>` is one of its own."""
INGEST = "ingest"
"""Who sends production answers in over the bus, instead of over HTTP; it can do nothing else."""
CALLS = (f"{ROOT}.>", "$SRV.PING", "$SRV.INFO", "$SRV.STATS")
"""How drop-ins are found and asked."""


@dataclass(frozen=True)
class Permissions:
    """Subjects a client may publish to and subscribe to; everything else is refused."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    never: tuple[str, ...] = ()
    """Subjects it may not publish to although a wider one is granted."""
    replies: bool = False
    """Whether it may answer whoever asked it something."""


def service_names() -> tuple[str, ...]:
    """Return every service that stands in the address book."""
    names = {name for route in ROUTES for name in (*route.producers, *route.consumers)}
    return tuple(sorted(names))


def key_names() -> list[str]:
    """Return everybody who has a key from the start."""
    return [*service_names(), OPERATOR, DROP_IN, INGEST]


def permissions_of(service: str) -> Permissions:
    """Return what one service needs: to write its records, to read and settle its own durables.

    A service may make its own durables anew (and no others), so that it recovers by itself when
    one is deleted; the filter stands in the subject, so it cannot widen what it reads.
    """
    written = [route.subjects for route in ROUTES if service in route.producers]
    read = [
        grant for route in ROUTES if service in route.consumers for grant in _read(route, service)
    ]
    dead = [f"{DEAD_ROOT}.{service}.>"] if read else []
    asks = CALLS if service == HOST else ()
    never = _of_others() if service == HOST else ()
    return Permissions(
        publish=(*written, *read, *dead, *asks, *(_drop_in_grants() if service == HOST else ())),
        subscribe=(f"_INBOX_{service}.>",),
        never=never,
    )


def drop_in_permissions(name: str) -> Permissions:
    """Return what a drop-in extractor needs: to be found, asked and to answer; no JetStream.

    `dropin` is the key all of them share; `dropin-<name>` is one extractor's own, which hears no
    question to another.
    """
    mine = name.removeprefix(DROP_IN).removeprefix("-")
    heard: tuple[str, ...]
    if not mine:
        heard = (f"{ROOT}.>", "$SRV.>")
    else:
        service = service_name(mine)
        verbs = ("PING", "INFO", "STATS")
        about = [
            f"$SRV.{verb}{end}" for verb in verbs for end in ("", f".{service}", f".{service}.*")
        ]
        heard = (f"{ROOT}.{mine}.>", *about)
    return Permissions(publish=(), subscribe=(*heard, f"_INBOX_{name}.>"), replies=True)


def ingest_permissions() -> Permissions:
    """Return what a live system needs that sends its answers in: to publish them, and hear that."""
    return Permissions(publish=(route_of(Exchange).subjects,), subscribe=(f"_INBOX_{INGEST}.>",))


def _drop_in_grants() -> tuple[str, ...]:
    """Return the durables of drop-ins, whose names nobody knows beforehand."""
    return _grants(route_of(Response), "*")


def _of_others() -> tuple[str, ...]:
    """Return the durables of the other readers of responses, which no guest may be named like."""
    route = route_of(Response)
    others = [each for each in route.consumers if each != HOST]
    return tuple(grant for each in others for grant in _grants(route, route.durable(each)))


def operator_permissions() -> Permissions:
    """Return what provisioning, the care of dead letters, and purging need.

    Records are read only where they carry texts: to purge them, one must see whose they are.
    """
    streams = [*(route.stream for route in ROUTES), DEAD_LETTERS]
    readable = [*(route.stream for route in text_routes()), DEAD_LETTERS]
    return Permissions(
        publish=(
            *(
                f"$JS.API.STREAM.{verb}.{name}"
                for name in streams
                for verb in ("CREATE", "UPDATE", "INFO")
            ),
            *(
                f"$JS.API.CONSUMER.{verb}.{name}.>"
                for name in streams
                for verb in ("CREATE", "INFO", "DELETE")
            ),
            *(f"$JS.API.STREAM.MSG.GET.{name}" for name in readable),
            *(f"$JS.API.STREAM.MSG.DELETE.{name}" for name in streams),
            *(route.subjects for route in ROUTES),
            *CALLS,
        ),
        subscribe=(f"_INBOX_{OPERATOR}.>",),
    )


def _read(route: Route, service: str) -> tuple[str, ...]:
    # A durable per lane has a name nobody knows beforehand; its stream has this one reader anyway.
    durable = "*" if route.by_lane else route.durable(service)
    return (
        *_grants(route, durable),
        *((f"$JS.API.STREAM.INFO.{route.stream}",) if route.by_lane else ()),
    )


def _grants(route: Route, durable: str) -> tuple[str, ...]:
    """Return the subjects with which one durable is made, looked at, read and settled."""
    own_filter = route.filter()
    return (
        f"$JS.API.CONSUMER.CREATE.{route.stream}.{durable}.{own_filter}",
        f"$JS.API.CONSUMER.INFO.{route.stream}.{durable}",
        f"$JS.API.CONSUMER.MSG.NEXT.{route.stream}.{durable}",
        f"$JS.ACK.{route.stream}.{durable}.>",
    )


def server_config(public_keys: Mapping[str, str]) -> str:
    """Return the `authorization` block of nats-server for these keys, by service name."""
    users = []
    for name, key in sorted(public_keys.items()):
        grants = json.dumps(_granted(_allowed(name)))
        users.append(f"  # {name}\n  {{ nkey: {key}, permissions: {grants} }}")
    return "authorization {\n users: [\n" + ",\n".join(users) + "\n ]\n}\n"


def _allowed(name: str) -> Permissions:
    if name == OPERATOR:
        return operator_permissions()
    if name == INGEST:
        return ingest_permissions()
    return drop_in_permissions(name) if name.startswith(DROP_IN) else permissions_of(name)


def _granted(allowed: Permissions) -> dict[str, object]:
    """Return permissions in the server's words; who may publish nothing is denied everything."""
    publish: dict[str, list[str]] = {"allow": list(allowed.publish)}
    if allowed.never:
        publish["deny"] = list(allowed.never)
    return {
        "publish": publish if allowed.publish else {"deny": [">"]},
        "subscribe": {"allow": list(allowed.subscribe)},
        **({"allow_responses": True} if allowed.replies else {}),
    }
