"""The issuer that the settings name: its document and its keys, as they rotate."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from time import monotonic
from typing import Any

from joserfc.jwk import KeySet

from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.sign_in.tokens import (
    Expected,
    UnknownKeyError,
    checked_claims,
    keys_in,
)
from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.network.openid import IssuerDocument, issuer_document, issuer_reply
from biaswatch.shared.telemetry import log

KEYS_S = 600.0
"""Age at which the issuer's keys are read again."""
PAUSE_S = 10.0
"""Least time between two attempts to read them, since anyone can send unknown keys."""


class Issuer:
    """The issuer that the settings name: its document and its keys."""

    def __init__(self, expected: Expected, *, now: Callable[[], datetime]) -> None:
        self.expected = expected
        self._now = now
        self._document: IssuerDocument | None = None
        self._keys: KeySet | None = None
        self._read_at = self._tried_at = float("-inf")
        self._trouble: TransientError | None = None
        self._reading = asyncio.Lock()

    async def claims(self, token: str) -> Mapping[str, Any]:
        """Return the claims of a valid token.

        Tokens with known keys stay valid while the issuer is unavailable.

        Raises
        ------
        TransientError
            The issuer is unavailable, and the token's key is unknown.
        UsageError
            The token is refused.
        """
        keys = self._keys
        if keys is None or (self._is_old() and not self._reading.locked()):
            keys = await self._read_keys(keys)
        try:
            return self._checked(token, keys)
        except UnknownKeyError:
            newer = await self._read_keys(keys)
            if self._trouble is not None:
                raise self._trouble from None
            return self._checked(token, newer)

    def _checked(self, token: str, keys: KeySet) -> Mapping[str, Any]:
        return checked_claims(token, keys, self.expected, self._now())

    async def document(self) -> IssuerDocument:
        """Return the issuer's document.

        Raises
        ------
        TransientError
            The issuer is unavailable, or its document is wrong.
        """
        if self._document is None:
            try:
                self._document = await issuer_document(self.expected.issuer)
            except ConfigurationError as error:
                raise TransientError(str(error)) from None
        return self._document

    def _is_old(self) -> bool:
        return monotonic() - max(self._read_at + KEYS_S, self._tried_at + PAUSE_S) > 0

    async def _read_keys(self, known: KeySet | None) -> KeySet:
        """Read the keys unless they were just read; keep known ones if the issuer fails."""
        async with self._reading:
            if monotonic() - self._tried_at >= PAUSE_S:
                self._tried_at = monotonic()
                try:
                    self._keys = await self._fetched_keys()
                    self._read_at, self._trouble = monotonic(), None
                except TransientError as error:
                    self._trouble = error
                    self._document = None
                    log("gateway").warning("the keys of the issuer were not read", why=str(error))
            keys = self._keys or known
            if keys is None:
                raise self._trouble or TransientError("The issuer's keys are not known yet.")
            return keys

    async def _fetched_keys(self) -> KeySet:
        document = await self.document()
        status, fields = await issuer_reply("GET", document.jwks_uri)
        keys = keys_in(fields)
        if not keys:
            raise TransientError(
                f"The issuer {self.expected.issuer} answers HTTP {status} and no key for"
                " signatures. Try again later."
            )
        return keys


def issuer_of(address: str, settings: GatewaySettings, *, now: Callable[[], datetime]) -> Issuer:
    """Return an issuer with the clients of the settings.

    Raises
    ------
    ConfigurationError
        No audience is named, so that tokens for other programs would be accepted.
    """
    named = (settings.gateway_oidc_client, settings.gateway_oidc_cli_client)
    audiences = (*filter(None, named), *settings.gateway_oidc_audiences)
    if not audiences:
        raise ConfigurationError(
            "BIASWATCH_GATEWAY_OIDC_ISSUER needs the names of the clients whose tokens are for this"
            " gateway. Set BIASWATCH_GATEWAY_OIDC_CLI_CLIENT, BIASWATCH_GATEWAY_OIDC_CLIENT or"
            " BIASWATCH_GATEWAY_OIDC_AUDIENCES."
        )
    expected = Expected(address, audiences, settings.gateway_oidc_groups_claim)
    return Issuer(expected, now=now)
