"""Callers: identified by a token, a browser session, or a trusted proxy."""

from base64 import b64decode
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from hmac import compare_digest
from pathlib import Path

from pydantic import SecretStr

from biaswatch.services.gateway.settings import GatewaySettings
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
from biaswatch.shared.errors import ConfigurationError, UsageError
from biaswatch.shared.files import checked, read_text, yaml_mapping
from biaswatch.shared.store.database import Scope
from biaswatch.shared.telemetry import TOKENS_FILE_WRONG, log

COOKIE = "biaswatch_session"
PERSON_HEADERS = ("x-forwarded-email", "x-forwarded-preferred-username", "x-forwarded-user")
"""Headers of a proxy that name a person, the most specific first."""
GROUPS_HEADER = "x-forwarded-groups"
MAX_NAME_CHARACTERS = 200
"""Length to which names and addresses from outside are cut."""
TOKENS_FILE_FORM = "a tokens file is a mapping with `tokens`, `proxies` or `groups`"
Signature = tuple[int, int, int]
"""Inode, time of modification and size of a file."""


@dataclass(frozen=True)
class Caller:
    """The sender of a request, and what they may do."""

    name: str
    role: TokenRole | None
    """None if no group of the person has a role."""
    tenant: str
    texts: bool
    source: str
    """The address the request came from."""
    by_session: bool = False
    """True if a cookie identifies the caller. Browsers send it with requests that other sites
    cause, so a session only reads pages and sends their forms."""
    by_proxy: bool = False

    def may(self, right: Right) -> bool:
        """Return whether the caller's role has a right."""
        return self.role is not None and right in RIGHTS[self.role]

    @property
    def scope(self) -> Scope:
        """The part of the store that the caller sees."""
        return Scope(tenant=self.tenant, texts=self.texts)


@dataclass(frozen=True)
class Identity:
    """A person or program that a proxy or an issuer has signed in."""

    name: str
    groups: frozenset[str]
    via: str
    """The host that signed them in."""


THIS_MACHINE = Caller("this machine", TokenRole.ADMIN, "default", True, "this machine")
"""The caller of a gateway without tokens, which serves its own machine only."""

_caller: ContextVar[Caller | None] = ContextVar("biaswatch_caller")


def set_caller(caller: Caller | None) -> None:
    """Set the caller of the current request; None for an unknown one."""
    _caller.set(caller)


def current_caller() -> Caller | None:
    """Return the caller of the current request.

    Raises
    ------
    LookupError
        No request is being handled, or its caller was never set: a fault of the gateway.
    """
    return _caller.get()


def caller_scope() -> Scope:
    """Return the part of the store that the caller of the current request sees.

    Raises
    ------
    LookupError
        The caller is unknown and must see nothing.
    """
    if (caller := current_caller()) is None:
        raise LookupError("The store is read for an unknown caller.")
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
    """Return the caller of a request; None for an unknown one.

    An unknown token is refused whatever the session is. With `keys`, the token may also be the
    secret key of a Langfuse key pair.
    """
    authorization = headers.get("authorization", "")
    if keys and authorization[:6].lower() == "basic ":
        return _by_keys(known, authorization[6:], peer, now)
    if authorization:
        return _by_token(known, authorization.removeprefix("Bearer "), headers, peer, now)
    grant = _valid_grant(known.tokens, verifier_of_session(session), now) if session else None
    return _caller_with(grant, grant.name, peer, by_session=True) if grant else None


def _by_token(
    known: TokensFile, token: str, headers: Mapping[str, str], peer: str, now: datetime
) -> Caller | None:
    verifier = verifier_of(token)
    if grant := _valid_grant(known.tokens, verifier, now):
        return _caller_with(grant, grant.name, peer)
    if any(compare_digest(proxy.verifier, verifier) for proxy in known.proxies):
        return _by_proxy(known, headers, peer)
    return None


def _by_keys(known: TokensFile, encoded: str, peer: str, now: datetime) -> Caller | None:
    """Return the caller of a key pair; the public key must name the token or its tenant.

    Swapped settings of two teams therefore never write into the wrong tenant.
    """
    try:
        public, _, secret = b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:
        return None
    grant = _valid_grant(known.tokens, verifier_of(secret), now)
    if grant is None:
        return None
    names = {grant.name, grant.tenant, f"{grant.tenant}/{grant.name}"}
    return _caller_with(grant, grant.name, peer) if public in names else None


def _valid_grant(grants: tuple[TokenGrant, ...], verifier: str, now: datetime) -> TokenGrant | None:
    """Return the unexpired grant of a verifier, in time independent of the verifier."""
    matches = [grant for grant in grants if compare_digest(grant.verifier, verifier)]
    valid = [grant for grant in matches if grant.expires is None or now < grant.expires]
    return valid[0] if valid else None


def _by_proxy(known: TokensFile, headers: Mapping[str, str], peer: str) -> Caller | None:
    names = [_one_line(headers.get(header, "")) for header in PERSON_HEADERS]
    name = next(filter(None, names), None)
    if name is None:
        return None
    groups = frozenset(group.strip() for group in headers.get(GROUPS_HEADER, "").split(","))
    client = _one_line(headers.get("x-forwarded-for", "").rpartition(",")[2])
    if client:
        return caller_of_identity(known, Identity(name, groups, peer), client, by_proxy=True)
    return caller_of_identity(known, Identity(name, groups, ""), peer, by_proxy=True)


def caller_of_identity(
    known: TokensFile,
    identity: Identity,
    peer: str,
    *,
    by_session: bool = False,
    by_proxy: bool = False,
) -> Caller:
    """Return the caller with the rights of the first group in the file that they are in."""
    grant = next((grant for grant in known.groups if grant.group in identity.groups), None)
    name, source = _one_line(identity.name), f"{peer} by {identity.via}" if identity.via else peer
    if grant is None:
        return Caller(name, None, "default", False, source, by_session, by_proxy)
    return _caller_with(grant, name, source, by_session=by_session, by_proxy=by_proxy)


def _caller_with(
    grant: Grant, name: str, source: str, *, by_session: bool = False, by_proxy: bool = False
) -> Caller:
    return Caller(name, grant.role, grant.tenant, grant.texts, source, by_session, by_proxy)


def _one_line(text: str) -> str:
    """Return the printable characters of a text, cut to a maximum length."""
    return "".join(filter(str.isprintable, text.strip()))[:MAX_NAME_CHARACTERS]


class KnownTokens:
    """Tokens of the settings and of the tokens file, which takes effect when it changes."""

    def __init__(self, settings: GatewaySettings, *, now: Callable[[], datetime]) -> None:
        self.now = now
        self.needed = settings.guarded
        """True if requests need a token."""
        self._path = settings.gateway_tokens_file
        self._of_settings = tokens_of_settings(settings)
        self._signature = self._read_signature()
        self._tokens = self._read()

    def current(self) -> TokensFile:
        """Return the tokens that are valid now.

        A file that is unreadable or wrong changes nothing: the previous tokens stay, and the log
        and a metric report it until it is corrected.
        """
        signature = self._read_signature()
        if signature != self._signature:
            self._signature = signature
            try:
                self._tokens = self._read()
                TOKENS_FILE_WRONG.set(0)
                log("gateway").info("the tokens file was read again", path=str(self._path))
            except (ConfigurationError, UsageError) as error:
                TOKENS_FILE_WRONG.set(1)
                log("gateway").error(
                    "the tokens file is wrong, and the tokens before it stay", why=str(error)
                )
        return self._tokens

    def _read_signature(self) -> Signature | None:
        """Return values that change with the file; None without a file."""
        if self._path is None:
            return None
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _read(self) -> TokensFile:
        file = TokensFile() if self._path is None else read_tokens_file(self._path)
        tokens = (*self._of_settings, *file.tokens)
        return TokensFile.model_construct(tokens=tokens, proxies=file.proxies, groups=file.groups)


def read_tokens_file(path: Path) -> TokensFile:
    """Return the content of a tokens file.

    Raises
    ------
    ConfigurationError
        It cannot be read, or is wrong; the message names the place.
    """
    text = read_text(path, "tokens file", ConfigurationError)
    fields = yaml_mapping(text, path, TOKENS_FILE_FORM, ConfigurationError)
    return checked(TokensFile, fields, path, ConfigurationError)


def tokens_of_settings(settings: GatewaySettings) -> tuple[TokenGrant, ...]:
    """Return the tokens of single settings, which belong to the tenant `default`."""
    # If one text is the token of several roles, the role with most rights comes first.
    secrets: list[tuple[str, TokenRole, SecretStr | None]] = [
        ("run", TokenRole.RUN, settings.gateway_run_token),
        ("operator", TokenRole.RUN, settings.gateway_operator_token),
        ("read", TokenRole.READ, settings.gateway_read_token),
        ("ingest", TokenRole.INGEST, settings.gateway_ingest_token),
    ]
    return tuple(
        TokenGrant(
            name=f"the {name} token",
            role=role,
            texts=name in {"run", "read"},  # the operator shows verdicts and alarms, not texts
            verifier=verifier_of(secret.get_secret_value()),
        )
        for name, role, secret in secrets
        if secret
    )
