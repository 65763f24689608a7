"""An answer of a live system as the response that a monitor watches, with the groups it names."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from biaswatch.shared.contracts import (
    MENTIONED,
    Ending,
    EvaluatedSpan,
    Exchange,
    Message,
    Monitor,
    Probe,
    Purpose,
    Response,
    Role,
    Traffic,
    window_at,
    window_run_id,
)
from biaswatch.shared.parsing.model_reasoning import after_reasoning
from biaswatch.shared.requests.traffic import CARRIED


def response_of(
    exchange: Exchange, monitor: Monitor, traffic: Traffic, evaluated: EvaluatedSpan | None = None
) -> Response:
    """Return the response that a monitor of traffic watches, made when its answer was taken in.

    `evaluated` says which of its measurements go back to the call's span.
    """
    window = window_at(exchange.said_at, traffic.window_s)
    probe = Probe(
        tenant=exchange.tenant,
        purpose=Purpose.PRODUCTION,
        at=exchange.said_at,
        run_id=window_run_id(monitor, window),
        key=exchange.key,
        target=monitor.plan.target,
        messages=exchange.asked,
        groups={**exchange.groups, **mentioned_groups(traffic, exchange.asked)},
        set_id=exchange.unit_id,  # None where no user or conversation is named
        unit_id=exchange.unit,
        facts=exchange.facts,
        measure=monitor.plan.extractors,
        position=window.position_of(exchange.said_at),
    )
    return Response(
        tenant=exchange.tenant,
        purpose=Purpose.PRODUCTION,
        at=exchange.at,
        probe=probe,
        evaluated=evaluated,
        **{**exchange.model_dump(include={"redacted", *CARRIED}), **_ending_of(exchange)},
    )


def _ending_of(exchange: Exchange) -> dict[str, Any]:
    """Return the answer of an exchange without its reasoning, and how it ended."""
    if exchange.text is None:
        return {"ending": Ending.FAILED}
    parts = after_reasoning(exchange.text)
    reasoning = parts.reasoning or None
    if why := parts.missing:
        return {"ending": Ending.FAILED, "reason": why, "text": None, "reasoning": reasoning}
    return {"ending": Ending.ANSWERED, "text": parts.answer, "reasoning": reasoning}


def without_position(response: Response) -> Response:
    """Return the response as it was made before ids were in order."""
    probe = response.probe.model_copy(update={"position": None})
    return response.model_copy(update={"probe": probe})


def evaluated_span(
    exchange: Exchange, monitor: Monitor, told: Collection[str]
) -> EvaluatedSpan | None:
    """Return which measurements for a monitor go back to the call's span, if it has one.

    `told` are the extractors whose measurements go back from another monitor's response. What was
    recorded before anybody watched stays as it is.
    """
    extractors = tuple(each for each in monitor.plan.extractors if each not in told)
    if exchange.span is None or exchange.history or not extractors:
        return None
    return EvaluatedSpan(span=exchange.span, extractors=extractors)


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
