"""Tokens of an OpenID Connect issuer: their signature, claims and groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from joserfc import jwt
from joserfc.errors import ExpiredTokenError, InvalidKeyIdError, JoseError
from joserfc.jwk import JWKRegistry, KeySet
from joserfc.jws import JWSRegistry

from biaswatch.services.gateway.callers import Identity
from biaswatch.shared.errors import UsageError
from biaswatch.shared.network.outgoing import host_of
from biaswatch.shared.telemetry import log

ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519",
)  # fmt: skip
"""Signatures with public keys; HMAC and `none` are refused."""
KEY_TYPES = {"RSA", "EC", "OKP"}
TOKEN_TYPES = {"", "jwt", "at+jwt", "application/at+jwt"}
"""Types of identity and access tokens; a logout token has another."""
LEEWAY_S = 60
"""How far the clocks of issuer and gateway may differ."""
EXPIRED = "The token has expired. Sign in again with `biaswatch login`."
UNKNOWN_KEY = "The token is not signed with a key of the issuer {issuer}."
REFUSED = (
    "The gateway refuses the token: it is not valid for this gateway, or not of the issuer"
    " {issuer}. Sign in again with `biaswatch login`."
)


class UnknownKeyError(UsageError):
    """No known key has the id that a token names."""


@dataclass(frozen=True)
class Expected:
    """Required claims of the tokens of an issuer."""

    issuer: str
    audiences: tuple[str, ...]
    groups_claim: str = "groups"


def checked_claims(
    token: str, keys: KeySet, expected: Expected, now: datetime
) -> Mapping[str, Any]:
    """Return the claims of a valid token.

    Raises
    ------
    UnknownKeyError
        The key that the token names is unknown.
    UsageError
        The token has expired, or is invalid, of another issuer or for another audience.
    """
    registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    claims = jwt.JWTClaimsRegistry(
        now=int(now.timestamp()),
        leeway=LEEWAY_S,
        iss={"essential": True, "value": expected.issuer},
        aud={"essential": True, "values": list(expected.audiences)},
        exp={"essential": True},
        sub={"essential": True},
    )
    try:
        decoded = jwt.decode(token, keys, algorithms=ALGORITHMS, registry=registry)
        claims.validate(decoded.claims)
    except ExpiredTokenError:
        raise UsageError(EXPIRED) from None
    except InvalidKeyIdError:
        raise UnknownKeyError(UNKNOWN_KEY.format(issuer=expected.issuer)) from None
    except (JoseError, ValueError, TypeError):  # the library reads a `crit` of any type
        raise UsageError(REFUSED.format(issuer=expected.issuer)) from None
    kind = str(decoded.header.get("typ", "")).lower()
    if kind not in TOKEN_TYPES or "events" in decoded.claims:
        raise UsageError(REFUSED.format(issuer=expected.issuer))
    return decoded.claims


def identity_of(claims: Mapping[str, Any], expected: Expected) -> Identity:
    """Return whom the claims name, with their groups.

    An address counts only if the issuer has verified it, since people choose the others themselves.
    """
    email = claims.get("email") if claims.get("email_verified") is True else None
    names = (email, claims.get("preferred_username"), claims["sub"])
    name = [name for name in names if isinstance(name, str) and name.strip()]
    groups = _claim(claims, expected.groups_claim)
    groups = [groups] if isinstance(groups, str) else groups
    listed = groups if isinstance(groups, list) else []
    known = frozenset(group for group in listed if isinstance(group, str))
    return Identity(name[0] if name else "unnamed", known, host_of(expected.issuer) or "")


def _claim(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim by its name, or by a path such as `realm_access.roles`."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def keys_in(fields: Mapping[str, Any]) -> KeySet:
    """Return the public keys for signatures of a key set; others are left out."""
    keys = []
    entries = fields.get("keys")
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict) or entry.get("kty") not in KEY_TYPES:
            continue
        if entry.get("use", "sig") != "sig":
            continue
        try:
            keys.append(JWKRegistry.import_key(entry))
        except (JoseError, ValueError, TypeError):
            log("gateway").warning("a key of the issuer cannot be read", kid=str(entry.get("kid")))
    return KeySet(keys)
