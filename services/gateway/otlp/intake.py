"""Turn OTLP signals into exchanges: at once if a call is complete, else with its trace."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from pydantic import TypeAdapter

from biaswatch.services.gateway.context import now
from biaswatch.services.gateway.otlp.wire import ExportResult
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.services.gateway.traffic.intake_files import mapping_of, redaction_of
from biaswatch.services.gateway.traffic.watchers import UnwatchedError
from biaswatch.shared.contracts import Exchange, pseudonym_of
from biaswatch.shared.conventions.agents import (
    SpanKey,
    SpanPosition,
    count_other,
    count_unanswered,
    has_unknown_texts,
    heads_of,
    parents_of,
    positions_of,
    without_steps,
)
from biaswatch.shared.conventions.answers import AnswerPart, link_of, part_of, sent_fields
from biaswatch.shared.conventions.left_out import LeftOut, OmissionReason
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.requests.traffic import MAX_BATCH, Redaction
from biaswatch.shared.store import Store
from biaswatch.shared.store.answer_parts import WaitingPart
from biaswatch.shared.telemetry import OTLP_SIGNALS, REDACTIONS, log

MAX_LOGGED_SOURCES = 100
"""Sources without texts that a process logs; senders choose their names."""
MAX_KEY_LENGTH = 512
"""Length of the key of an operation in the store."""
NO_SOURCE = "nothing names the live system: set the attribute service.name, or map `source`"
OUTCOMES: Mapping[str, str] = {
    OmissionReason.UNREAD: "no text in it",
    OmissionReason.AGENTS: "no text in it",
    OmissionReason.STEPS: "step of an agent",
}
"""Outcomes in the metric, by reason."""
_PART = TypeAdapter(AnswerPart)


@dataclass
class IntakeResult:
    """Exchanges and refused answers of a request."""

    exchanges: list[Exchange] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """The reason for each refused answer."""
    unwatched: list[AnswerPart] = field(default_factory=list)
    """Refused answers of systems without any monitor."""
    left_out: LeftOut = field(default_factory=LeftOut)
    """Spans and events without an answer."""

    @property
    def export_result(self) -> ExportResult:
        """The result for the sender; it names omissions if model calls are among them."""
        reasons = list(dict.fromkeys(self.refused))
        more = f" (and {len(reasons) - 1} more reasons)" if len(reasons) > 1 else ""
        sentences = [f"{reasons[0]}{more}"] if reasons else []
        if self.left_out.counts.keys() & {OmissionReason.UNREAD, OmissionReason.WAITING}:
            sentences += self.left_out.sentences()
        return ExportResult(len(self.refused), " ".join(sentences))


class SignalIntake:
    """Accepts the signals of requests; it uses the store, so it runs in a thread."""

    def __init__(
        self,
        store: Store,
        ingestion: ExchangeIngestion,
        mapping: MappingFile,
        redaction: Redaction,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._ingestion = ingestion
        self._mapping = mapping
        self._redaction = redaction
        self._now = now
        self._logged_sources: set[str] = set()

    def accept(self, signals: Iterable[Signal]) -> IntakeResult:
        """Return the exchanges of a request; incomplete traces are stored until the rest comes."""
        left_out, unfinished = LeftOut(), LeftOut()
        parts, positions = self._parts(list(signals), left_out)
        traces = self._open_traces(parts, positions)
        waiting = [part for part in parts if (part.source, part.trace_id) in traces]
        closed = [
            part
            for part in parts
            if not part.is_link and (part.source, part.trace_id) not in traces
        ]
        complete: dict[str, list[AnswerPart]] = defaultdict(list)
        for part in without_steps(closed, positions, left_out):
            if part.waits and part.source:
                waiting.append(part)
            elif part.whole:
                complete[part.source].append(part)
            else:
                count_unanswered(part, left_out)
                self.log_unanswered(part)
        for part in waiting:
            if part.is_span and part.waits and has_unknown_texts(part):
                unfinished.add(OmissionReason.WAITING, part.names)
        self._keep(waiting, positions, left_out)
        result = self.exchanges_of(complete)
        left_out.update(unfinished)
        result.left_out = left_out
        if result.unwatched:
            sources = Counter(part.source for part in result.unwatched)
            self._store.unwatched_answers.count(self._store.tenant, sources, self._now())
        return result

    def _keep(
        self,
        waiting: Sequence[AnswerPart],
        positions: Mapping[SpanKey, SpanPosition],
        left_out: LeftOut,
    ) -> None:
        """Store the parts that wait; count the signals of a request that are not answers."""
        for reason, count in left_out.counts.items():
            OTLP_SIGNALS.labels(OUTCOMES.get(reason, "not of an answer")).inc(count)
        OTLP_SIGNALS.labels("part of an answer").inc(len(waiting))
        self._store.answer_parts.keep([self._stored(part, positions) for part in waiting])

    def _parts(
        self, signals: Sequence[Signal], left_out: LeftOut
    ) -> tuple[list[AnswerPart], Mapping[SpanKey, SpanPosition]]:
        """Return the parts of answers, with other spans as links, and the positions of spans."""
        parts = [part_of(signal, self._mapping) for signal in signals]
        heads = heads_of(part for part in parts if part is not None)
        positions = positions_of(parents_of(signals), heads)
        for signal, part in zip(signals, parts, strict=True):
            if part is None:
                count_other(signal, positions, left_out)
        kept = [
            link_of(signal, self._mapping) if part is None else part
            for signal, part in zip(signals, parts, strict=True)
            if part is not None or signal.is_span
        ]
        return kept, positions

    def _open_traces(
        self, parts: Sequence[AnswerPart], positions: Mapping[SpanKey, SpanPosition]
    ) -> set[tuple[str, str]]:
        """Return the traces of services that wait for more spans, or for all of an agent."""
        traces, opened = set[tuple[str, str]](), set[tuple[str, str]]()
        for part in parts:
            if not (part.trace_id and part.source and part.is_span):
                continue
            trace = part.source, part.trace_id
            traces.add(trace)
            position = positions[part.span_key]
            is_head = position.head == part.span_key and not part.is_link
            if is_head and (part.is_agent or part.waits or not position.is_below_root):
                opened.add(trace)
        return opened | self._store.answer_parts.waiting(self._store.tenant, traces - opened)

    def exchanges_of(self, answers: Mapping[str, Sequence[AnswerPart]]) -> IntakeResult:
        """Return the exchanges of complete answers, given by live system."""
        result = IntakeResult()
        for source, parts in answers.items():
            if not source:
                result.refused += [NO_SOURCE] * len(parts)
                result.unwatched += parts
                continue
            mapping = self._mapping.of(source)
            sampled = [part for part in parts if mapping.takes(part.unit or part.key)]
            OTLP_SIGNALS.labels("outside the share").inc(len(parts) - len(sampled))
            for start in range(0, len(sampled), MAX_BATCH):
                self._add_exchanges(source, sampled[start : start + MAX_BATCH], result)
        OTLP_SIGNALS.labels("answer").inc(len(result.exchanges))
        OTLP_SIGNALS.labels("refused").inc(len(result.refused))
        return result

    def _add_exchanges(
        self, source: str, parts: Sequence[AnswerPart], result: IntakeResult
    ) -> None:
        try:
            exchanges, reasons = self._ingestion.exchanges_one_by_one(
                source, [sent_fields(part) for part in parts]
            )
        except UnwatchedError as error:
            result.refused += [str(error)] * len(parts)
            result.unwatched += parts
            return
        redacted = {self.exchange_key(part.key): part.redacted for part in parts if part.redacted}
        result.exchanges += [
            _add_redacted(exchange, redacted.get(exchange.key, {})) for exchange in exchanges
        ]
        result.refused += reasons

    def log_unanswered(self, part: AnswerPart) -> None:
        """Log why a model call has no answer, once per source."""
        source = part.source
        if source in self._logged_sources or len(self._logged_sources) == MAX_LOGGED_SOURCES:
            return
        self._logged_sources.add(source)
        last = len(self._logged_sources) == MAX_LOGGED_SOURCES
        log("gateway").warning(
            "a model call without an answer in a known attribute is left out",
            source=source,
            attributes=list(part.names),
            **({"further": "other sources are not named any more"} if last else {}),
        )

    def _stored(self, part: AnswerPart, positions: Mapping[SpanKey, SpanPosition]) -> WaitingPart:
        """Return a part in the form of the store, redacted."""
        content, counts = part.content, Counter[str]()
        position = positions[part.span_key] if part.is_span else None
        is_head = position is not None and position.head == part.span_key

        def redacted(text: str) -> str:
            result = self._redaction(text)
            counts.update(result.counts)
            return result.text

        messages = tuple(
            message.model_copy(update={"content": redacted(message.content)})
            for message in content.prompt
        )
        text = None if content.text is None else redacted(content.text)
        for name, count in counts.items():
            REDACTIONS.labels(name).inc(count)
        redacted_part = replace(
            part,
            unit=None if part.unit is None else self.exchange_key(part.unit),
            content=replace(content, prompt=messages, text=text),
            redacted=dict(counts),
        )
        return WaitingPart(
            self._store.tenant,
            part.source,
            stored_key(part.trace_id or part.key),
            hashlib.sha256(_PART.dump_json(part)).hexdigest()[:32],
            self._now(),
            is_head and (content.answered or not part.is_agent),
            content.answered and (is_head or position is None),
            _PART.dump_json(redacted_part, exclude_defaults=True).decode(),
            position is not None and position.is_below_root,
        )

    def exchange_key(self, key: str) -> str:
        """Return the key that the exchange of an operation has after redaction."""
        return pseudonym_of(key) if self._redaction(key).counts else key


def signal_intake(store: Store, settings: GatewaySettings) -> SignalIntake:
    """Return the intake that the settings configure.

    Raises
    ------
    ConfigurationError
        The mapping file or the redaction file is wrong.
    """
    redaction = redaction_of(settings.gateway_redaction_file)
    mapping = mapping_of(settings.gateway_mapping_file)
    ingestion = ExchangeIngestion(store, now=now, redaction=redaction)
    return SignalIntake(store, ingestion, mapping, redaction, now=now)


def stored_key(key: str) -> str:
    """Return the key of an operation in the store: bounded, and without NUL for PostgreSQL."""
    return key[:MAX_KEY_LENGTH].replace("\x00", "\ufffd")


def _add_redacted(exchange: Exchange, redacted: Mapping[str, int]) -> Exchange:
    """Add the redactions of an exchange's parts to its own."""
    if not redacted:
        return exchange
    counts = Counter(exchange.redacted) + Counter(redacted)
    return exchange.model_copy(update={"redacted": dict(sorted(counts.items()))})
