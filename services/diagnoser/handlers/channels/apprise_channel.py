"""Chat, mail and pagers by apprise, the only import of it; nothing that it logs leaves here."""

import logging
import re
from importlib.util import find_spec

from biaswatch.services.diagnoser.domain.channels.attempts import (
    Attempt,
    Delivered,
    Refused,
    Unavailable,
    attempt_of,
)
from biaswatch.services.diagnoser.domain.channels.messages import AlarmMessage

EXTRA_MISSING = (
    "Channels of the kind apprise need the library apprise, which is not installed: install"
    " biaswatch[channels]."
)
SEND_S = 30.0
"""After how many seconds an attempt is given up."""
TALKATIVE = ("apprise", "urllib3")
"""Loggers that write addresses, of which parts are secret."""
_STATUS = re.compile(r"\berror=(\d{3})\b")
_MAIL_REPLY = re.compile(r"(?:Exception: |': |refused: )\(?(5\d\d)\b")
"""A mail server's refusal for good (RFC 5321), as smtplib's errors tell it."""


def is_installed() -> bool:
    """Tell whether the extra `channels` is installed."""
    return find_spec("apprise") is not None


def send_by_apprise(url: str, message: AlarmMessage) -> Attempt:
    """Send a message to an address in apprise's form; it blocks.

    Of what apprise logs only a status is told on: its sentences may hold parts of the address,
    which is a secret.
    """
    if not is_installed():
        return Unavailable(EXTRA_MISSING)
    import apprise  # it loads two hundred services

    for name in TALKATIVE:
        logging.getLogger(name).propagate = False
    # What a mail server replied is written at this level alone; only the result keeps it.
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
        service_timeout=SEND_S,
    )
    sender = apprise.Apprise(asset=asset)
    if not sender.add(url):
        return Refused("What its secret holds is no address that apprise knows.")
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
    [service, *_] = [str(each.service_name) for each in sender]
    return _failed(service, "\n".join(entry.message for entry in result.logs()))


def _failed(service: str, logged: str) -> Attempt:
    """Return what a failure was: refused for good, or worth another attempt."""
    refusals = _MAIL_REPLY.findall(logged)
    if refusals:
        return Refused(f"{service} answered {refusals[-1]}.")
    statuses = [int(found) for found in _STATUS.findall(logged)]
    if not statuses:
        return Unavailable(f"{service} could not be reached, or did not take it.")
    attempt = attempt_of(statuses[-1], service)
    still_failed = isinstance(attempt, Delivered)
    return Unavailable(f"{service} did not take it.") if still_failed else attempt
