"""Posts JSON to the addresses of channels; sentences hold neither addresses nor secrets."""

import asyncio
from collections.abc import Mapping

import httpx2

from biaswatch.services.notifier.domain.attempts import Attempt, Refused, Unavailable, attempt_of
from biaswatch.services.notifier.secrets import NoSecretError
from biaswatch.shared.backoff import retry_after_s
from biaswatch.shared.network.guard import UnknownHostError

TIMEOUT_S = 10.0
NO_ADDRESS = "The address is not valid: write https://host/path."


async def post_json(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    auth: tuple[str, str] | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> Attempt:
    """Post JSON and return the outcome; the text of the reply is not read.

    Parameters
    ----------
    auth
        User and password.
    transport
        For addresses that are not the operator's choice: proxies of the environment are then
        not used.
    """
    host = host_of(url)
    if host is None:
        return Refused(NO_ADDRESS)
    client = httpx2.AsyncClient(
        transport=transport, timeout=TIMEOUT_S, auth=auth, trust_env=transport is None
    )
    async with client:
        try:
            reply = client.stream(
                "POST", url, content=body, headers={"Content-Type": "application/json", **headers}
            )
            async with asyncio.timeout(TIMEOUT_S), reply as response:
                return attempt_of(response.status_code, host, retry_after_s(response.headers))
        except UnknownHostError:
            return Unavailable(f"The host {host} is not known.")
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, ValueError):
            return Refused(NO_ADDRESS)
        except (httpx2.HTTPError, TimeoutError) as error:
            return Unavailable(f"{host} does not answer ({type(error).__name__}).")


def bearer(token: str) -> dict[str, str]:
    """Return the header with a bearer token."""
    if not (token.isascii() and token.isprintable()):
        raise NoSecretError("The bearer token has characters that no token may have.")
    return {"Authorization": f"Bearer {token}"}


def host_of(url: str) -> str | None:
    """Return the host of an address, the only part that sentences may show."""
    try:
        return httpx2.URL(url).host or None
    except (httpx2.InvalidURL, ValueError):
        return None
