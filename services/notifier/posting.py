"""Posts JSON to channels; error messages contain neither addresses nor secrets."""

from collections.abc import Collection, Mapping

from biaswatch.services.notifier.domain.attempts import Attempt, Refused, Unavailable, attempt_of
from biaswatch.services.notifier.secrets import NoSecretError
from biaswatch.shared.backoff import retry_after_s
from biaswatch.shared.network.outgoing import (
    RequestFailedError,
    Unanswered,
    host_of,
    outgoing_client,
    request_failures,
)

TIMEOUT_S = 10.0
NO_ADDRESS = "The address is not valid: write https://host/path."


async def post_json(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    auth: tuple[str, str] | None = None,
    private_hosts: Collection[str] | None = None,
) -> Attempt:
    """Post JSON and return the outcome; the text of the reply is not read.

    Parameters
    ----------
    auth
        User and password.
    private_hosts
        For addresses that are not the operator's choice: hosts that may have private addresses.
        None for addresses of the operator, which are not checked and may use proxies.
    """
    host = host_of(url)
    if host is None:
        return Refused(NO_ADDRESS)
    sent = {"Content-Type": "application/json", **headers}
    try:
        async with outgoing_client(private_hosts, timeout_s=TIMEOUT_S, auth=auth) as client:
            reply = client.stream("POST", url, content=body, headers=sent)
            async with request_failures(url, TIMEOUT_S), reply as response:
                return attempt_of(response.status_code, host, retry_after_s(response.headers))
    except RequestFailedError as failed:
        if failed.reason is Unanswered.PRIVATE_ADDRESS:
            return Refused(
                f"{failed} If alarms may be posted there, run the notifier with"
                " BIASWATCH_NOTIFIER_PRIVATE_HOSTS='[\"HOST\"]'."
            )
        invalid = failed.reason is Unanswered.INVALID_URL
        return Refused(NO_ADDRESS) if invalid else Unavailable(str(failed))
    except ValueError:
        return Refused(NO_ADDRESS)


def bearer(token: str) -> dict[str, str]:
    """Return the header with a bearer token."""
    if not (token.isascii() and token.isprintable()):
        raise NoSecretError("The bearer token has characters that no token may have.")
    return {"Authorization": f"Bearer {token}"}
