"""Read recorded answers from files of any format."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from biaswatch.importing.formats import id_label, merged, named_content, plain_answer
from biaswatch.importing.otlp_files import agent_traces, otlp_answers
from biaswatch.importing.rows import Row, rows_of, suffix_of
from biaswatch.importing.suggested_maps import SuggestedMap, suggest_map
from biaswatch.importing.times import moment_in
from biaswatch.shared.conventions.contents import reason_of
from biaswatch.shared.conventions.left_out import LeftOut, OmissionReason
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
from biaswatch.shared.conventions.rows import FORMATS, GENERIC, LogFormat, detected
from biaswatch.shared.conventions.rows.form import RowFormat
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import checked, not_a_file, read_text, yaml_mapping

EXPECTED = "a mapping file names fields: id, time, text, unit, groups and others"


@dataclass
class LogFile:
    """A file of recorded answers, which can be read repeatedly."""

    path: Path
    format: LogFormat | None = None
    """Declared format; None to detect it."""
    mapping: MappingFile | None = None
    source: str | None = None
    """The live system with the mapping to apply."""

    def answers(self, left_out: LeftOut | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the location of each answer, and the answer in the form of the API.

        Skipped rows are counted in `left_out`, by reason.

        Raises
        ------
        UsageError
            The file cannot be read, or an answer is invalid.
        """
        counted = LeftOut() if left_out is None else left_out
        rows = rows_of(self.path)
        if (first := next(rows, None)) is None:
            return
        format_ = self.format or detected(first[1], suffix_of(self.path))
        all_rows = chain([first], rows)
        if format_ is LogFormat.OTLP:
            traces = agent_traces(rows_of(self.path))
            names = self.mapping or MappingFile()
            yield from otlp_answers(all_rows, traces, names, self.source, counted)
        elif format_ is LogFormat.JSONL and self.mapping is None and not is_exported(first[1]):
            yield from (
                (where, _with_time(where, plain_answer(where, row))) for where, row in all_rows
            )
        else:
            form = FORMATS[format_]
            mapping_file = self.mapping or MappingFile()
            own = mapping_file.of(self.source) if self.source else mapping_file
            mapping = merged(form.usual, own)
            keys = _keys_in(self.path, mapping) if form.parent else set()
            for where, row in all_rows:
                for inner_row in _inner_rows(where, row, form):
                    if label_of(value_at(inner_row[1], form.parent)) in keys:
                        counted.add(OmissionReason.STEPS)
                    else:
                        yield from _answer(inner_row, form, mapping, counted)


def _keys_in(path: Path, mapping: FieldMapping) -> set[str | None]:
    """Return the ids of all rows of a file."""
    return {label_of(value_at(row, mapping.id)) for _, row in rows_of(path)} - {None}


def _inner_rows(where: str, row: Mapping[str, Any], form: RowFormat) -> Iterator[Row]:
    """Yield the rows inside a row, with their locations."""
    inner = list(form.inner(row))
    for number, fields in enumerate(inner, start=1):
        yield where if len(inner) == 1 else f"{where}, item {number}", dict(fields)


def _answer(
    row: Row, form: RowFormat, mapping: FieldMapping, counted: LeftOut
) -> Iterator[tuple[str, dict[str, Any]]]:
    where, fields = row
    content = form.content(fields)
    if content is None:
        counted.add(OmissionReason.NO_ANSWER, fields)
        return
    content = replace(content, **named_content(content, fields, mapping))
    reason = content.reason or label_of(value_at(fields, mapping.reason))
    if content.text is None and reason is None:
        counted.add(OmissionReason.NO_TEXT, fields)
        return
    unit = id_label(value_at(fields, mapping.unit))
    key = id_label(value_at(fields, mapping.id)) or content.response_id
    if not mapping.takes(unit or key or where):
        counted.add(OmissionReason.SHARE)
        return
    nested = _opened(fields)
    answer = {
        "id": key,
        "at": moment_in(where, value_at(fields, mapping.time)),
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


def _with_time(where: str, answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "at": moment_in(where, answer["at"])} if answer.get("at") else answer


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


EXPORTED_FIELDS = {"run_id", "key", "scaffold", "text"}


def is_exported(row: Mapping[str, Any]) -> bool:
    """Return whether a row is from `biaswatch export`, which names groups like columns."""
    return row.keys() >= EXPORTED_FIELDS


SUGGESTION_ROWS = 200
"""Rows that a suggested map is based on."""


def suggested_map_of(path: Path, format_: LogFormat | None) -> SuggestedMap:
    """Return a mapping file suggested by the first rows of a log.

    Raises
    ------
    UsageError
        The file cannot be read, has no rows, or needs no map.
    """
    if why := not_a_file(path):
        raise UsageError(why)
    rows = rows_of(path)
    if (first := next(rows, None)) is None:
        raise UsageError(f"{path} has no rows.")
    known = format_ or detected(first[1], suffix_of(path))
    if known is LogFormat.OTLP:
        raise UsageError(
            f"{path} is OTLP, whose attributes are known. A map names groups alone:"
            " `groups: {gender: ATTRIBUTE}`."
        )
    form = FORMATS[known]
    all_rows = chain([first], rows)
    inner = (fields for where, row in all_rows for _, fields in _inner_rows(where, row, form))
    first_rows = list(islice(inner, SUGGESTION_ROWS))
    try:
        suggested = suggest_map(first_rows, form.usual, is_known=form is not GENERIC)
    except UsageError as error:
        raise UsageError(f"No map is written for {path}: {error}") from None
    suggested.remarks.insert(0, f"The format is {known.value}.")
    return suggested
