"""Production answers in requests, and the windows of monitors that receive them."""

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
    Moment,
    Monitor,
    MonitoredWindow,
    Name,
    Probe,
    Purpose,
    Response,
    Role,
    SentAnswer,
    Token,
    Traffic,
    derived_id,
    pseudonym_of,
    taken_late,
    window_at,
    window_run_id,
)
from biaswatch.shared.contracts.identity import DEFAULT_TENANT
from biaswatch.shared.parsing.redaction import RedactedText

LiveSystem = tuple[str, str]
"""The tenant and the name of a live system."""
MAX_BATCH = 1000
MAX_LABELS = 100
"""Number of groups, and of facts, of one answer."""
MAX_MESSAGES = 2000
"""Messages of one conversation."""
MAX_EXCHANGE_BYTES = 448 * 1024
"""Size of an answer with its prompt; its response is larger and must fit on the bus."""
EARLIEST_YEAR = 1990
"""Earlier moments are mistakes of a clock or a format."""
MAX_CLOCK_SKEW = timedelta(minutes=10)
"""How far a sender's clock may be ahead."""
CARRIED = {"text", "reason", "model", "fingerprint", "finish_reason"}
Redaction = Callable[[str], RedactedText]
"""Replaces the parts of a text that may not be stored."""


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
    """The reason for a missing answer: content_filter, timeout, ..."""
    groups: dict[Name, Name] = Field(default={}, max_length=MAX_LABELS)
    """The groups it is about or for, by dimension, as far as known."""
    facts: dict[Name, Name] = Field(default={}, max_length=MAX_LABELS)
    """Other facts: topic, language, product; a monitor may compare within them."""
    unit: Name | None = None
    """The user or the conversation, best as a pseudonym; evidence needs it."""
    model: Name | None = None
    """The model that answered."""
    fingerprint: Name | None = None
    """The version of the model."""
    finish_reason: Name | None = None
    """Why the model stopped."""
    span: CallSpan | None = None
    """Which span of your traces the call is: measurements can go back to it."""


class BatchHeader(BaseModel):
    """The common fields of a batch."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    source: Token
    """The live system: `support` for monitors with the target `traffic:support`."""
    history: bool = False
    """True for answers from before the monitor began; they are read after
    `POST /v1/history/{source}/read`, as if each had come at its `at`."""


class SentBatch(BatchHeader):
    """A batch of production answers."""

    responses: list[SentResponse] = Field(min_length=1, max_length=MAX_BATCH)
    """The answers."""


class AcceptedBatch(BaseModel):
    """Numbers of accepted answers of a batch."""

    accepted: int
    """Answers that are on the bus."""
    late: dict[str, int] = {}
    """Accepted answers that are too late for their windows, by monitor, also if sent before."""
    redacted: dict[str, int] = {}
    """Number of redactions in their texts, by replacement."""


class UnwatchedView(BaseModel):
    """A live system whose answers no monitor watched; they are not stored."""

    source: str
    """`(no name)`: answers that name no system. `(others)`: systems beyond the first thousand."""
    answers: int
    """Number of answers ever refused for this reason, over OTLP and HTTP."""
    first_at: Moment
    last_at: Moment


class HistoryView(BaseModel):
    """The past of a live system, read for one of its monitors."""

    monitor: str
    """The monitor that reads it; `monitor show` shows its findings."""
    of: str
    """The monitor that watches the same traffic live."""
    before: Moment
    """The end of the past: the beginning of the first window that is watched live."""
    read: bool
    """True if all answers of the past that were sent are read."""
    sent: int
    """Number of answers sent."""
    accounts: AnswerAccounts
    """Accounts of these answers."""


def exchange_of(
    source: str,
    sent: SentResponse,
    now: datetime,
    *,
    sending: int | None = None,
    history: bool = False,
    tenant: str = DEFAULT_TENANT,
) -> Exchange:
    """Return the exchange of an answer, stamped with the time of intake.

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
    """Return an exchange unchanged if it is valid.

    Raises
    ------
    ValueError
        It has neither a text nor a reason, or both; its time is invalid; it names a group that is
        detected here; or it is too large.
    """
    if exchange.said_at.year < EARLIEST_YEAR:  # a comparison of moments could overflow
        raise ValueError(f"`at` is before {EARLIEST_YEAR}")
    latest = max(exchange.said_at, exchange.at)
    if latest > now + MAX_CLOCK_SKEW:
        raise ValueError(f"`at` is in the future ({latest.isoformat()})")
    if exchange.history and exchange.said_at == exchange.at:
        raise ValueError("an answer of the past needs `at`, the time when it was given")
    if claimed := sorted(name for name in exchange.groups if name.startswith(MENTIONED)):
        raise ValueError(f"the dimension {claimed[0]} is for groups that are detected here")
    if (size := exchange.message_bytes()) > MAX_EXCHANGE_BYTES:
        most = MAX_EXCHANGE_BYTES // 1024
        raise ValueError(f"it has {size // 1024} KiB, and the limit is {most} KiB; shorten it")
    if (exchange.text is None) == (exchange.reason is None):
        raise ValueError("give either a text, or a reason for a missing one")
    return exchange


def traffic_watched(monitor: Monitor, system: LiveSystem) -> Traffic | None:
    """Return how a monitor watches a live system; None if it does not."""
    watched = (monitor.tenant, monitor.plan.target.model)
    return monitor.plan.traffic if watched == system else None


def sent_answer(
    exchange: Exchange, monitor: Monitor, traffic: Traffic, response_id: str
) -> SentAnswer:
    """Return an answer in the form that the store accounts for."""
    of = traffic_window(monitor, traffic, exchange.said_at)
    late = taken_late(of.window, exchange.at, monitor)
    answer_id = window_answer_id(exchange, of.run_id, monitor.plan.target.lane)
    return SentAnswer(of, answer_id, response_id, exchange.sending_name, late)


def window_answer_id(exchange: Exchange, run_id: str, lane: str) -> str:
    """Return the id of an answer within a window, whatever its moment is.

    It equals the id of its response in versions whose ids were not ordered, so that answers of
    those versions are recognised.
    """
    tenant, purpose = exchange.tenant, Purpose.PRODUCTION
    probe_id = derived_id(Probe.kind, tenant, purpose, run_id, exchange.key, lane, "direct", 0)
    return derived_id(Response.kind, tenant, purpose, probe_id)


def traffic_window(monitor: Monitor, traffic: Traffic, at: datetime) -> MonitoredWindow:
    """Return the window of a monitor that an answer belongs to."""
    window = window_at(at, traffic.window_s)
    return MonitoredWindow(window_run_id(monitor, window), monitor.monitor_id, window)


def redacted_exchange(exchange: Exchange, redaction: Redaction) -> Exchange:
    """Return a redacted exchange; redacting it again changes nothing.

    Matches in texts are replaced by marks. A unit or an id with a match is replaced by a pseudonym,
    so that a user stays one user.
    """
    counts: Counter[str] = Counter()

    def redacted(text: str) -> str:
        result = redaction(text)
        counts.update(result.counts)
        return result.text

    def pseudonymised(name: str) -> str:
        result = redaction(name)
        counts.update(result.counts)
        return pseudonym_of(name) if result.counts else name

    contents = [redacted(message.content) for message in exchange.asked]
    changed: dict[str, Any] = {
        "text": None if exchange.text is None else redacted(exchange.text),
        "key": pseudonymised(exchange.key),
        "unit_id": None if exchange.unit_id is None else pseudonymised(exchange.unit_id),
    }
    if not counts:
        return exchange
    changed["asked"] = tuple(
        message.model_copy(update={"content": content})
        for message, content in zip(exchange.asked, contents, strict=True)
    )
    fields = {name: getattr(exchange, name) for name in type(exchange).model_fields}
    counts.update(exchange.redacted)
    return Exchange(**{**fields, **changed, "redacted": dict(sorted(counts.items()))})


def moment_in(fields: Mapping[str, Any], now: datetime) -> datetime:
    """Return the moment in the fields of an answer; default: now."""
    at = fields.get("at")
    return at if isinstance(at, datetime) else now
