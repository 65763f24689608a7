"""Messages about alarms that channels send to people."""

import re
from dataclasses import dataclass
from datetime import datetime

from biaswatch.shared.contracts import Alarm, AlarmState, Estimate
from biaswatch.shared.contracts.alarm_delivery import TRIAL_MONITOR
from biaswatch.shared.foreign_text import isolated, on_one_line
from biaswatch.shared.formatting import number

MAX_LINE_CHARACTERS = 500
TRIAL_TITLE = "A trial, no alarm"
_HARMLESS = str.maketrans({"<": "\u2039", ">": "\u203a", "`": "'"})
"""Characters that open a tag or code in some medium, and their replacements."""
_MENTION = re.compile(r"(?<!\w)@")
_JOINER = "\u2060"


@dataclass(frozen=True)
class AlarmMessage:
    """A message for a person."""

    title: str
    """The subject: the same when an alarm is raised and when it is over."""
    body: str
    """The event, in a few lines."""
    over: bool
    """True if the alarm is over."""


def message_of(alarm: Alarm, dashboard_url: str | None) -> AlarmMessage:
    """Return an alarm in words."""
    over = alarm.state is AlarmState.CLEARED
    lines = [
        *([alarm.words] if alarm.words else []),
        f"{'Over' if over else 'Raised'}: {alarm.reason}",
        f"Gap, first group minus second: {estimate_words(alarm.gap)}",
        f"Round {alarm.round}, {moment(alarm.at)}",
    ]
    if alarm.declared_after_data:
        lines.append("The comparison was declared when the answers were known already")
    if alarm.owners:
        lines.append(f"For {', '.join(alarm.owners)}")
    written = [isolated(plain(line)) for line in lines]
    written.append(_evidence_line(alarm, dashboard_url))
    name = TRIAL_TITLE if alarm.monitor == TRIAL_MONITOR else alarm.monitor
    title = isolated(plain(f"{name}: {alarm.what} in {alarm.called}"))
    return AlarmMessage(title, "\n".join(written), over)


def plain(text: str) -> str:
    """Return text of suites, models and people as one line without markup of any medium.

    Angle brackets become others, so that neither tags nor mentions like <!channel> remain; a word
    joiner, which is invisible, breaks mentions like @everyone, and addresses that would be links.
    """
    line = " ".join(on_one_line(text).split())
    line = _MENTION.sub(f"@{_JOINER}", line.translate(_HARMLESS))
    line = line.replace("://", f":{_JOINER}//").replace("](", f"]{_JOINER}(")
    return line if len(line) <= MAX_LINE_CHARACTERS else line[: MAX_LINE_CHARACTERS - 1] + "…"


def estimate_words(gap: Estimate) -> str:
    """Return an estimate with its interval, where it has them."""
    if gap.value is None:
        return "undefined"
    if gap.low is None or gap.high is None:
        return number(gap.value)
    return f"{number(gap.value)} ({number(gap.low)} to {number(gap.high)})"


def moment(at: datetime) -> str:
    """Return a moment as people read it."""
    return f"{at:%Y-%m-%d %H:%M} UTC"


def link_of(alarm: Alarm, dashboard_url: str | None) -> str | None:
    """Return the page with the answers behind an alarm, if the gateway's address is known."""
    if dashboard_url is None or alarm.monitor == TRIAL_MONITOR:
        return None
    return f"{dashboard_url.rstrip('/')}/monitors/{alarm.monitor}/alarms#{alarm.id}"


def _evidence_line(alarm: Alarm, dashboard_url: str | None) -> str:
    """Return the link to the answers, or the command for them."""
    if alarm.monitor == TRIAL_MONITOR:
        return "No answers are behind it: it is a trial."
    link = link_of(alarm, dashboard_url)
    return f"The answers behind it: {link or f'biaswatch monitor show {alarm.monitor} --alarms'}"
