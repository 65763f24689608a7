"""OpenID Connect: the document of an issuer, and requests to its addresses."""

import json
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
from pydantic import BaseModel, ConfigDict, ValidationError

from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.network.outgoing import (
    RequestFailedError,
    host_of,
    outgoing_client,
    request_failures,
)

DISCOVERY_PATH = "/.well-known/openid-configuration"
TIMEOUT_S = 10.0
MAX_BYTES = 1024 * 1024
"""Maximum size of a reply, after decompression."""


class IssuerDocument(BaseModel):
    """The addresses of an issuer, from its discovery document."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    issuer: str
    jwks_uri: str
    authorization_endpoint: str | None = None
    token_endpoint: str
    device_authorization_endpoint: str | None = None
    revocation_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)

    @property
    def addresses(self) -> list[str]:
        """All addresses that the document names."""
        endpoints = (
            self.authorization_endpoint,
            self.device_authorization_endpoint,
            self.revocation_endpoint,
        )
        return [self.jwks_uri, self.token_endpoint, *filter(None, endpoints)]


async def issuer_document(issuer: str) -> IssuerDocument:
    """Return the document of an issuer.

    Raises
    ------
    TransientError
        The issuer does not answer.
    ConfigurationError
        The document is of another issuer, or lacks TLS that the issuer's address has.
    """
    url = issuer.rstrip("/") + DISCOVERY_PATH
    status, fields = await issuer_reply("GET", url)
    if status != httpx2.codes.OK:
        raise TransientError(f"The issuer {issuer} answers HTTP {status} at {DISCOVERY_PATH}.")
    try:
        document = IssuerDocument.model_validate(fields)
    except ValidationError:
        raise ConfigurationError(f"{url} is not a complete document of an issuer.") from None
    if document.issuer != issuer:
        raise ConfigurationError(
            f"The issuer is configured as {issuer}, but calls itself {document.issuer[:200]}. Write"
            " it the same way, including a final slash."
        )
    if issuer.startswith("https:") and any(
        urlsplit(a).scheme != "https" for a in document.addresses
    ):
        raise ConfigurationError(f"The issuer {issuer} names an address without TLS.")
    return document


async def issuer_reply(
    method: str,
    url: str,
    form: Mapping[str, str] | None = None,
    *,
    auth: tuple[str, str] | None = None,
) -> tuple[int, dict[str, Any]]:
    """Send a request to an issuer; return the status and the JSON object of the reply.

    An empty body counts as an empty object.

    Raises
    ------
    TransientError
        The reply is missing, too large or not a JSON object.
    """
    status = 0
    try:
        async with outgoing_client(None, timeout_s=TIMEOUT_S, auth=auth) as client:
            sent = client.stream(method, url, data=form, headers={"Accept": "application/json"})
            async with request_failures(url, TIMEOUT_S), sent as reply:
                status = reply.status_code
                return status, _object_in(await _bounded(reply))
    except RequestFailedError as error:
        raise TransientError(f"The issuer is unavailable: {error} Try again later.") from None
    except ValueError:
        raise TransientError(
            f"The issuer {host_of(url)} answers HTTP {status} without a JSON object. Try again"
            " later."
        ) from None


def _object_in(body: bytes) -> dict[str, Any]:
    fields = json.loads(body) if body else {}
    if not isinstance(fields, dict):
        raise ValueError("not an object")  # noqa: TRY004 - a mistake of the issuer
    return fields


async def _bounded(reply: httpx2.Response) -> bytes:
    body = bytearray()
    async for part in reply.aiter_bytes():
        body += part
        if len(body) > MAX_BYTES:
            raise ValueError("the reply is too large")
    return bytes(body)


def expiry_of(token: str) -> float:
    """Return when a signed token expires, in seconds of the epoch, without checking it.

    Raises
    ------
    TransientError
        The issuer did not give a signed token with an expiry.
    """
    try:
        payload = token.split(".")[1]
        claims = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return float(claims["exp"])
    except (IndexError, KeyError, TypeError, ValueError):
        raise TransientError("The issuer gave an identity token without an expiry.") from None
