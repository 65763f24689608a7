"""Channels over HTTP: webhooks of monitors and operators, and Alertmanager."""

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

import httpx2

from biaswatch.services.diagnoser.domain.channels.attempts import (
    Attempt,
    Refused,
    Unavailable,
    attempt_of,
)
from biaswatch.services.diagnoser.domain.channels.declarations import (
    AlertmanagerChannel,
    WebhookChannel,
)
from biaswatch.services.diagnoser.domain.channels.messages import link_of
from biaswatch.services.diagnoser.handlers.channels.secrets import NoSecretError, Secrets
from biaswatch.shared.backoff import retry_after_s
from biaswatch.shared.contracts import Alarm
from biaswatch.shared.network.guard import GuardedTransport, PrivateAddressError, UnknownHostError

TIMEOUT_S = 10.0
ALERTS = "/api/v2/alerts"
NO_ADDRESS = "What should be an address is none: write https://host/path."


async def post_to_monitors_webhook(
    alarm: Alarm, private_hosts: Collection[str], dashboard_url: str | None
) -> Attempt:
    """Post an alarm to the address in its monitor's file, never to a private one by default."""
    url = alarm.webhook or ""
    host = _host_of(url)
    try:
        return await _post(
            url, webhook_body(alarm, dashboard_url), {}, GuardedTransport(private_hosts)
        )
    except PrivateAddressError:
        return Refused(
            f"The host {host} has a private address. If alarms may be posted there, name it in"
            " BIASWATCH_DIAGNOSER_PRIVATE_HOSTS."
        )


async def post_to_webhook(
    alarm: Alarm, channel: WebhookChannel, secrets: Secrets, dashboard_url: str | None
) -> Attempt:
    """Post an alarm to an address that the operator has declared."""
    url = secrets.read(channel.url)
    headers = _bearer(secrets.read(channel.bearer_token)) if channel.bearer_token else {}
    return await _post(url, webhook_body(alarm, dashboard_url), headers, None)


async def post_alerts(
    alerts: Sequence[Mapping[str, Any]], channel: AlertmanagerChannel, secrets: Secrets
) -> Attempt:
    """Send alerts to Alertmanager; how often it hears of one makes no difference."""
    headers: dict[str, str] = {}
    auth = None
    if channel.bearer_token is not None:
        headers = _bearer(secrets.read(channel.bearer_token))
    if channel.username is not None and channel.password is not None:
        auth = httpx2.BasicAuth(channel.username, secrets.read(channel.password))
    url = channel.url.rstrip("/") + ALERTS
    return await _post(url, json.dumps(list(alerts)).encode(), headers, None, auth)


def webhook_body(alarm: Alarm, dashboard_url: str | None = None) -> bytes:
    """Return what is posted: the record's numbers, and a sentence that may stand in HTML.

    Texts of models and of users stay where they are; the sets that contributed most are named by
    the ids of their responses, and the link leads to what was said. The id is the same however
    often the alarm comes.
    """
    said = f"{alarm.monitor}: {alarm.what} {alarm.state}: {alarm.called}: {alarm.reason}"
    if alarm.words:
        said = f"{alarm.monitor}: {alarm.words} {said}"
    record = alarm.model_dump(mode="json", exclude={"webhook", "channels"})
    body = {"text": escape(said), "alarm": record}
    if link := link_of(alarm, dashboard_url):
        body["link"] = link
    return json.dumps(body).encode()


async def _post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    transport: httpx2.AsyncBaseTransport | None,
    auth: httpx2.Auth | None = None,
) -> Attempt:
    """Post JSON; the answer's text is not read, and addresses and secrets are in no sentence."""
    host = _host_of(url)
    if host is None:
        return Refused(NO_ADDRESS)
    sent = {"Content-Type": "application/json", **headers}
    client = httpx2.AsyncClient(
        transport=transport,
        timeout=TIMEOUT_S,
        auth=auth,
        trust_env=transport
        is None,  # proxies of the environment are the operator's channels' alone
    )
    async with client:
        try:
            posted = client.stream("POST", url, content=body, headers=sent)
            async with asyncio.timeout(TIMEOUT_S), posted as reply:
                return attempt_of(reply.status_code, host, retry_after_s(reply.headers))
        except UnknownHostError:
            return Unavailable(f"The host {host} is not known.")
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, ValueError):
            return Refused(NO_ADDRESS)
        except (httpx2.HTTPError, TimeoutError) as error:
            return Unavailable(f"{host} does not answer ({type(error).__name__}).")


def _bearer(token: str) -> dict[str, str]:
    if not (token.isascii() and token.isprintable()):
        raise NoSecretError("What should be a bearer token has characters that no token has.")
    return {"Authorization": f"Bearer {token}"}


def _host_of(url: str) -> str | None:
    """Return an address's host, which may be told; the rest may be secret."""
    try:
        return httpx2.URL(url).host or None
    except (httpx2.InvalidURL, ValueError):
        return None
