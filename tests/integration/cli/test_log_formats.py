"""A log of any format, diagnosed as it is, has the numbers of the same answers watched live."""

import asyncio
import csv
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from biaswatch.shared.contracts import Method, WatchedFeature
from biaswatch.shared.conventions.answers import part_of, sent_fields
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.conventions.rows import LogFormat
from tests.support.commands import CommandLine
from tests.support.diagnosed_logs import export_of, numbers
from tests.support.otlp import json_of, make_event, make_span
from tests.support.records import make_traffic_monitor
from tests.support.watched_answers import take_in, watched_store

ANSWERS = 48
WORDS = ("Happy to help, what a lovely day!", "No.", "It is late, which is awful.", "Certainly.")
NOW = datetime.now(UTC)
SECONDS = int(NOW.timestamp())
NO_WORDS = {"gen_ai.input.messages": None, "gen_ai.output.messages": None}
MAPPING = "groups: {gender: metadata.gender}\n"


def text(n: int) -> str | None:
    """Return what was answered; two calls failed."""
    return None if n % 24 == 23 else f"{WORDS[(n * 7 + n // 5) % 4]} {WORDS[(n // 3) % 4]}"


def key(n: int) -> str:
    return f"{n + 1:032x}-{n + 1:016x}"


def asked(n: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"Question {n}?"}]


def metadata(n: int) -> dict[str, str]:
    return {"gender": "female" if n % 2 else "male"}


def unit(n: int) -> str:
    return f"u-{n // 2}" if n % 3 else f"v-{n}"


def chat(n: int) -> dict[str, Any]:
    """Return the body of a reply of Chat Completions."""
    message = {"role": "assistant", "content": text(n)}
    choices = [] if text(n) is None else [{"index": 0, "message": message, "finish_reason": "stop"}]
    return {"id": f"chatcmpl-{n}", "created": SECONDS, "model": "model", "choices": choices}


def failed(n: int) -> dict[str, Any] | None:
    return {"code": "error", "message": "It did not answer."} if text(n) is None else None


def openai_row(n: int) -> dict[str, Any]:
    return {"id": key(n), "request": {"messages": asked(n), "user": unit(n)}, "response": chat(n),
            "error": failed(n), "metadata": metadata(n)}  # fmt: skip


def batch_row(n: int) -> dict[str, Any]:
    return {"custom_id": key(n), "response": {"status_code": 200, "body": chat(n)},
            "error": failed(n), "user": unit(n), "metadata": metadata(n)}  # fmt: skip


def langfuse_row(n: int) -> dict[str, Any]:
    output = None if text(n) is None else {"role": "assistant", "content": text(n)}
    return {"id": key(n), "traceId": f"t-{n}", "type": "GENERATION", "model": "model",
            "input": asked(n), "output": output, "level": "ERROR" if output is None else "DEFAULT",
            "endTime": NOW.isoformat(), "userId": unit(n),
            "metadata": json.dumps(metadata(n))}  # fmt: skip


def openinference_row(n: int) -> dict[str, Any]:
    messages = [] if text(n) is None else [
        {"message.role": "assistant", "message.content": text(n)}
    ]  # fmt: skip
    return {"context.span_id": key(n), "span_kind": "LLM", "end_time": NOW.isoformat(),
            "status_code": "OK" if messages else "ERROR", "attributes.llm.model_name": "model",
            "attributes.user.id": unit(n), "metadata": metadata(n),
            "attributes.llm.input_messages": [
                {f"message.{name}": value for name, value in asked(n)[0].items()}],
            "attributes.llm.output_messages": messages}  # fmt: skip


def own_row(n: int) -> dict[str, Any]:
    outcome = {"reason": "error"} if text(n) is None else {"text": text(n)}
    return {"id": key(n), "at": NOW.isoformat(), "prompt": f"Question {n}?", "unit": unit(n),
            "model": "model", "metadata": metadata(n), **outcome}  # fmt: skip


def signals_of(n: int) -> list[Any]:
    """Return the span of a call, and its log events where the words come apart."""
    at_ns = SECONDS * 10**9
    fields: dict[str, Any] = {"user.id": unit(n), "biaswatch.group.gender": metadata(n)["gender"]}
    if text(n) is None:
        return [make_span(n, at_ns=at_ns, attributes={**NO_WORDS, **fields}, error="error")]
    if n % 4 == 0:
        events = [
            make_event(n, "gen_ai.user.message", {"content": f"Question {n}?"}, at_ns),
            make_event(n, "gen_ai.choice", {"index": 0, "message": {"content": text(n)}}, at_ns),
        ]
        return [make_span(n, at_ns=at_ns, attributes={**NO_WORDS, **fields}), *events]
    messages = [{"role": "assistant", "parts": [{"type": "text", "content": text(n)}]}]
    return [make_span(n, at_ns=at_ns, attributes={**fields, "gen_ai.output.messages": messages})]


def write_lines(path: Path, row: Callable[[int], dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(row(n)) for n in range(ANSWERS)))
    return path


def write_otlp(path: Path) -> Path:
    """Write what a collector's file exporter writes: several signals a line, words later."""
    answers = [signals_of(n) for n in range(ANSWERS)]
    first = [
        json_of([signals[0] for signals in answers[start : start + 7]]) for start in range(0, 48, 7)
    ]
    rest = [json_of(signals[1:]) for signals in answers if len(signals) > 1]
    path.write_text("\n".join(json.dumps(line) for line in [*first, *rest]))
    return path


def flat_rows() -> list[dict[str, Any]]:
    rows = [own_row(n) for n in range(ANSWERS)]
    for row in rows:
        row["groups.gender"] = row.pop("metadata")["gender"]
    return rows


def write_csv(path: Path) -> Path:
    rows = flat_rows()
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(path: Path) -> Path:
    pd.DataFrame(flat_rows()).to_parquet(path)
    return path


WRITERS: dict[LogFormat, Callable[[Path], Path]] = {
    LogFormat.OTLP: lambda folder: write_otlp(folder / "log.json"),
    LogFormat.OPENAI: lambda folder: write_lines(folder / "log.jsonl", openai_row),
    LogFormat.OPENAI_BATCH: lambda folder: write_lines(folder / "log.jsonl", batch_row),
    LogFormat.LANGFUSE: lambda folder: write_lines(folder / "log.jsonl", langfuse_row),
    LogFormat.OPENINFERENCE: lambda folder: write_lines(folder / "log.jsonl", openinference_row),
    LogFormat.JSONL: lambda folder: write_lines(folder / "log.jsonl", own_row),
    LogFormat.CSV: lambda folder: write_csv(folder / "log.csv"),
    LogFormat.PARQUET: lambda folder: write_parquet(folder / "log.parquet"),
}


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return CommandLine(tmp_path_factory.mktemp("state") / "state")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the export of the answers, watched live as the spans that they are."""
    folder = tmp_path_factory.mktemp("live")
    watched = WatchedFeature(
        extractor="vader", feature="sentiment", high=1, low=-1, method=Method.TWO_GROUPS
    )
    monitor = make_traffic_monitor(plan=make_traffic_monitor().plan.model_copy(
        update={"features": (watched,)}))  # fmt: skip
    with watched_store(folder, monitor) as store:
        take_in(store, "support", [_whole(n) for n in range(ANSWERS)], ["vader"])
        path = folder / "live.parquet"
        assert asyncio.run(export_of(store, "support", path)) == ANSWERS
        return path


def _whole(n: int) -> dict[str, Any]:
    """Return an answer as the span of its call tells it, all at once."""
    span = signals_of(n)[0]
    messages = [{"role": "assistant", "parts": [{"type": "text", "content": text(n)}]}]
    words = {} if text(n) is None else {"gen_ai.output.messages": messages}
    whole = make_span(
        n, at_ns=span.at_ns, attributes={**span.attributes, **words}, error=span.error
    )
    part = part_of(whole, MappingFile())
    assert part is not None
    return sent_fields(part)


@pytest.fixture(scope="module")
def watched(live: Path, command: CommandLine) -> dict[str, list[str]]:
    """Return the numbers of the export."""
    result = command(
        "diagnose", str(live), "--group", "groups.gender", "--feature", "vader.sentiment",
        "--unit", "unit", "--json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return numbers(result.stdout)


@pytest.mark.parametrize("format_", WRITERS)
def test_a_log_has_the_numbers_of_the_same_answers_watched_live(
    format_: LogFormat, tmp_path: Path, command: CommandLine, watched: dict[str, list[str]]
) -> None:
    (tmp_path / "map.yaml").write_text(MAPPING)
    path = WRITERS[format_](tmp_path)
    mapped = [] if format_ in {LogFormat.OTLP, LogFormat.CSV, LogFormat.PARQUET} else [
        "--map", str(tmp_path / "map.yaml")
    ]  # fmt: skip
    result = command(
        "diagnose", str(path), "--extract", "vader", "--group", "gender",
        "--feature", "sentiment", "--json", *mapped,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert numbers(result.stdout) == watched
