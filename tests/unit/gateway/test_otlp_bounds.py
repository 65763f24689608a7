"""OTLP requests whose messages are many, deep or large are refused before they fill the memory."""

import gzip
import json
import random
import tracemalloc
from collections.abc import Iterator

import pytest

from biaswatch.services.gateway.otlp import protobuf
from biaswatch.services.gateway.otlp.protobuf import LOGS, TRACES
from biaswatch.services.gateway.otlp.protobuf_fields import MAX_MESSAGES, MAX_SIGNAL_BYTES
from biaswatch.services.gateway.otlp.wire import (
    JSON,
    PROTOBUF,
    UnreadableRequestError,
    signal_batches,
    unpacked,
)
from biaswatch.shared.parsing import json_stream
from tests.support.otlp import body_of, json_of, make_event, make_span, protobuf_of, signals_of

SPANS = b'{"resourceSpans":[{"scopeSpans":[{"spans":['
MIB = 1024 * 1024
MOST_MIB = 60
"""What reading one request may take beside its body."""


def message(tag: int, content: bytes) -> bytes:
    length, size = len(content), b""
    while length > 0x7F:
        size += bytes([length & 0x7F | 0x80])
        length >>= 7
    return bytes([tag]) + size + bytes([length]) + content


def scope_of(spans: bytes) -> bytes:
    return message(10, message(18, spans))


def refusal_of(data: bytes, form: str) -> tuple[UnreadableRequestError, int]:
    """Return why a request is refused, and the bytes that reading it took beside itself."""
    body = body_of(data)
    tracemalloc.start()
    try:
        for batch in signal_batches(body, form, TRACES, []):
            for _ in batch:
                pass
    except UnreadableRequestError as refused:
        return refused, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        body.close()
    raise AssertionError("the request is not refused")


MANY = {
    "resources": b"\x0a\x00" * (MAX_MESSAGES + 1),
    "scopes": message(10, b"\x12\x00" * (MAX_MESSAGES + 1)),
    "spans": scope_of(b"\x12\x00" * (MAX_MESSAGES + 1)),
    "spans of many small scopes": message(10, message(18, b"\x12\x00" * 30_000)) * 4,
    "events of many small spans": scope_of(message(18, b"\x5a\x00" * 30_000) * 10),
    "attributes of many small spans": scope_of(message(18, b"\x4a\x00" * 30_000) * 20),
}


@pytest.mark.parametrize("what", MANY)
def test_more_messages_than_are_allowed_are_refused_at_every_level(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protobuf, "MAX_VALUES", 500_000)
    refused, peak = refusal_of(MANY[what], PROTOBUF)
    assert refused.status == 413
    assert "Send smaller batches." in str(refused)
    assert peak < MOST_MIB * MIB


@pytest.mark.parametrize(
    "span",
    [
        message(18, b"\x5a\x00" * 100_000),  # events
        message(18, b"\x6a\x00" * 100_000),  # links
        message(18, message(74, message(18, message(42, b"\x0a\x00" * 100_000)))),  # an array
        message(18, message(74, message(18, message(50, b"\x0a\x00" * 100_000)))),  # a mapping
        message(18, message(42, b"x" * (MAX_SIGNAL_BYTES + 1))),  # a name
    ],
)
def test_a_span_that_is_too_large_is_refused_alone(span: bytes) -> None:
    valid = protobuf_of([make_span(n) for n in range(3)])
    refused: list[str] = []
    with body_of(scope_of(span) + valid) as body:
        signals = [s for batch in signal_batches(body, PROTOBUF, TRACES, refused) for s in batch]
    assert len(signals) == 3
    assert refused == [protobuf.TOO_LARGE]


@pytest.mark.parametrize("kind", [TRACES, LOGS])
@pytest.mark.parametrize("count", [1, 50, 5000])
def test_a_request_of_any_size_has_the_signals_that_were_sent(kind: str, count: int) -> None:
    sent = [
        make_span(n, at_ns=n + 1)
        if kind == TRACES
        else make_event(n, "e", {"content": f"{n}"}, n + 1)
        for n in range(count)
    ]
    parts = protobuf_of(sent[: count // 2]) + protobuf_of(sent[count // 2 :])
    for body, form in ((parts, PROTOBUF), (json.dumps(json_of(sent)).encode(), JSON)):
        signals = signals_of(body, form, kind)
        assert [signal.key for signal in signals] == [signal.key for signal in sent]
        assert signals[-1].resource == sent[-1].resource


def test_a_resource_counts_wherever_it_stands() -> None:
    many = [make_span(n) for n in range(300)]
    (resource, scopes), *_ = [
        (resourcespan["resource"], resourcespan["scopeSpans"])
        for resourcespan in json_of(many)["resourceSpans"]
    ]
    spans = [
        span
        for resourcespan in json_of(many)["resourceSpans"]
        for scope in resourcespan["scopeSpans"]
        for span in scope["spans"]
    ]
    assert scopes
    last = {"scopeSpans": [{"spans": spans}], "resource": resource}
    signals = signals_of(json.dumps({"resourceSpans": [last]}).encode(), JSON, TRACES)
    assert {signal.resource["service.name"] for signal in signals} == {"support"}
    # In protobuf, fields may have any order too.
    fields = [
        message(18, b"".join(message(18, b"*\x04chat" + b"J\x00" * 20) for _ in range(2000))),
        message(10, message(10, message(10, b"service.name") + message(18, message(10, b"x")))),
    ]
    signals = signals_of(message(10, b"".join(fields)), PROTOBUF, TRACES)
    assert len(signals) == 2000
    assert {signal.resource["service.name"] for signal in signals} == {"x"}


def odd_json() -> Iterator[tuple[str, bytes]]:
    size = 200_000
    yield "lists in place of resources", b'{"resourceSpans":[' + b"[1]," * size + b"[1]]}"
    yield "an unknown field without an end", b'{"x":[' + b"[1]," * 5 * size
    yield "a span without an end", SPANS + b'{"a":' + b"[1," * 5 * size
    yield "levels without an end", SPANS + b'{"a":' + b"[" * size
    yield "more spans than fields are allowed", SPANS + b"{}," * 40_000 + b"{}]}]}]}"
    yield (
        "more objects than are allowed",
        SPANS + b",".join([b'{"a":[' + b"{}," * 60_000 + b"0]}"] * 10) + b"]}]}]}",
    )
    yield "half a request", SPANS + b'{"name":"x"},' * size
    yield "more behind it", SPANS + b'{"name":"x"},' * size + b"{}]}]}]}]"


@pytest.mark.parametrize(("what", "body"), list(odd_json()), ids=[name for name, _ in odd_json()])
def test_odd_json_is_refused_with_little_memory(
    what: str, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "MAX_STEPS", 500_000)
    refused, peak = refusal_of(body, JSON)
    assert refused.status in {400, 413}
    assert str(refused).endswith(".")
    assert peak < 2 * MOST_MIB * MIB


def test_bytes_at_random_are_refused() -> None:
    with pytest.raises(UnreadableRequestError) as refused:
        signals_of(random.Random(1).randbytes(300_000), PROTOBUF, TRACES)
    assert refused.value.status == 400


@pytest.mark.parametrize(
    ("packed", "sentence"),
    [
        (gzip.compress((random.Random(3).randbytes(MIB // 50) + bytes(MIB)) * 70), "64 MiB"),
        (gzip.compress(b"\x0a\x00" * 10_000_000), "300 times"),
        (gzip.compress(bytes(1000), mtime=0)[:-9], "ends before"),
        (b"x" * 1000, "not gzip"),
    ],
)
def test_what_unpacks_to_too_much_is_refused_while_it_unpacks(packed: bytes, sentence: str) -> None:
    with body_of(packed) as body, pytest.raises(UnreadableRequestError) as refused:
        unpacked(body, "gzip")
    assert sentence in str(refused.value)


def test_a_body_on_disk_is_the_one_that_was_written() -> None:
    data = random.Random(2).randbytes(3 * MIB)
    with body_of(gzip.compress(data)) as packed, unpacked(packed, "gzip") as body:
        assert not body.stays_in_memory(1)
        assert body.read_at(0, body.size) == data
        assert body.read_at(2 * MIB, 100) == data[2 * MIB : 2 * MIB + 100]
