"""Hostile and odd logs and traces are read, counted by reason, or refused with file and line."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from biaswatch.importing.log_files import LogFile
from biaswatch.shared.conventions.agents import positions_of
from biaswatch.shared.conventions.left_out import LeftOut
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.errors import UsageError
from tests.support.otlp import json_of, make_span

TRACE = "a" * 32


def lines(*rows: Any) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def answer(n: int = 0, **changed: Any) -> dict[str, Any]:
    return {"id": f"r{n}", "at": 1777629600, "text": f"Answer {n}.", "unit": f"u{n}", **changed}


def traced(*parents: str, **attributes: Any) -> bytes:
    """Return calls of one trace, one for each parent."""
    spans = [
        replace(make_span(n, attributes=attributes), trace_id=TRACE, parent_id=parent)
        for n, parent in enumerate(parents)
    ]
    return lines(json_of(spans))


def span_id(n: int) -> str:
    return make_span(n).span_id


DEEP = "[" * 50_000 + "]" * 50_000
READ: dict[str, tuple[str, bytes, int]] = {
    "line feeds of Windows": (".jsonl", lines(answer(0), answer(1)).replace(b"\n", b"\r\n"), 2),
    "a byte order mark": (".jsonl", b"\xef\xbb\xbf" + lines(answer(0), answer(1)), 2),
    "blank lines": (".jsonl", b"\n \n" + lines(answer()) + b"\n\n", 1),
    "NaN and Infinity": (".jsonl", lines(answer(score=float("nan"), limit=float("inf"))), 1),
    "halves of pairs": (".jsonl", b'{"id": "1", "text": "\\ud800", "groups": {"g": "\\udfff"}}', 1),
    "a name twice": (".jsonl", b'{"id": "1", "text": "a", "text": "b"}', 1),
    "an attribute of 5 MB": (".jsonl", traced("", note="x" * 5_000_000), 1),
    "a cycle of parents": (".jsonl", traced(span_id(1), span_id(2), span_id(0)), 1),
    "a span below itself": (".jsonl", traced(span_id(0)), 1),
    "messages nested deeply": (".jsonl", traced("", **{"gen_ai.output.messages": DEEP}), 1),
    "500 calls, each below the last": (
        ".jsonl", traced("", *(span_id(n) for n in range(499))), 1,
    ),
    "attributes of other types": (
        ".jsonl", traced("", **{"gen_ai.output.messages": 5, "user.id": {"a": 1}}), 0,
    ),
}  # fmt: skip
REFUSED: dict[str, tuple[str, bytes, str]] = {
    "UTF-16": (".jsonl", lines(answer()).decode().encode("utf-16"), "not text in UTF-8"),
    "Latin-1": (".jsonl", "{'a': 'Müller'}".encode("latin-1"), "not text in UTF-8"),
    "a cut line": (".jsonl", lines(answer()) + b'\n{"id": "2", "te', "line 2: this is not JSON"),
    "null": (".jsonl", b"null\n" + lines(answer()), "line 1: an answer must be an object"),
    "deep nesting": (".jsonl", f'{{"id": "1", "d": {DEEP}}}'.encode(), "nested too deeply"),
    "an id of 6,000 digits": (".jsonl", b'{"id": ' + b"9" * 6_000 + b"}", "not JSON"),
    "gzip that is cut off": (".jsonl.gz", gzip.compress(lines(answer()))[:-9], "is cut off"),
    "no gzip": (".jsonl.gz", b"hello", "not gzip"),
    "a line that unpacks to 100 MB": (
        ".jsonl.gz", gzip.compress(b'{"text": "' + b"x" * 100_000_000), "more than 64 MiB",
    ),
    "a time before 1970": (".jsonl", lines(answer(), answer(at=-5)), "line 2: the time is not"),
    "a time in words": (".jsonl", lines(answer(at="yesterday")), "line 1: the time is not like"),
    "traces that are no list": (".jsonl", lines({"resourceSpans": {}}), "line 1: this is not OTLP"),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_is_read_and_the_rest_counted(tmp_path: Path, name: str) -> None:
    suffix, content, count = READ[name]
    path = tmp_path / f"log{suffix}"
    path.write_bytes(content)
    left_out = LeftOut()
    assert len(list(LogFile(path).answers(left_out))) == count
    assert count or left_out.counts.total()


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_one_sentence_with_the_place(tmp_path: Path, name: str) -> None:
    suffix, content, reason = REFUSED[name]
    path = tmp_path / f"log{suffix}"
    path.write_bytes(content)
    with pytest.raises(UsageError) as error:
        list(LogFile(path).answers())
    assert reason in str(error.value)
    assert path.name in str(error.value)


def test_unicode_names_and_times_of_all_units_are_read(tmp_path: Path) -> None:
    times = [1777629600 * 1000**power for power in range(4)]
    rows = [
        {"ответ": f"Хорошо {n}.", "когда": at, "пол": "жм"[n % 2]}
        for n, at in enumerate([*times, "2026-05-01T10:00:00Z", "Fri, 01 May 2026 10:00:00 +0000"])
    ]
    (path := tmp_path / "log.jsonl").write_bytes(lines(*rows))
    mapping = MappingFile.model_validate(
        {"text": "ответ", "time": "когда", "groups": {"пол": "пол"}}
    )
    answers = [row for _, row in LogFile(path, mapping=mapping).answers()]
    assert len({row["at"] for row in answers}) == 1
    assert [row["groups"] for row in answers] == [{"пол": "ж"}, {"пол": "м"}] * 3


def test_nested_spans_have_their_outermost_agent() -> None:
    parents = {(TRACE, str(n)): str(n - 1) if n else "" for n in reversed(range(100_000))}
    positions = positions_of(parents, {(TRACE, "7"): True})
    assert positions[TRACE, "99999"] == ((TRACE, "7"), (TRACE, ""))
    assert positions[TRACE, "6"] == (None, (TRACE, ""))
