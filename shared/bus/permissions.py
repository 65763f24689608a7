"""Who may do what on the bus: derived from the address book, least privilege for each service."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from shared.bus.purging import text_routes
from shared.bus.topology import DEAD_LETTERS, DEAD_ROOT
from shared.contracts import ROUTES, Route

OPERATOR = "operator"
"""Who provisions, lists and replays: a person or a job, never a service."""


@dataclass(frozen=True)
class Permissions:
    """Subjects a client may publish to and subscribe to; everything else is refused."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def services() -> tuple[str, ...]:
    """Give every service that stands in the address book."""
    names = {name for route in ROUTES for name in (*route.producers, *route.consumers)}
    return tuple(sorted(names))


def permissions_of(service: str) -> Permissions:
    """Give what one service needs: to write its records, to read and settle its own durables.

    A service may make its own durables anew (and no others), so that it recovers by itself when
    one is deleted; the filter stands in the subject, so it cannot widen what it reads.
    """
    written = [route.subjects for route in ROUTES if service in route.producers]
    read = [
        grant for route in ROUTES if service in route.consumers for grant in _read(route, service)
    ]
    dead = [f"{DEAD_ROOT}.{service}.>"] if read else []
    return Permissions(publish=(*written, *read, *dead), subscribe=(f"_INBOX_{service}.>",))


def operator_permissions() -> Permissions:
    """Give what provisioning, the care of dead letters, and purging need.

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
        ),
        subscribe=(f"_INBOX_{OPERATOR}.>",),
    )


def _read(route: Route, service: str) -> tuple[str, ...]:
    # A durable per lane has a name nobody knows beforehand; its stream has this one reader anyway.
    durable = "*" if route.by_lane else route.durable(service)
    own_filter = route.filter()
    return (
        f"$JS.API.CONSUMER.CREATE.{route.stream}.{durable}.{own_filter}",
        f"$JS.API.CONSUMER.INFO.{route.stream}.{durable}",
        f"$JS.API.CONSUMER.MSG.NEXT.{route.stream}.{durable}",
        f"$JS.ACK.{route.stream}.{durable}.>",
        *((f"$JS.API.STREAM.INFO.{route.stream}",) if route.by_lane else ()),
    )


def server_config(public_keys: Mapping[str, str]) -> str:
    """Give the `authorization` block of nats-server for these keys, by service name."""
    users = []
    for name, key in sorted(public_keys.items()):
        allowed = operator_permissions() if name == OPERATOR else permissions_of(name)
        grants = {
            "publish": {"allow": list(allowed.publish)},
            "subscribe": {"allow": list(allowed.subscribe)},
        }
        users.append(f"  # {name}\n  {{ nkey: {key}, permissions: {json.dumps(grants)} }}")
    return "authorization {\n users: [\n" + ",\n".join(users) + "\n ]\n}\n"
