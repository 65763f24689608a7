"""Production answers as they are sent in, and the responses that monitors watch."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from biaswatch.shared.contracts import (
    MENTIONED,
    AnswerAccounts,
    CallSpan,
    Exchange,
    Message,
    Monitor,
    MonitoredWindow,
    Probe,
    Purpose,
    Response,
    Role,
    SentAnswer,
    Token,
    Traffic,
    derived_id,
    taken_late,
    window_at,
    window_run_id,
)
from biaswatch.shared.contracts.identity import Moment, Name, pseudonym_of
from biaswatch.shared.parsing.redaction import RedactedText

LiveSystem = tuple[str, str]
"""The tenant and the name of a live system."""
MAX_BATCH = 1000
MAX_LABELS = 100
"""Groups, and facts, of one answer."""
MAX_MESSAGES = 2000
"""Of one conversation."""
MAX_EXCHANGE_BYTES = 448 * 1024
"""Of one answer with its prompt; its response is larger and must fit on the bus."""
EARLIEST_YEAR = 1990
"""When no answer was given yet; what lies before is a mistake in somebody's clock or format."""
MAX_CLOCK_SKEW = timedelta(minutes=10)
"""How far the caller's clock may be ahead of ours."""
CARRIED = {"text", "reason", "model", "fingerprint", "finish_reason"}
Redaction = Callable[[str], RedactedText]
"""Replaces what may not be stored in one text."""


class SentResponse(BaseModel):
    """One answer of a live system, as its owner sends it."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    id: Name
    """Your id of this exchange; sent twice with one id in a window, it counts once."""
    at: Moment | None = None
    """When the answer was given; default now. Set it if you may have to send the answer again."""
    prompt: str | None = None
    """The user's message, if it may be stored; or use `messages`."""
    messages: tuple[Message, ...] = Field(default=(), max_length=MAX_MESSAGES)
    """The conversation, if it may be stored."""
    text: str | None = None
    """The answer."""
    reason: Token | None = None
    """Why there is no answer: content_filter, timeout, ..."""
    groups: dict[Name, Name] = Field(default={}, max_length=MAX_LABELS)
    """The groups it is about or for, by dimension, as far as known."""
    facts: dict[Name, Name] = Field(default={}, max_length=MAX_LABELS)
    """What else is known of it: topic, language, product; a monitor may compare within them."""
    unit: Name | None = None
    """The user or the conversation, best as a pseudonym; an answer without it is no evidence."""
    model: Name | None = None
    """The model that answered."""
    fingerprint: Name | None = None
    """The version of the model."""
    finish_reason: Name | None = None
    """Why the model stopped."""
    span: CallSpan | None = None
    """Which span of your traces the call is: measurements can go back to it."""


class BatchHeader(BaseModel):
    """What holds for all answers of a batch."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    source: Token
    """The live system: `support` for monitors with the target `traffic:support`."""
    history: bool = False
    """Whether these answers were recorded before anybody watched; they are read after
    `POST /v1/history/{source}/read`, as if each had come at its `at`."""


class SentBatch(BatchHeader):
    """A batch of production answers."""

    responses: list[SentResponse] = Field(min_length=1, max_length=MAX_BATCH)
    """The answers."""


class AcceptedBatch(BaseModel):
    """How much of a batch was accepted."""

    accepted: int
    """Answers that are on the bus."""
    late: dict[str, int] = {}
    """By monitor: those of them that come too late for their windows, and are in no evidence."""
    redacted: dict[str, int] = {}
    """How often something was replaced in their texts, by what stands there instead."""


class UnwatchedView(BaseModel):
    """A live system of which answers were sent in that no monitor watched; none of them is kept."""

    source: str
    """`(no name)`: answers that name no system. `(others)`: systems beyond the first thousand."""
    answers: int
    """How many, ever: what was refused for this reason, over OTLP and HTTP."""
    first_at: Moment
    last_at: Moment


class HistoryView(BaseModel):
    """The past of a live system, as it is read for one of its monitors."""

    monitor: str
    """The monitor that reads it; `monitor show` tells what it found."""
    of: str
    """The monitor that watches the same traffic live."""
    before: Moment
    """The beginning of the first window that is watched live: the past ends there."""
    read: bool
    """Whether all that was sent in of the past is read."""
    sent: int
    """Answers that were sent in."""
    accounts: AnswerAccounts
    """What became of them."""


def exchange_of(
    source: str,
    sent: SentResponse,
    now: datetime,
    *,
    sending: int | None = None,
    history: bool = False,
    tenant: str = "default",
) -> Exchange:
    """Return the record of an answer that was sent, stamped with the moment of its intake.

    Raises
    ------
    ValueError
        It has both a prompt and messages, or `check_exchange` refuses it.
    """
    if sent.prompt is not None and sent.messages:
        raise ValueError("give `prompt` or `messages`, not both")
    copied: dict[str, Any] = sent.model_dump(include={"groups", "facts", *CARRIED})
    prompt = () if sent.prompt is None else (Message(role=Role.USER, content=sent.prompt),)
    return check_exchange(
        Exchange(
            tenant=tenant,
            at=now,
            source=source,
            sending=sending,
            history=history,
            key=sent.id,
            said_at=sent.at or now,
            asked=prompt or sent.messages,
            unit_id=sent.unit,
            span=sent.span,
            **copied,
        ),
        now,
    )


def check_exchange(exchange: Exchange, now: datetime) -> Exchange:
    """Return an exchange unchanged if it can be ingested.

    Raises
    ------
    ValueError
        It has neither an answer nor a reason for having none, or both; it lies in the future
        or before there were any; it names a group that is only detected here; or it is too large.
    """
    if exchange.said_at.year < EARLIEST_YEAR:  # a comparison of moments could overflow
        raise ValueError(f"`at` lies before {EARLIEST_YEAR}")
    latest = max(exchange.said_at, exchange.at)
    if latest > now + MAX_CLOCK_SKEW:
        raise ValueError(f"`at` lies in the future ({latest.isoformat()})")
    if exchange.history and exchange.said_at == exchange.at:
        raise ValueError("an answer of the past says `at` when it was given")
    if claimed := sorted(name for name in exchange.groups if name.startswith(MENTIONED)):
        raise ValueError(f"the dimension {claimed[0]} is for groups that are detected here")
    if (size := exchange.message_bytes()) > MAX_EXCHANGE_BYTES:
        most = MAX_EXCHANGE_BYTES // 1024
        raise ValueError(f"it has {size // 1024} KiB, and {most} KiB can be taken; shorten it")
    if (exchange.text is None) == (exchange.reason is None):
        raise ValueError("give either a text, or a reason why there is none")
    return exchange


def traffic_watched(monitor: Monitor, system: LiveSystem) -> Traffic | None:
    """Return how a monitor watches a live system; None if it does not."""
    mine = (monitor.tenant, monitor.plan.target.model) == system
    return monitor.plan.traffic if mine else None


def sent_answer(
    exchange: Exchange, monitor: Monitor, traffic: Traffic, response_id: str
) -> SentAnswer:
    """Return the sending of an answer as the store accounts for it."""
    of = traffic_window(monitor, traffic, exchange.said_at)
    late = taken_late(of.window, exchange.at, monitor)
    answer_id = window_answer_id(exchange, of.run_id, monitor.plan.target.lane)
    return SentAnswer(of, answer_id, response_id, exchange.sending_name, late)


def window_answer_id(exchange: Exchange, run_id: str, lane: str) -> str:
    """Return what tells an answer from others in a window: whenever it says that it was given.

    It is the id that its response had before ids were in order, so that an answer of then is known.
    """
    of = (exchange.tenant, Purpose.PRODUCTION)
    probe_id = derived_id(Probe.kind, *of, run_id, exchange.key, lane, "direct", 0)
    return derived_id(Response.kind, *of, probe_id)


def traffic_window(monitor: Monitor, traffic: Traffic, said_at: datetime) -> MonitoredWindow:
    """Return the window of a monitor that an answer belongs to."""
    window = window_at(said_at, traffic.window_s)
    return MonitoredWindow(window_run_id(monitor, window), monitor.monitor_id, window)


def redacted_exchange(exchange: Exchange, redaction: Redaction) -> Exchange:
    """Return an exchange without what the redaction finds; one that was redacted is unchanged.

    Texts get marks. A unit or an id in which something is found gets a pseudonym, so that a user
    stays one user.
    """
    counts: Counter[str] = Counter()

    def redacted(text: str) -> str:
        found = redaction(text)
        counts.update(found.counts)
        return found.text

    def named(name: str) -> str:
        found = redaction(name)
        counts.update(found.counts)
        return pseudonym_of(name) if found.counts else name

    changed: dict[str, Any] = {
        "asked": tuple(
            each.model_copy(update={"content": redacted(each.content)}) for each in exchange.asked
        ),
        "text": None if exchange.text is None else redacted(exchange.text),
        "key": named(exchange.key),
        "unit_id": None if exchange.unit_id is None else named(exchange.unit_id),
    }
    if not counts:
        return exchange
    kept = {name: getattr(exchange, name) for name in type(exchange).model_fields}
    counts.update(exchange.redacted)
    return Exchange(**{**kept, **changed, "redacted": dict(sorted(counts.items()))})


def moment_in(fields: Mapping[str, Any], now: datetime) -> datetime:
    """Return when an answer was given, by its fields; now where they do not say it."""
    said_at = fields.get("at")
    return said_at if isinstance(said_at, datetime) else now
