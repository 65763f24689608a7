"""Who sends a request: found by a token, by a browser's session, or on the word of a proxy."""

from base64 import b64decode
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from hmac import compare_digest

from biaswatch.shared.contracts.access import (
    RIGHTS,
    Grant,
    Right,
    TokenGrant,
    TokenRole,
    TokensFile,
    verifier_of,
    verifier_of_session,
)
from biaswatch.shared.store.scope import Scope

COOKIE = "biaswatch_session"
PERSON = ("x-forwarded-email", "x-forwarded-preferred-username", "x-forwarded-user")
"""The headers in which a proxy names a person, the most telling first."""
GROUPS = "x-forwarded-groups"
MOST_CHARACTERS = 200
"""Of a name or an address that others choose."""


@dataclass(frozen=True)
class Caller:
    """Who sends a request, and what they may do."""

    name: str
    role: TokenRole | None
    """None for a person without a group that may do anything."""
    tenant: str
    texts: bool
    source: str
    """The address the request came from."""
    by_session: bool = False
    """Whether a browser's cookie tells, which it also sends with what another site makes it send;
    so a session reads pages and sends their forms, and does nothing else."""
    by_proxy: bool = False

    def may(self, right: Right) -> bool:
        """Tell whether the caller's role has a right."""
        return self.role is not None and right in RIGHTS[self.role]

    @property
    def scope(self) -> Scope:
        """What the caller sees of the store."""
        return Scope(tenant=self.tenant, texts=self.texts)


THIS_MACHINE = Caller("this machine", TokenRole.ADMIN, "default", True, "this machine")
"""Who asks a gateway without any token: everybody on its machine."""

_caller: ContextVar[Caller | None] = ContextVar("biaswatch_caller")


def set_caller(caller: Caller | None) -> None:
    """Note who sends the request that is handled from here on; None for somebody unknown."""
    _caller.set(caller)


def current_caller() -> Caller | None:
    """Return who sends the request that is being handled.

    Raises
    ------
    LookupError
        No request is being handled, or nobody has looked who sends it: a fault of the gateway.
    """
    return _caller.get()


def scope_of_caller() -> Scope:
    """Return what the store shows to the sender of the request that is being handled.

    Raises
    ------
    LookupError
        It is unknown: then nothing may be shown.
    """
    if (caller := current_caller()) is None:
        raise LookupError("The store is read for somebody unknown.")
    return caller.scope


def caller_of(
    known: TokensFile,
    headers: Mapping[str, str],
    session: str | None,
    peer: str,
    now: datetime,
    *,
    keys: bool = False,
) -> Caller | None:
    """Return who sends a request with these headers and this session; None for somebody unknown.

    A token that is given and unknown is refused, whatever the session says. With `keys` it may also
    be given as Langfuse's SDKs give theirs: the secret key of a public one.
    """
    given = headers.get("authorization", "")
    if keys and given[:6].lower() == "basic ":
        return _by_keys(known, given[6:], peer, now)
    if given:
        return _by_token(known, given.removeprefix("Bearer "), headers, peer, now)
    found = _matching(known.tokens, verifier_of_session(session), now) if session else None
    return _as_caller(found, found.name, peer, by_session=True) if found else None


def _by_token(
    known: TokensFile, token: str, headers: Mapping[str, str], peer: str, now: datetime
) -> Caller | None:
    verifier = verifier_of(token)
    if found := _matching(known.tokens, verifier, now):
        return _as_caller(found, found.name, peer)
    for proxy in known.proxies:
        if compare_digest(proxy.verifier, verifier):
            return _by_proxy(known, headers, peer)
    return None


def _by_keys(known: TokensFile, encoded: str, peer: str, now: datetime) -> Caller | None:
    """Return whose token a secret key is; the public key has to name the token or its tenant.

    So keys of one team's settings never write into the tenant of another by mistake.
    """
    try:
        public, _, secret = b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:
        return None
    found = _matching(known.tokens, verifier_of(secret), now)
    if found is None or public not in {
        found.name, found.tenant, f"{found.tenant}/{found.name}"
    }:  # fmt: skip
        return None
    return _as_caller(found, found.name, peer)


def _matching(tokens: tuple[TokenGrant, ...], verifier: str, now: datetime) -> TokenGrant | None:
    """Return the token of a verifier; as long for one that is unknown as for any other."""
    found = [each for each in tokens if compare_digest(each.verifier, verifier)]
    valid = [each for each in found if each.expires is None or now < each.expires]
    return valid[0] if valid else None


def _by_proxy(known: TokensFile, headers: Mapping[str, str], peer: str) -> Caller | None:
    name = next((short for each in PERSON if (short := _short(headers.get(each, "")))), None)
    if name is None:
        return None
    theirs = {each.strip() for each in headers.get(GROUPS, "").split(",")}
    grant = next((each for each in known.groups if each.group in theirs), None)
    behind = _short(headers.get("x-forwarded-for", "").rpartition(",")[2])
    source = f"{behind} by {peer}" if behind else peer
    if grant is None:
        return Caller(name, None, "default", texts=False, source=source, by_proxy=True)
    return _as_caller(grant, name, source, by_proxy=True)


def _as_caller(
    grant: Grant, name: str, source: str, *, by_session: bool = False, by_proxy: bool = False
) -> Caller:
    return Caller(name, grant.role, grant.tenant, grant.texts, source, by_session, by_proxy)


def _short(written: str) -> str:
    """Return what somebody else wrote as one short line."""
    return "".join(each for each in written.strip() if each.isprintable())[:MOST_CHARACTERS]
