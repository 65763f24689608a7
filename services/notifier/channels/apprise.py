"""Chat, mail and pagers by apprise, the only import of it; its log stays inside this module."""

import logging
import re
from importlib.util import find_spec
from typing import Literal

from biaswatch.services.notifier.channels import MessageChannel, Notice
from biaswatch.services.notifier.domain.attempts import (
    Attempt,
    Delivered,
    Refused,
    Unavailable,
    attempt_of,
)
from biaswatch.services.notifier.secrets import SecretReference, Secrets
from biaswatch.shared.presentation.alarm_messages import AlarmMessage, message_of
from biaswatch.shared.runtime.threads import in_thread

EXTRA_MISSING = (
    "Channels of the kind apprise need the library apprise, which is not installed: install"
    " biaswatch[channels]."
)
TIMEOUT_S = 30.0
TALKATIVE = ("apprise", "urllib3")
"""Loggers that write addresses with secret parts."""
_STATUS = re.compile(r"\berror=(\d{3})\b")
_MAIL_REPLY = re.compile(r"(?:Exception: |': |refused: )\(?(5\d\d)\b")
"""A mail server's refusal for good (RFC 5321), as smtplib's errors tell it."""


class AppriseChannel(MessageChannel):
    """Chat, mail or a pager, by the library apprise."""

    kind: Literal["apprise"]
    """`apprise`."""
    url: SecretReference
    """The place of its address in apprise's form: mailtos://..., slack://..., pagerduty://..."""

    async def send(self, notice: Notice, secrets: Secrets) -> Attempt:
        """Send a message about an alarm."""
        message = message_of(notice.alarm, notice.dashboard_url)
        return await in_thread(send_by_apprise, secrets.read(self.url), message)

    def not_installed(self) -> str | None:
        """Return which extra is missing, if it is."""
        return None if find_spec("apprise") else EXTRA_MISSING


CHANNEL = AppriseChannel


def send_by_apprise(url: str, message: AlarmMessage) -> Attempt:
    """Send a message to an address in apprise's form; it blocks.

    Only a status of apprise's log leaves this function: its sentences may hold parts of the
    address, which is a secret.
    """
    if not find_spec("apprise"):
        return Unavailable(EXTRA_MISSING)
    import apprise  # it loads two hundred services

    for name in TALKATIVE:
        logging.getLogger(name).propagate = False
    # A mail server's reply is logged at this level alone; only the result keeps it.
    logging.getLogger(TALKATIVE[0]).setLevel(logging.DEBUG)
    asset = apprise.AppriseAsset(
        app_id="biaswatch",
        app_desc="biaswatch",
        app_url="",
        image_url_mask="",
        image_url_logo="",
        async_mode=False,
        http_redirects=False,
        storage_mode=apprise.PersistentStoreMode.MEMORY,
        service_timeout=TIMEOUT_S,
    )
    sender = apprise.Apprise(asset=asset)
    if not sender.add(url):
        return Refused("Its secret does not hold an address that apprise knows.")
    kind = apprise.NotifyType.SUCCESS if message.over else apprise.NotifyType.FAILURE
    result = sender.notify(
        body=message.body,
        title=message.title,
        notify_type=kind,
        body_format=apprise.NotifyFormat.TEXT,
        log_level=logging.DEBUG,
    )
    if result:
        return Delivered()
    [service, *_] = [str(service.service_name) for service in sender]
    return _failed(service, "\n".join(entry.message for entry in result.logs()))


def _failed(service: str, logged: str) -> Attempt:
    """Return whether a failure is for good or worth another attempt."""
    refusals = _MAIL_REPLY.findall(logged)
    if refusals:
        return Refused(f"{service} answered {refusals[-1]}.")
    statuses = [int(status) for status in _STATUS.findall(logged)]
    if not statuses:
        return Unavailable(f"{service} could not be reached, or did not take it.")
    attempt = attempt_of(statuses[-1], service)
    still_failed = isinstance(attempt, Delivered)
    return Unavailable(f"{service} did not take it.") if still_failed else attempt
