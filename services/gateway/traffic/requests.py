"""Production answers as they are sent in, and the responses that monitors watch."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from shared.contracts import (
    MENTIONED,
    Ending,
    Exchange,
    Message,
    Monitor,
    Probe,
    Purpose,
    Response,
    Role,
    Token,
    Traffic,
    read_at,
    window_at,
    window_run,
)
from shared.contracts.identity import Name

LiveSystem = tuple[str, str]
"""The tenant and the name of a live system."""
MAX_BATCH = 1000
MAX_EXCHANGE_BYTES = 448 * 1024
"""Of one answer with its prompt; its response is larger and must fit on the bus."""
MAX_CLOCK_SKEW = timedelta(minutes=10)
"""How far the caller's clock may be ahead of ours."""
CARRIED = {"text", "reason", "model", "fingerprint", "finish_reason"}


class SentResponse(BaseModel):
    """One answer of a live system, as its owner sends it."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    id: Name
    """Your id of this exchange; sent twice with one id in a window, it counts once."""
    at: AwareDatetime | None = None
    """When the answer was given; default now. Set it if you may have to send the answer again."""
    prompt: str | None = None
    """The user's message, if it may be stored; or use `messages`."""
    messages: tuple[Message, ...] = ()
    """The conversation, if it may be stored."""
    text: str | None = None
    """The answer."""
    reason: Token | None = None
    """Why there is no answer: content_filter, timeout, ..."""
    groups: dict[Name, Name] = {}
    """The groups it is about or for, by dimension, as far as known."""
    unit: Name | None = None
    """The user or the conversation, best as a pseudonym; an answer without it is no evidence."""
    model: Name | None = None
    """The model that answered."""
    fingerprint: Name | None = None
    """The version of the model."""
    finish_reason: Name | None = None
    """Why the model stopped."""


class SentBatch(BaseModel):
    """A batch of production answers."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    source: Token
    """The live system: `support` for monitors with the target `traffic:support`."""
    responses: list[SentResponse] = Field(min_length=1, max_length=MAX_BATCH)
    """The answers."""


class AcceptedBatch(BaseModel):
    """How much of a batch was accepted."""

    accepted: int
    """Answers that are on the bus."""


def exchange_of(source: str, sent: SentResponse, now: datetime) -> Exchange:
    """Return the record of an answer that was sent.

    Raises
    ------
    ValueError
        It has both a prompt and messages, or `check_exchange` refuses it.
    """
    if sent.prompt is not None and sent.messages:
        raise ValueError("give `prompt` or `messages`, not both")
    copied: dict[str, Any] = sent.model_dump(include={"groups", *CARRIED})
    prompt = () if sent.prompt is None else (Message(role=Role.USER, content=sent.prompt),)
    return check_exchange(
        Exchange(
            at=now,
            source=source,
            key=sent.id,
            said_at=sent.at or now,
            asked=prompt or sent.messages,
            unit_id=sent.unit,
            **copied,
        ),
        now,
    )


def check_exchange(exchange: Exchange, now: datetime) -> Exchange:
    """Return an exchange unchanged if it can be ingested.

    Raises
    ------
    ValueError
        It has neither an answer nor a reason for having none, or both; it lies in the future;
        it names a group that is only detected here; or it is too large.
    """
    if exchange.said_at > now + MAX_CLOCK_SKEW:
        raise ValueError(f"`at` lies in the future ({exchange.said_at.isoformat()})")
    if claimed := sorted(name for name in exchange.groups if name.startswith(MENTIONED)):
        raise ValueError(f"the dimension {claimed[0]} is for groups that are detected here")
    if (size := len(exchange.encode())) > MAX_EXCHANGE_BYTES:
        most = MAX_EXCHANGE_BYTES // 1024
        raise ValueError(f"it has {size // 1024} KiB, and {most} KiB can be taken; shorten it")
    if (exchange.text is None) == (exchange.reason is None):
        raise ValueError("give either a text, or a reason why there is none")
    return exchange


def traffic_watched(monitor: Monitor, system: LiveSystem) -> Traffic | None:
    """Return how a monitor watches a live system; None if it does not."""
    mine = (monitor.tenant, monitor.plan.target.model) == system
    return monitor.plan.traffic if mine else None


def is_late(exchange: Exchange, monitor: Monitor, traffic: Traffic, now: datetime) -> bool:
    """Return whether the window of an exchange was already read: it is stored, not counted."""
    return now > read_at(window_at(exchange.said_at, traffic.window_s), monitor)


def response_of(exchange: Exchange, monitor: Monitor, traffic: Traffic, now: datetime) -> Response:
    """Return the response that a monitor of traffic watches."""
    window = window_at(exchange.said_at, traffic.window_s)
    probe = Probe(
        tenant=exchange.tenant,
        purpose=Purpose.PRODUCTION,
        at=exchange.said_at,
        run_id=window_run(monitor, window, now).id,
        key=exchange.key,
        target=monitor.plan.target,
        messages=exchange.asked,
        groups={**exchange.groups, **mentioned_groups(traffic, exchange.asked)},
        set_id=exchange.unit_id,  # None where no user or conversation is named
        unit_id=exchange.unit,
        measure=monitor.plan.extractors,
    )
    return Response(
        tenant=exchange.tenant,
        purpose=Purpose.PRODUCTION,
        at=now,
        probe=probe,
        ending=Ending.FAILED if exchange.text is None else Ending.ANSWERED,
        **exchange.model_dump(include=CARRIED),
    )


def mentioned_groups(traffic: Traffic, asked: Sequence[Message]) -> dict[str, str]:
    """Return the groups that users mention, in dimensions with a prefix of their own.

    A message that mentions two groups of a dimension has none of them.
    """
    text = "\n".join(each.content for each in asked if each.role is Role.USER)
    found = {
        name: [group for group, words in groups.items() if _pattern(tuple(words)).search(text)]
        for name, groups in traffic.mentions.items()
    }
    return {MENTIONED + name: groups[0] for name, groups in found.items() if len(groups) == 1}


@lru_cache(maxsize=256)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of whole words in any case; `she` is not in `shell`."""
    either = "|".join(re.escape(word) for word in words)
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)
