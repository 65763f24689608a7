"""Join the stored parts of traces to answers, once no more of a trace is awaited."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import TypeAdapter

from biaswatch.services.gateway.otlp.intake import OUTCOMES, SignalIntake, stored_key
from biaswatch.shared.contracts import Exchange
from biaswatch.shared.conventions.agents import (
    SpanKey,
    heads_of,
    parents_of,
    positions_of,
    without_steps,
)
from biaswatch.shared.conventions.answers import AnswerPart, joined
from biaswatch.shared.conventions.left_out import LeftOut, OmissionReason
from biaswatch.shared.lookup import grouped
from biaswatch.shared.store import Store
from biaswatch.shared.store.answer_parts import STEPS, Operation, Patience, WaitingPart
from biaswatch.shared.store.database import Scope
from biaswatch.shared.telemetry import OTLP_SIGNALS, log

SETTLE_TIME = timedelta(seconds=2)
"""Time without new parts after which a complete trace is read."""
MAX_WAIT = timedelta(seconds=45)
"""Time without new parts after which an incomplete trace is read."""
MAX_OPEN = timedelta(minutes=10)
"""Time after the first part when any trace is read; its agents are remembered as long."""
MAX_STEPS = 1000
"""Spans of a trace that are remembered."""
_PART = TypeAdapter(AnswerPart)


@dataclass
class SettledTraces:
    """Answers of traces, and the changes of the store once they are published."""

    exchanges: list[Exchange] = field(default_factory=list)
    parts: list[WaitingPart] = field(default_factory=list)
    """The parts that were read, including those without an answer."""
    steps: list[WaitingPart] = field(default_factory=list)
    """The spans of traces with steps; further steps are recognized by them."""
    unwatched: Counter[Operation] = field(default_factory=Counter)
    """Number of answers that no monitor watches."""


class _Answer(NamedTuple):
    part: AnswerPart
    operation: Operation
    began: datetime
    """Intake of the first part."""


class AnswerJoiner:
    """Joins stored parts of answers, for all tenants."""

    def __init__(
        self, store: Store, intake: Callable[[Store], SignalIntake], *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._intake = intake
        self._intakes: dict[str, SignalIntake] = {}
        self._now = now

    def settled(self) -> SettledTraces:
        """Return the answers of settled traces.

        The caller removes the parts once the bus has the exchanges. If the process ends in
        between, they are sent again with the same sending number.
        """
        now = self._now()
        result = SettledTraces()
        answers: dict[str, list[_Answer]] = defaultdict(list)
        patience = Patience(now - SETTLE_TIME, now - MAX_WAIT, now - MAX_OPEN)
        for stored in self._store.answer_parts.settled(patience):
            parts = [part for part in stored if part.part != STEPS]
            result.parts += parts
            tenant, _, _ = operation = parts[0].operation
            answer_parts, steps = _read(stored)
            result.steps += [] if steps is None else [_remembered(operation, steps, now)]
            began = min(part.at for part in parts)
            for part in answer_parts:
                if part.content.answered:
                    answers[tenant].append(_Answer(part, operation, began))
                elif part.is_span:
                    OTLP_SIGNALS.labels(OUTCOMES[OmissionReason.UNREAD]).inc()
                    self._intake_of(tenant).log_unanswered(part)
        for tenant, of_tenant in answers.items():
            self._add_exchanges(tenant, of_tenant, result)
        return result

    def remove(self, settled: SettledTraces) -> None:
        """Remove the parts of traces whose answers are published."""
        self._store.answer_parts.remove(
            settled.parts, settled.unwatched, settled.steps, self._now() - MAX_OPEN
        )

    def _add_exchanges(
        self, tenant: str, answers: Sequence[_Answer], result: SettledTraces
    ) -> None:
        intake = self._intake_of(tenant)
        by_source = grouped((answer.part.source, answer.part) for answer in answers)
        accepted = intake.exchanges_of(by_source)
        places = {
            (part.source, stored_key(intake.exchange_key(part.key))): (operation, began)
            for part, operation, began in answers
        }
        for exchange in accepted.exchanges:
            place = places.get((exchange.source, stored_key(exchange.key)))
            began = place[1] if place else exchange.said_at
            result.exchanges.append(_with_sending(exchange, began))
        for part in accepted.unwatched:
            operation, _ = places[part.source, stored_key(intake.exchange_key(part.key))]
            result.unwatched[operation] += 1
        for reason in dict.fromkeys(accepted.refused):
            log("gateway").warning("answers of OTLP are refused", tenant=tenant, why=reason)

    def _intake_of(self, tenant: str) -> SignalIntake:
        if tenant not in self._intakes:
            scope = Scope(tenant=tenant)
            self._intakes[tenant] = self._intake(self._store.scoped(lambda: scope))
        return self._intakes[tenant]


class _Steps(NamedTuple):
    """Spans of a trace with agents."""

    parents: Mapping[str, str]
    heads: Mapping[str, bool]
    """Agents (true) and calls (false)."""


def _read(stored: Sequence[WaitingPart]) -> tuple[list[AnswerPart], _Steps | None]:
    """Return the answers in a trace, and the spans to remember if it has steps."""
    parts = [_PART.validate_json(part.body) for part in stored if part.part != STEPS and part.body]
    known = [_Steps(**json.loads(part.body)) for part in stored if part.part == STEPS]
    trace = next((part.trace_id for part in parts), "")
    parents: dict[SpanKey, str] = {
        (trace, span): parent for steps in known for span, parent in steps.parents.items()
    }
    parents |= parents_of(parts)
    heads: dict[SpanKey, bool] = {
        (trace, span): is_agent for steps in known for span, is_agent in steps.heads.items()
    }
    heads |= heads_of(parts)
    left_out = LeftOut()
    calls = [part for part in parts if not part.is_link]
    kept = without_steps(calls, positions_of(parents, heads), left_out)
    OTLP_SIGNALS.labels(OUTCOMES[OmissionReason.STEPS]).inc(left_out.counts[OmissionReason.STEPS])
    by_key = grouped((part.key, part) for part in kept)
    latest = list(parents.items())[-MAX_STEPS:]
    latest_heads = list(heads.items())[-MAX_STEPS:]
    steps = _Steps(
        {span: parent for (_, span), parent in latest},
        {span: is_agent for (_, span), is_agent in latest_heads},
    )
    has_steps = bool(known or left_out.counts or any(part.is_agent for part in parts))
    return [joined(of_key) for of_key in by_key.values()], steps if has_steps else None


def _remembered(operation: Operation, steps: _Steps, at: datetime) -> WaitingPart:
    tenant, source, key = operation
    body = json.dumps(steps._asdict())
    return WaitingPart(tenant, source, key, STEPS, at, False, False, body)


def _with_sending(exchange: Exchange, began: datetime) -> Exchange:
    """Set the sending number from the time of the first part.

    Joining the same parts twice is one sending; sending them again is another.
    """
    digest = hashlib.sha256(f"{exchange.key}\n{began.isoformat()}".encode()).digest()
    return exchange.model_copy(update={"sending": int.from_bytes(digest[:6])})
