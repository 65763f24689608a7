"""Answers in files of OTLP in JSON, joined from signals anywhere in the file."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from biaswatch.importing.rows import Row
from biaswatch.shared.conventions.agents import count_unanswered, parts_of
from biaswatch.shared.conventions.answers import AnswerPart, joined, sent_fields
from biaswatch.shared.conventions.kinds import SpanKind, kind_of
from biaswatch.shared.conventions.left_out import LeftOut
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.conventions.signals import Signal, signals_of_json
from biaswatch.shared.errors import UsageError

UNNAMED = "\0"
"""Prefix of the keys of signals without an id, which are never joined."""
Located = tuple[str, dict[str, Any]]
"""Location of an answer, and its fields in the form of the API."""


def otlp_answers(
    rows: Iterable[Row],
    traces: set[str],
    mapping: MappingFile,
    source: str | None,
    counted: LeftOut,
) -> Iterator[Located]:
    """Yield complete answers in order, then those joined from several signals.

    Parameters
    ----------
    rows
        Requests of OTLP.
    traces
        Traces with agents, which are read as a whole (`agent_traces`).
    mapping
        Names of attributes.
    source
        The live system whose answers are read; None for all.
    counted
        Receives what is left out.
    """
    waiting: dict[str, list[AnswerPart]] = defaultdict(list)
    whole: set[str] = set()
    place = ""
    for where, signals in _requests(rows, traces):
        place = where
        for part in _of_source(parts_of(signals, mapping, counted), source, counted):
            if part.whole:
                whole.update(filter(None, [part.key]))
                yield where, _identified(part)
            elif part.waits:
                waiting[part.key or f"{UNNAMED}{len(waiting)}"].append(part)
            else:
                count_unanswered(part, counted)
    for answer in (joined(parts) for key, parts in waiting.items() if key not in whole):
        if answer.content.answered:
            yield place, _identified(answer)
        else:
            count_unanswered(answer, counted)


def agent_traces(rows: Iterable[Row]) -> set[str]:
    """Return the traces with an agent span; their spans may be anywhere in a file."""
    return {
        signal.trace_id
        for where, row in rows
        for signal in _signals(where, row)
        if signal.is_span and signal.trace_id and kind_of(signal) is SpanKind.AGENT
    }


def _requests(rows: Iterable[Row], traces: set[str]) -> Iterator[tuple[str, Sequence[Signal]]]:
    """Yield the signals of each request, then those of each trace with an agent."""
    places: dict[str, str] = {}
    held: dict[str, list[Signal]] = defaultdict(list)
    for where, row in rows:
        rest = []
        for signal in _signals(where, row):
            if signal.trace_id in traces:
                held[signal.trace_id].append(signal)
                places.setdefault(signal.trace_id, where)
            else:
                rest.append(signal)
        yield where, rest
    yield from ((places[trace], signals) for trace, signals in held.items())


def _signals(where: str, row: Mapping[str, Any]) -> list[Signal]:
    try:
        return list(signals_of_json(row))
    except ValueError as error:
        raise UsageError(f"{where}: {error}.") from None
    except (TypeError, AttributeError, LookupError, ArithmeticError):
        raise UsageError(f"{where}: this is not OTLP in JSON.") from None


def _of_source(
    parts: Iterable[AnswerPart], source: str | None, counted: LeftOut
) -> Iterator[AnswerPart]:
    for part in parts:
        if source in {None, part.source}:
            yield part
        else:
            counted.add(f"answers of {part.source or 'a service without a name'}")


def _identified(part: AnswerPart) -> dict[str, Any]:
    """Return an answer in the form of the API, without an empty id."""
    fields = sent_fields(part)
    return fields if fields["id"] else {name: fields[name] for name in fields if name != "id"}
