"""Permissions on the bus, derived from the routes: least privilege for each service."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from biaswatch.shared.bus.grants import CREATE, PULL, following, grants, reading, settling
from biaswatch.shared.bus.purging import text_routes
from biaswatch.shared.bus.topology import (
    DEAD_EXCHANGE_ROOT,
    DEAD_EXCHANGES,
    DEAD_LETTERS,
    DEAD_ROOT,
    DEAD_STREAMS,
)
from biaswatch.shared.contracts import ROUTES, Exchange, Purpose, Response, route_of
from biaswatch.shared.contracts.dropin import ROOT as DROP_IN_ROOT
from biaswatch.shared.contracts.dropin import service_name
from biaswatch.shared.contracts.identity import DEFAULT_TENANT
from biaswatch.shared.contracts.partitions import EVERY_PARTITION, partition_of
from biaswatch.shared.contracts.routes import ROOT as RECORDS_ROOT
from biaswatch.shared.lookup import first

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
    subject = route_of(Exchange).filter(tenant=_tenant_of(name), purpose=Purpose.PRODUCTION)
    return Permissions(publish=(subject,), subscribe=(f"_INBOX_{name}.>",))


def _tenant_of(ingest: str) -> str:
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


STREAMS = (*(route.stream for route in ROUTES), *DEAD_STREAMS)
STREAM_OF = {f"{RECORDS_ROOT}.{route.record.kind}": route.stream for route in ROUTES}
JETSTREAM_API = "$JS.API.>"
NO_SERVICE = "NO_SERVICE"
"""An account without streams or keys. The server gives each account the JetStream API of its own,
which would refuse every request before the stream's account could answer it. Importing that API
from here takes its place, so that the stream's account alone answers."""
REPLIES_S = 30
"""How long the server keeps the way back of a request with several replies; a pull takes 10 s."""

Granted = dict[str, dict[str, list[str]]]
"""For each account that serves: the subjects it serves, and the accounts that may use each."""


def server_config(public_keys: Mapping[str, str]) -> str:
    """Return the `accounts` block of nats-server for these keys, by name."""
    users: dict[str, list[dict[str, object]]] = defaultdict(list)
    for name, key in sorted(public_keys.items()):
        permissions = _as_config(permissions_of_key(name))
        users[account_of(name)].append({"nkey": key, "permissions": permissions})
    granted = _granted(public_keys)
    accounts: dict[str, dict[str, object]] = {NO_SERVICE: {"exports": [{"service": "none.>"}]}}
    for name in (*STREAMS, *users):
        exports = [_export(subject, to) for subject, to in granted.get(name, {}).items()]
        account: dict[str, object] = {"jetstream": "enabled"} if name in STREAMS else {}
        if name in users:
            account |= {"users": users[name], "imports": _imports(name, granted)}
        accounts[name] = account | ({"exports": exports} if exports else {})
    lines = [f" {name}: {json.dumps(account)}" for name, account in accounts.items()]
    return "accounts {\n" + "\n".join(lines) + "\n}\n"


def account_of(key: str) -> str:
    """Return the account of a key: drop-ins share that of the service that calls them."""
    return HOST if key.startswith(DROP_IN) else key


def owner_of(subject: str) -> str:
    """Return the account that serves a subject: a stream's, or that of the drop-ins."""
    words = subject.split(".")
    if words[0] == "$JS":
        return first((word for word in words if word in STREAMS), f"No stream has {subject}.")
    if subject.startswith(f"{DEAD_ROOT}."):
        return DEAD_LETTERS
    if subject.startswith(f"{DEAD_EXCHANGE_ROOT}."):
        return DEAD_EXCHANGES
    return STREAM_OF.get(".".join(words[:3]), HOST)


def _granted(keys: Mapping[str, str]) -> Granted:
    granted: Granted = defaultdict(lambda: defaultdict(list))
    for name in sorted(keys):
        for subject in permissions_of_key(name).publish:
            if (owner := owner_of(subject)) != account_of(name) and _exists(owner, keys):
                granted[owner][f"{subject}{_partition(name)}"].append(account_of(name))
    return granted


def _exists(owner: str, keys: Mapping[str, str]) -> bool:
    return owner in STREAMS or owner in map(account_of, keys)


def _export(subject: str, accounts: list[str]) -> dict[str, object]:
    export: dict[str, object] = {"service": subject, "accounts": accounts}
    if subject.startswith((PULL, "$SRV.")):
        export |= {"response_type": "stream", "response_threshold": f"{REPLIES_S}s"}
    return export


def _imports(name: str, granted: Granted) -> list[dict[str, object]]:
    none = {"account": NO_SERVICE, "subject": "none.>"}
    imports: list[dict[str, object]] = [{"service": none, "to": JETSTREAM_API}]
    for owner, subjects in granted.items():
        for subject, accounts in subjects.items():
            if name in accounts:
                service = {"account": owner, "subject": subject}
                published = subject.removesuffix(_partition(name))
                imports.append(
                    {"service": service, **({"to": published} if published != subject else {})}
                )
    return imports


def _partition(key: str) -> str:
    """Return what the server adds to the subjects of a live system, which knows no partitions."""
    return f".{partition_of(_tenant_of(key))}" if key.partition("-")[0] == INGEST else ""


def _as_config(allowed: Permissions) -> dict[str, object]:
    """Return the permissions in nats-server's format; no grant to publish means deny all."""
    publish: dict[str, list[str]] = {"allow": list(allowed.publish)}
    if allowed.deny:
        publish["deny"] = list(allowed.deny)
    return {
        "publish": publish if allowed.publish else {"deny": [">"]},
        "subscribe": {"allow": list(allowed.subscribe)},
        **({"allow_responses": True} if allowed.replies else {}),
    }
