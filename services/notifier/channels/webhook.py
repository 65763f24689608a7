"""Webhooks: any HTTP server that takes a POST of JSON, of the operator or in a monitor's file."""

import json
from collections.abc import Collection
from html import escape
from typing import Literal

from biaswatch.services.notifier.channels import MessageChannel, Notice
from biaswatch.services.notifier.domain.attempts import Attempt
from biaswatch.services.notifier.posting import bearer, post_json
from biaswatch.services.notifier.secrets import SecretReference, Secrets
from biaswatch.shared.contracts import Alarm
from biaswatch.shared.contracts.alarm_delivery import TRIAL_MONITOR
from biaswatch.shared.presentation.alarm_messages import link_of

DIGITS = 12
"""Significant digits of a message's numbers; the rest may be rounding errors."""


class WebhookChannel(MessageChannel):
    """Any HTTP server that takes a POST of JSON."""

    kind: Literal["webhook"]
    """`webhook`."""
    url: SecretReference
    """The place of its address, which is a secret: it permits posting there."""
    bearer_token: SecretReference | None = None
    """The token that it requires, if any."""

    async def send(self, notice: Notice, secrets: Secrets) -> Attempt:
        """Post an alarm to an address that the operator has declared."""
        url = secrets.read(self.url)
        headers = bearer(secrets.read(self.bearer_token)) if self.bearer_token else {}
        return await post_json(url, webhook_body(notice.alarm, notice.dashboard_url), headers)


CHANNEL = WebhookChannel


async def post_to_monitors_webhook(
    alarm: Alarm, private_hosts: Collection[str], dashboard_url: str | None
) -> Attempt:
    """Post an alarm to the address in its monitor's file, never to a private one by default."""
    url = alarm.webhook or ""
    body = webhook_body(alarm, dashboard_url)
    return await post_json(url, body, {}, private_hosts=private_hosts)


def webhook_body(alarm: Alarm, dashboard_url: str | None = None) -> bytes:
    """Return the JSON to post: the record with rounded numbers, and a sentence safe in HTML.

    It holds no texts of models or users: the sets that contributed most are named by the ids of
    their responses, and the link leads to the answers. The id is the same at every attempt.
    """
    text = alarm.words or f"{alarm.called}: {alarm.reason}"
    record = alarm.model_dump(mode="json", exclude={"webhook", "channels"})
    body = {
        "text": escape(f"{alarm.monitor}: {alarm.what} {alarm.state}: {text}"),
        "alarm": _rounded(record),
        "trial": alarm.monitor == TRIAL_MONITOR,
    }
    if link := link_of(alarm, dashboard_url):
        body["link"] = link
    return json.dumps(body).encode()


def _rounded(document: object) -> object:
    """Return a JSON document with rounded numbers."""
    match document:
        case float():
            return float(f"{document:.{DIGITS}g}")
        case dict():
            return {name: _rounded(value) for name, value in document.items()}
        case list():
            return [_rounded(value) for value in document]
        case _:
            return document
