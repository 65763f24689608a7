"""Signals become exchanges: at once where one tells all, else when the rest has come."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import TypeAdapter

from biaswatch.services.gateway.otlp.wire import ExportResult
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.services.gateway.traffic.watchers import UnwatchedError
from biaswatch.shared.contracts import Exchange
from biaswatch.shared.contracts.identity import pseudonym_of
from biaswatch.shared.conventions.answers import AnswerPart, joined, part_of, sent_fields
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.requests.traffic import MAX_BATCH, Redaction
from biaswatch.shared.store import Store
from biaswatch.shared.store.answer_parts import Operation, WaitingPart
from biaswatch.shared.store.engine import Scope
from biaswatch.shared.telemetry import OTLP_SIGNALS, REDACTIONS, log

QUIET = timedelta(seconds=2)
"""How long nothing more has to come of a complete operation: its events may be in two batches."""
PATIENCE = timedelta(seconds=60)
"""How long a span waits for its log events, and they for it."""
MAX_SILENT_SOURCES = 100
"""Sources without texts that a process names in its log; senders choose their names."""
MOST_KEY = 512
"""Characters of what names an operation, in the store."""
NO_SOURCE = "nothing names the live system: set the attribute service.name, or map `source`"
_PART = TypeAdapter(AnswerPart)


@dataclass
class TakenSignals:
    """What a request brought."""

    exchanges: list[Exchange] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Why, for each answer that is not taken."""
    unwatched: list[AnswerPart] = field(default_factory=list)
    """Those of them that no monitor's account holds: their systems are not watched."""

    @property
    def result(self) -> ExportResult:
        """Return what its sender is told."""
        reasons = list(dict.fromkeys(self.refused))
        more = f" (and {len(reasons) - 1} more reasons)" if len(reasons) > 1 else ""
        return ExportResult(len(self.refused), f"{reasons[0]}{more}" if reasons else "")


class SignalIntake:
    """Takes in the signals of requests; it reads and writes the store, so it runs in a thread."""

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
        self._silent: set[str] = set()
        """Sources of which it was said that their spans have no texts."""

    def take(self, signals: Iterable[Signal]) -> TakenSignals:
        """Return the exchanges of a request; parts of answers are kept until the rest comes."""
        whole: dict[str, list[AnswerPart]] = defaultdict(list)
        waiting = []
        for signal in signals:
            part = part_of(signal, self._mapping)
            if part is None:
                OTLP_SIGNALS.labels("not of an answer").inc()
            elif part.waits and part.source:
                waiting.append(part)
            elif part.whole:
                whole[part.source].append(part)
            else:
                self.note_silence(part.source)
        OTLP_SIGNALS.labels("part of an answer").inc(len(waiting))
        self._store.answer_parts.keep([self._kept(each) for each in waiting])
        taken = self.exchanges_of(whole)
        if taken.unwatched:
            sources = Counter(each.source for each in taken.unwatched)
            self._store.unwatched_answers.count(self._store.tenant, sources, self._now())
        return taken

    def exchanges_of(self, whole: Mapping[str, Sequence[AnswerPart]]) -> TakenSignals:
        """Return the exchanges of answers by their live systems."""
        taken = TakenSignals()
        for source, every in whole.items():
            if not source:
                taken.refused += [NO_SOURCE] * len(every)
                taken.unwatched += every
                continue
            share = self._mapping.of(source)
            parts = [each for each in every if share.takes(each.unit or each.key)]
            OTLP_SIGNALS.labels("outside the share").inc(len(every) - len(parts))
            for start in range(0, len(parts), MAX_BATCH):
                some = parts[start : start + MAX_BATCH]
                try:
                    found, wrong = self._ingestion.exchanges_one_by_one(
                        source, [sent_fields(each) for each in some]
                    )
                except UnwatchedError as error:
                    found, wrong = [], [str(error)] * len(some)
                    taken.unwatched += some
                marks = {
                    self.exchange_key(part.key): part.redacted for part in some if part.redacted
                }
                taken.exchanges += [_marked(each, marks.get(each.key, {})) for each in found]
                taken.refused += wrong
        OTLP_SIGNALS.labels("answer").inc(len(taken.exchanges))
        OTLP_SIGNALS.labels("refused").inc(len(taken.refused))
        return taken

    def note_silence(self, source: str) -> None:
        """Count an operation without any text; say once a source why there is none."""
        OTLP_SIGNALS.labels("no text in it").inc()
        if source in self._silent or len(self._silent) == MAX_SILENT_SOURCES:
            return
        self._silent.add(source)
        last = len(self._silent) == MAX_SILENT_SOURCES
        log("gateway").warning(
            "spans without texts are no answers: switch on the capture of message content",
            source=source,
            **({"further": "other sources are not named any more"} if last else {}),
        )

    def _kept(self, part: AnswerPart) -> WaitingPart:
        """Return a part as the store keeps it: without what the redaction finds."""
        content, counts = part.content, Counter[str]()

        def redacted(text: str) -> str:
            found = self._redaction(text)
            counts.update(found.counts)
            return found.text

        asked = tuple(
            each.model_copy(update={"content": redacted(each.content)}) for each in content.asked
        )
        said = None if content.text is None else redacted(content.text)
        for name, times in counts.items():
            REDACTIONS.labels(name).inc(times)
        found = replace(
            part,
            unit=None if part.unit is None else self.exchange_key(part.unit),
            content=replace(content, asked=asked, text=said),
            redacted=dict(counts),
        )
        body = _PART.dump_json(found, exclude_defaults=True)
        digest = hashlib.sha256(_PART.dump_json(part)).hexdigest()[:32]
        return WaitingPart(
            self._store.tenant, part.source, stored_key(part.key), digest, self._now(),
            part.is_span, content.answered, body.decode(),
        )  # fmt: skip

    def exchange_key(self, key: str) -> str:
        """Return the key that the exchange of an operation has after redaction."""
        return pseudonym_of(key) if self._redaction(key).counts else key


def stored_key(key: str) -> str:
    """Return what names an operation in the store: bounded, and without NUL, as PostgreSQL asks."""
    return key[:MOST_KEY].replace("\x00", "\ufffd")


class EndedOperations(NamedTuple):
    """Operations that need no longer be waited for."""

    exchanges: list[Exchange]
    operations: list[Operation]
    """All of them, also those without an answer."""
    unwatched: list[Operation]
    """Those whose answer no monitor watches."""


class JoinedAnswers:
    """Joins what was kept; runs beside the routes, for all tenants."""

    def __init__(
        self, store: Store, intake: Callable[[Store], SignalIntake], *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._intake = intake
        self._intakes: dict[str, SignalIntake] = {}
        self._now = now

    def ended(self) -> EndedOperations:
        """Return the exchanges of operations that need no longer be waited for, and all of those.

        The caller removes them once the bus has the exchanges: a death in between sends them again,
        as the same sending.
        """
        now = self._now()
        found = self._store.answer_parts.settled(now - QUIET, now - PATIENCE)
        whole: dict[str, dict[str, list[AnswerPart]]] = defaultdict(lambda: defaultdict(list))
        for parts in found:
            tenant, source, _ = parts[0].operation
            answer = joined([_PART.validate_json(each.body) for each in parts])
            if answer.content.answered:
                whole[tenant][source].append(answer)
            elif any(each.is_span for each in parts):
                self._of(tenant).note_silence(source)
        exchanges: list[Exchange] = []
        unwatched: list[Operation] = []
        first = {parts[0].operation: min(part.at for part in parts) for parts in found}
        for tenant, by_source in whole.items():
            intake = self._of(tenant)
            taken = intake.exchanges_of(by_source)
            begins = {
                (source, intake.exchange_key(key)): at
                for (of, source, key), at in first.items()
                if of == tenant
            }
            exchanges += [_numbered(exchange, begins) for exchange in taken.exchanges]
            unwatched += [(tenant, each.source, stored_key(each.key)) for each in taken.unwatched]
            for why in dict.fromkeys(taken.refused):
                log("gateway").warning("answers of OTLP are refused", tenant=tenant, why=why)
        return EndedOperations(exchanges, [parts[0].operation for parts in found], unwatched)

    def _of(self, tenant: str) -> SignalIntake:
        if tenant not in self._intakes:
            scope = Scope(tenant=tenant)
            self._intakes[tenant] = self._intake(self._store.scoped(lambda: scope))
        return self._intakes[tenant]


def _marked(exchange: Exchange, redacted: Mapping[str, int]) -> Exchange:
    """Return an exchange that says what was replaced in it while its parts waited."""
    if not redacted:
        return exchange
    counts = Counter(exchange.redacted) + Counter(redacted)
    return exchange.model_copy(update={"redacted": dict(sorted(counts.items()))})


def _numbered(exchange: Exchange, begins: Mapping[tuple[str, str], datetime]) -> Exchange:
    """Return an exchange whose sending follows from when its first part came.

    To join the same parts twice is then no second sending; to send them again is one.
    """
    key = stored_key(exchange.key)
    began = begins.get((exchange.source, key), exchange.said_at)
    digest = hashlib.sha256(f"{exchange.key}\n{began.isoformat()}".encode()).digest()
    return exchange.model_copy(update={"sending": int.from_bytes(digest[:6])})
