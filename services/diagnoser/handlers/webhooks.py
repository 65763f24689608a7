"""Posts alarms to the address their monitor names; they are kept whether or not anybody answers."""

import json
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from html import escape

import httpx2

from shared.contracts import Alarm, Record
from shared.errors import PoisonError, TransientError
from shared.network import GuardedTransport, PrivateAddressError, UnknownHostError
from shared.telemetry import log

TIMEOUT_S = 10.0
COME_AGAIN = {408, 425, 429}
STALE_S = 7 * 24 * 3600
"""What is older is kept and shown, but not posted: who replays dead letters wakes nobody."""


class PostAlarm:
    """The handler of alarms: one POST each, again until it is taken."""

    def __init__(
        self,
        private_hosts: Collection[str],
        dashboard_url: str | None = None,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._private_hosts = private_hosts
        self._dashboard_url = dashboard_url
        self._now = now

    async def __call__(self, alarm: Alarm) -> Sequence[Record]:
        """Post an alarm where its monitor names an address.

        Raises
        ------
        TransientError
            Nobody answers, or the answer is to come again.
        PoisonError
            The address is private, or refuses what is posted.
        """
        told = {"what": alarm.what.value, "state": alarm.state.value}
        comparison = alarm.comparison_key
        log("diagnoser").warning("alarm", monitor=alarm.monitor, comparison=comparison, **told)
        too_old = (self._now() - alarm.at).total_seconds() > STALE_S
        if alarm.webhook is not None and not too_old:
            await self._post(alarm.webhook, webhook_body(alarm, self._dashboard_url))
        return ()

    async def _post(self, url: str, body: bytes) -> None:
        where = httpx2.URL(url).host
        headers = {"Content-Type": "application/json"}
        guarded = GuardedTransport(self._private_hosts)
        async with httpx2.AsyncClient(transport=guarded, timeout=TIMEOUT_S) as client:
            try:
                reply = await client.post(url, content=body, headers=headers)
            except PrivateAddressError:
                raise PoisonError(
                    f"The webhook's host {where} has a private address. If alarms may be posted"
                    " there, name it in BIASWATCH_DIAGNOSER_PRIVATE_HOSTS."
                ) from None
            except UnknownHostError:
                raise TransientError(f"The webhook's host {where} is not known.") from None
            except httpx2.HTTPError as error:
                raise TransientError(
                    f"The webhook at {where} does not answer ({type(error).__name__})."
                ) from None
        if reply.status_code in COME_AGAIN or reply.status_code >= 500:
            raise TransientError(f"The webhook at {where} answered {reply.status_code}.")
        if not reply.is_success:
            raise PoisonError(
                f"The webhook at {where} answered {reply.status_code}; correct it in the monitor's"
                " file, apply that, and replay the dead letter."
            )


def webhook_body(alarm: Alarm, dashboard_url: str | None = None) -> bytes:
    """Return what is posted: the record's numbers, and a sentence that may stand in HTML.

    Texts of models and of users stay where they are; the sets that contributed most are named by
    the ids of their responses, and the link leads to what was said. The id is the same however
    often the alarm comes.
    """
    said = f"{alarm.monitor}: {alarm.what} {alarm.state}: {alarm.comparison_key}: {alarm.reason}"
    record = alarm.model_dump(mode="json", exclude={"webhook"})
    body = {"text": escape(said), "alarm": record}
    if dashboard_url is not None:
        body["link"] = f"{dashboard_url.rstrip('/')}/monitors/{alarm.monitor}/alarms#{alarm.id}"
    return json.dumps(body).encode()
