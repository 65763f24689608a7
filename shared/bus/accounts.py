"""Accounts on the bus: one for each stream and key, as nats-server reads them."""

import json
from collections import defaultdict
from collections.abc import Mapping

from biaswatch.shared.bus.grants import PULL
from biaswatch.shared.bus.permissions import (
    DROP_IN,
    HOST,
    INGEST,
    Permissions,
    permissions_of_key,
    tenant_of_key,
)
from biaswatch.shared.bus.topology import (
    DEAD_EXCHANGE_ROOT,
    DEAD_EXCHANGES,
    DEAD_LETTERS,
    DEAD_ROOT,
    DEAD_STREAMS,
)
from biaswatch.shared.contracts import ROUTES
from biaswatch.shared.contracts.partitions import partition_of
from biaswatch.shared.contracts.routes import ROOT as RECORDS_ROOT
from biaswatch.shared.lookup import first

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
    return f".{partition_of(tenant_of_key(key))}" if key.partition("-")[0] == INGEST else ""


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
