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
from biaswatch.shared.store.engine import Scope
from biaswatch.shared.telemetry import TOKENS_FILE_WRONG, log

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


EXPECTED = "a tokens file is a mapping with `tokens`, `proxies` or `groups`"
Signature = tuple[int, int, int]


class KnownTokens:
    """Looks at the file for every request, so that a changed file counts at once."""

    def __init__(self, settings: GatewaySettings, *, now: Callable[[], datetime]) -> None:
        self.now = now
        self._path = settings.gateway_tokens_file
        self._guarded = settings.guarded
        self._fixed = tokens_of_settings(settings)
        self._seen = self._signature()
        self._known = self._with_fixed(self._read())

    @property
    def needed(self) -> bool:
        """Whether a request needs a token; without any file or setting, none does."""
        return self._guarded

    def current(self) -> TokensFile:
        """Return the tokens that count now.

        A file that cannot be read or understood changes nothing: the tokens before it stay, and
        the log and a metric say so until it is mended.
        """
        seen = self._signature()
        if seen != self._seen:
            self._seen = seen
            try:
                self._known = self._with_fixed(self._read())
                TOKENS_FILE_WRONG.set(0)
                log("gateway").info("the tokens file was read again", path=str(self._path))
            except (ConfigurationError, UsageError) as error:
                TOKENS_FILE_WRONG.set(1)
                log("gateway").error(
                    "the tokens file is wrong, and the tokens before it stay", why=str(error)
                )
        return self._known

    def _signature(self) -> Signature | None:
        """Return what changes with the file; None where it is not there."""
        if self._path is None:
            return None
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read(self) -> TokensFile:
        return TokensFile() if self._path is None else read_tokens_file(self._path)

    def _with_fixed(self, found: TokensFile) -> TokensFile:
        both = (*self._fixed, *found.tokens)
        return TokensFile.model_construct(tokens=both, proxies=found.proxies, groups=found.groups)


def read_tokens_file(path: Path) -> TokensFile:
    """Return what a tokens file says.

    Raises
    ------
    ConfigurationError
        It cannot be read, or is wrong; the sentence names the place.
    """
    text = read_text(path, "tokens file", ConfigurationError)
    fields = yaml_mapping(text, path, EXPECTED, ConfigurationError)
    return checked(TokensFile, fields, path, ConfigurationError)


def tokens_of_settings(settings: GatewaySettings) -> tuple[TokenGrant, ...]:
    """Return the tokens that single settings hold: of the tenant `default`, with texts."""
    # One text may be the token of several: the role that may do most comes first.
    given: list[tuple[str, TokenRole, SecretStr | None]] = [
        ("run", TokenRole.RUN, settings.gateway_run_token),
        ("operator", TokenRole.RUN, settings.gateway_operator_token),
        ("read", TokenRole.READ, settings.gateway_read_token),
        ("ingest", TokenRole.INGEST, settings.gateway_ingest_token),
    ]
    return tuple(
        TokenGrant(
            name=f"the {name} token",
            role=role,
            # The operator needs no text: verdicts and sentences of alarms are all it shows.
            texts=name in {"run", "read"},
            verifier=verifier_of(token.get_secret_value()),
        )
        for name, role, token in given
        if token
    )
