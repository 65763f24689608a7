"""Read recorded answers from files, and keep the progress of sending them."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from itertools import chain
from pathlib import Path
from typing import Any

from biaswatch.importing.formats import (
    READERS,
    LogFormat,
    RowReader,
    detected,
    id_label,
    merged,
    named_content,
    plain_answer,
)
from biaswatch.importing.rows import Row, rows_of
from biaswatch.shared.contracts import derived_id
from biaswatch.shared.conventions.answers import AnswerPart, joined, moment_of, part_of, sent_fields
from biaswatch.shared.conventions.mapping import (
    FACT,
    GROUP,
    FieldMapping,
    MappingFile,
    declared_labels,
    labels_at,
    value_at,
)
from biaswatch.shared.conventions.messages import label_of, opened
from biaswatch.shared.conventions.signals import reason_of, signals_of_json
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import checked, not_a_file, read_text, yaml_mapping

DIGITS_OF_UNITS = ((11, 10**9), (14, 10**6), (17, 10**3), (20, 1))
"""Unix time in seconds, milliseconds, microseconds and nanoseconds, by its number of digits."""
UNNAMED = "\0"
"""Prefix of the keys of signals without an id, which are never joined."""
NO_TEXT = "calls without a text (was the capture of content switched on?)"
OF_OTHERS = "rows or spans without an answer"


@dataclass
class LogFile:
    """A file of recorded answers, which can be read repeatedly."""

    path: Path
    format: LogFormat | None = None
    """Declared format; None to detect it."""
    mapping: MappingFile | None = None
    source: str | None = None
    """The live system with the mapping to apply."""

    def answers(self, left_out: Counter[str] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the location of each answer, and the answer in the form of the API.

        Skipped rows are counted in `left_out`, by reason.

        Raises
        ------
        UsageError
            The file cannot be read, or an answer is invalid.
        """
        counted: Counter[str] = Counter() if left_out is None else left_out
        rows = rows_of(self.path)
        if (first := next(rows, None)) is None:
            return
        format_ = self.format or detected(first[1], self.path.suffix)
        all_rows = chain([first], rows)
        if format_ is LogFormat.OTLP:
            yield from self._signals(all_rows, counted)
        elif format_ is LogFormat.JSONL and self.mapping is None:
            yield from ((where, plain_answer(where, row)) for where, row in all_rows)
        else:
            reader = READERS[format_]
            mapping_file = self.mapping or MappingFile()
            own = mapping_file.of(self.source) if self.source else mapping_file
            mapping = merged(reader.usual, own)
            for row in all_rows:
                yield from _answer(row, reader, mapping, counted)

    def _signals(
        self, rows: Iterator[Row], counted: Counter[str]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield complete answers in order, then those joined from several signals."""
        waiting: dict[str, list[AnswerPart]] = defaultdict(list)
        whole: set[str] = set()
        for where, part in self._parts(rows, counted):
            if part.whole:
                whole.update(filter(None, [part.key]))
                yield where, _identified(part)
            elif part.waits:
                waiting[part.key or f"{UNNAMED}{len(waiting)}"].append(part)
            else:
                counted[NO_TEXT] += 1
        for answer in (joined(parts) for key, parts in waiting.items() if key not in whole):
            if answer.content.answered:
                yield str(self.path), _identified(answer)
            else:
                counted[NO_TEXT] += 1

    def _parts(
        self, rows: Iterator[Row], counted: Counter[str]
    ) -> Iterator[tuple[str, AnswerPart]]:
        mapping = self.mapping or MappingFile()
        for where, row in rows:
            try:
                parts = [part_of(signal, mapping) for signal in signals_of_json(row)]
            except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
                raise UsageError(f"{where}: this is not OTLP in JSON.") from None
            for part in parts:
                if part is None:
                    counted[OF_OTHERS] += 1
                elif self.source not in {None, part.source}:
                    counted[f"answers of {part.source or 'a service without a name'}"] += 1
                else:
                    yield where, part


def _identified(part: AnswerPart) -> dict[str, Any]:
    """Return an answer in the form of the API, without an empty id."""
    fields = sent_fields(part)
    return fields if fields["id"] else {name: fields[name] for name in fields if name != "id"}


def _answer(
    row: Row, reader: RowReader, mapping: FieldMapping, counted: Counter[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    where, fields = row
    content = reader.content(fields)
    if content is None:
        counted[OF_OTHERS] += 1
        return
    content = replace(content, **named_content(content, fields, mapping))
    reason = content.reason or label_of(value_at(fields, mapping.reason))
    if content.text is None and reason is None:
        counted[NO_TEXT] += 1
        return
    unit = id_label(value_at(fields, mapping.unit))
    key = id_label(value_at(fields, mapping.id)) or content.response_id
    if not mapping.takes(unit or key or where):
        counted["answers outside the mapping's share"] += 1
        return
    nested = _opened(fields)
    answer = {
        "id": key,
        "at": _moment(where, value_at(fields, mapping.time)),
        "messages": content.prompt,
        "text": content.text,
        "reason": None if content.text is not None or reason is None else reason_of(reason),
        "groups": {**_prefixed(nested, "groups", GROUP), **labels_at(nested, mapping.groups)},
        "facts": {**_prefixed(nested, "facts", FACT), **labels_at(nested, mapping.strata)},
        "unit": unit,
        "model": label_of(value_at(fields, mapping.model)) or content.model,
        "fingerprint": content.fingerprint,
        "finish_reason": content.finish_reason,
    }
    yield where, {name: value for name, value in answer.items() if value not in (None, {}, ())}


def _opened(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Parse fields that hold objects as JSON text, such as metadata in a CSV file."""
    return {name: opened(value) for name, value in fields.items()}


def _prefixed(fields: Mapping[str, Any], name: str, attribute: str) -> dict[str, str]:
    """Return the labels from an object `groups`, columns `groups.x`, and attributes."""
    nested = fields.get(name)
    labels = declared_labels(fields, f"{name}.") | declared_labels(fields, attribute)
    labels |= declared_labels(fields, f"attributes.{attribute}")
    if isinstance(nested, Mapping):
        labels |= {str(key): text for key, value in nested.items() if (text := label_of(value))}
    return labels


def _moment(where: str, value: Any) -> datetime | None:
    """Return the time of an answer, or None."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return _written(where, str(value))
    for digits, factor in DIGITS_OF_UNITS:
        if number.is_finite() and 0 <= number < 10**digits:
            return moment_of(int(number * factor))
    raise UsageError(f"{where}: the time is not a Unix time.")


def _written(where: str, text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{where}: the time is neither like 2026-11-21T09:14:03Z nor Unix time."
        ) from None
    if moment.tzinfo is None:
        raise UsageError(f"{where}: the time needs its zone, like 2026-11-21T09:14:03Z.")
    return moment


def left_out_in_words(left_out: Mapping[str, int]) -> list[str]:
    """Return sentences with the number of skipped rows, by reason."""
    return [f"Left out: {count} {what}." for what, count in sorted(left_out.items())]


EXPECTED = "a mapping file names fields: id, time, text, unit, groups and others"


def log_file(
    path: Path, format_: LogFormat | None, mapping: Path | None, source: str | None = None
) -> LogFile:
    """Return a file of recorded answers, with the mapping from a mapping file.

    Raises
    ------
    UsageError
        The mapping file is invalid, or the path is a folder, a pipe or a device.
    """
    if why := not_a_file(path):
        raise UsageError(why)
    mapping_file = None
    if mapping is not None:
        fields = yaml_mapping(read_text(mapping, "mapping file"), mapping, EXPECTED, UsageError)
        mapping_file = checked(MappingFile, fields, mapping)
    return LogFile(path, format_, mapping_file, source)


FOLDER = "sending"


@dataclass
class SendingCursor:
    """Progress of sending one version of a file to one gateway, for one live system."""

    kept_in: Path
    sent: int = 0
    """Number of answers sent, from the start of the file."""
    late: Counter[str] = field(default_factory=Counter)
    """Number of answers that arrived too late, by monitor."""

    @classmethod
    def of(
        cls, state_dir: Path, file: Path, source: str, server: str | None, *, history: bool
    ) -> "SendingCursor":
        """Return the stored progress; a file that has changed starts from the beginning."""
        status = file.stat()
        name = derived_id(
            FOLDER, str(file.resolve()), status.st_size, status.st_mtime_ns, source, server, history
        )
        cursor = cls(state_dir / FOLDER / f"{name}.json")
        try:
            stored = json.loads(cursor.kept_in.read_bytes())
            cursor.sent, cursor.late = int(stored["sent"]), Counter(stored["late"])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # no stored progress: sending again is harmless, since answers count once
        return cursor

    def advance(self, answers: int, late: Counter[str]) -> None:
        """Record that more answers have arrived.

        Raises
        ------
        UsageError
            The progress cannot be stored.
        """
        self.sent += answers
        self.late.update(late)
        new = self.kept_in.with_suffix(".new")
        try:
            self.kept_in.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(json.dumps({"sent": self.sent, "late": self.late}))
            new.replace(self.kept_in)
        except OSError as error:
            raise UsageError(
                f"The progress of sending cannot be stored in {self.kept_in.parent}"
                f" ({error.strerror}). Choose another folder with BIASWATCH_STATE_DIR."
            ) from None

    def forget(self) -> None:
        """Discard the progress, so that the same command sends all answers again."""
        self.sent, self.late = 0, Counter()
        self.kept_in.unlink(missing_ok=True)
