"""Sessions of people whom an issuer signed in, and the callers of its tokens."""

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from biaswatch.services.gateway.callers import Caller, Identity, caller_of_identity
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.sign_in.issuer import Issuer, issuer_of
from biaswatch.services.gateway.sign_in.tokens import identity_of
from biaswatch.shared.contracts.access import TokensFile

SESSION = "session"
"""The purpose of the cookie of a session."""
SEPARATORS = 2
"""Dots in a signed token."""
SESSION_S = 3600
"""Lifetime of a session; a new one takes the current groups from the issuer."""


class SignedCookies:
    """Cookies that only this gateway can write, and its replicas can read."""

    def __init__(self, secret: str, *, now: Callable[[], datetime]) -> None:
        key = hmac.new(secret.encode(), b"cookies of biaswatch", "sha256").digest()
        self._key = OctKey.import_key(key)
        self._now = now

    def write(self, purpose: str, fields: Mapping[str, Any], lasts_s: int) -> str:
        """Return the value of a cookie."""
        expires = int(self._now().timestamp()) + lasts_s
        claims = {**fields, "aud": purpose, "exp": expires}
        return jwt.encode({"alg": "HS256"}, claims, self._key)

    def read(self, purpose: str, value: str) -> Mapping[str, Any] | None:
        """Return the fields of a cookie; None if it has expired or was not written here."""
        registry = jwt.JWTClaimsRegistry(
            now=int(self._now().timestamp()),
            aud={"essential": True, "value": purpose},
            exp={"essential": True},
        )
        try:
            decoded = jwt.decode(value, self._key, algorithms=["HS256"])
            registry.validate(decoded.claims)
        except (JoseError, ValueError, TypeError):  # the library reads a `crit` of any type
            return None
        return decoded.claims


@dataclass(frozen=True)
class SignIn:
    """The issuer, and the sessions that begin there."""

    issuer: Issuer
    cookies: SignedCookies | None
    """None without the secret of a client: then pages offer no sign-in."""
    session_s: int = SESSION_S
    """Lifetime of a session."""

    async def caller(
        self, known: TokensFile, bearer: str, session: str | None, peer: str
    ) -> Caller | None:
        """Return the caller of a token or a session; None if neither is of the issuer.

        Raises
        ------
        TransientError
            The issuer is unavailable, and the token's key is unknown.
        UsageError
            The token is refused.
        """
        if bearer:
            if bearer.count(".") != SEPARATORS:
                return None
            claims = await self.issuer.claims(bearer)
            return caller_of_identity(known, self.identity(claims), peer)
        fields = self.cookies.read(SESSION, session) if self.cookies and session else None
        if fields is None or fields["issuer"] != self.issuer.expected.issuer:
            return None
        identity = Identity(fields["name"], frozenset(fields["groups"]), fields["via"])
        return caller_of_identity(known, identity, peer, by_session=True)

    def identity(self, claims: Mapping[str, Any]) -> Identity:
        """Return whom the claims of a valid token name."""
        return identity_of(claims, self.issuer.expected)

    def session(self, known: TokensFile, identity: Identity) -> str:
        """Return the cookie of a session; it holds only groups that have a role."""
        if self.cookies is None:
            raise LookupError("A session begins without the secret of a client.")
        groups = sorted(identity.groups & {grant.group for grant in known.groups})
        fields = {
            "issuer": self.issuer.expected.issuer,
            "name": identity.name,
            "groups": groups,
            "via": identity.via,
        }
        return self.cookies.write(SESSION, fields, self.session_s)


def sign_in_of(issuer: str, settings: GatewaySettings, *, now: Callable[[], datetime]) -> SignIn:
    """Return the sign-in at an issuer; raise what `issuer_of` raises."""
    secret = settings.gateway_oidc_secret
    cookies = SignedCookies(secret.get_secret_value(), now=now) if secret else None
    return SignIn(issuer_of(issuer, settings, now=now), cookies)
