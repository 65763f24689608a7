"""Replies that no model should give, in every wire format."""

import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

WIRES = ("chat", "responses", "messages", "application")
SURROGATE, MEGABYTES = "\ud800", 2 * 1024 * 1024
LONG = "x" * MEGABYTES
FIELDS: dict[str, Any] = {
    "text": "Rating: 3",
    "model": "m-1",
    "finish": None,
    "fingerprint": "f-1",
    "usage": "usual",
    "refusal": None,
}
_FINISHES = {"chat": "stop", "responses": "completed", "messages": "end_turn"}
_COUNTS = {"chat": ("prompt_tokens", "completion_tokens")}


def reply(wire: str, **changed: Any) -> dict[str, Any]:
    """Return what a well-behaved server answers, but for what is changed."""
    given = {**FIELDS, **changed}
    finish = given["finish"] if "finish" in changed else _FINISHES.get(wire)
    read, written = _COUNTS.get(wire, ("input_tokens", "output_tokens"))
    usual = given["usage"] == "usual"
    usage = {read: 3, written: 2} if usual else given["usage"]
    if isinstance(usage, tuple):
        usage = {read: usage[0], written: usage[1]}
    common = {"id": "1", "model": given["model"], "usage": usage}
    if wire == "chat":
        message = {"role": "assistant", "content": given["text"], "refusal": given["refusal"]}
        choices = given.get("parts", [{"index": 0, "message": message, "finish_reason": finish}])
        return {**common, "choices": choices, "system_fingerprint": given["fingerprint"]}
    if wire == "responses":
        part = {"type": "output_text", "text": given["text"]}
        if given["refusal"] is not None:
            part = {"type": "refusal", "refusal": given["refusal"]}
        output = given.get("parts", [{"type": "message", "content": [part]}])
        return {**common, "status": finish, "output": output, "incomplete_details": None}
    if wire == "messages":
        refused = given["refusal"] is not None
        text = given["refusal"] if refused else given["text"]
        content = given.get("parts", [{"type": "text", "text": text}])
        return {**common, "content": content, "stop_reason": "refusal" if refused else finish}
    return {"reply": given.get("parts", given["text"])}


@dataclass(frozen=True)
class Shape:
    """One reply as it travels."""

    body: Callable[[str], bytes]
    """The body in a wire format."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    how: str = "whole"
    """Whole, cut (a longer length is announced), slow (a byte now and then), dripping (slow without
    an end), endless, or raw (the body is all there is, status line and headers too)."""


def fields(**changed: Any) -> Shape:
    """Return a reply of the usual form with other values."""
    return Shape(lambda wire: json.dumps(reply(wire, **changed)).encode())


def plain(body: bytes, **more: Any) -> Shape:
    """Return a reply with this body."""
    return Shape(lambda _: body, **more)


def usual(**more: Any) -> Shape:
    """Return the usual reply, sent in an unusual way."""
    return Shape(lambda wire: json.dumps(reply(wire)).encode(), **more)


def packed(pack: Callable[[bytes], bytes], encoding: str, body: bytes | None = None) -> Shape:
    """Return the usual reply, or a body, packed."""

    def made(wire: str) -> bytes:
        return pack(json.dumps(reply(wire)).encode() if body is None else body)

    return Shape(made, headers={"content-encoding": encoding})


def _with_literal(literal: str) -> Shape:
    """Return a reply whose counts are written so."""

    def made(wire: str) -> bytes:
        text = json.dumps(reply(wire, usage=("COUNT", "COUNT")))
        return text.replace('"COUNT"', literal).encode()

    return Shape(made)


def _twice(wire: str) -> bytes:
    one = json.dumps(reply(wire))
    return (one[:-1] + ", " + json.dumps(reply(wire, text=["x"], model={}))[1:]).encode()


@cache
def _bomb() -> bytes:
    """Return a gigabyte of zeros, packed."""
    packer = zlib.compressobj(9, wbits=31)
    zeros = b"\0" * 2**20
    return b"".join(packer.compress(zeros) for _ in range(1024)) + packer.flush()


SHAPES: dict[str, Shape] = {
    # Texts
    "surrogate": fields(text=f"Rating: 3 {SURROGATE}"),
    "surrogates-only": fields(text=SURROGATE * 100),
    "surrogate-in-json": fields(text='{"rating": 3, "reasoning": "\\ud800"}'),
    "nul": fields(text="Rating: 3\x00\x00"),
    "control-characters": fields(text="\x01" * 190_000),
    "escapes-of-one-byte": fields(text='"\\' * 100_000),
    "direction-overrides": fields(text="\u202eRating: 3\u2066"),
    "text-of-two-megabytes": fields(text=LONG),
    "text-just-too-large": fields(text="y" * (200 * 1024 + 1)),
    "text-of-wide-characters": fields(text="\U0001f600" * 60_000),
    "text-a-number": fields(text=3),
    "text-true": fields(text=True),
    "text-null": fields(text=None),
    "text-empty": fields(text=""),
    "text-blank": fields(text=" \n\t\u00a0"),
    "text-a-list": fields(text=["Rating: 3"]),
    "text-a-list-of-parts": fields(text=[{"type": "text", "text": "Rating: 3"}]),
    "text-an-object": fields(text={"value": "Rating: 3"}),
    "rating-infinite": fields(text='{"rating": 1e999}'),
    "rating-nan": fields(text='{"rating": NaN}'),
    "rating-of-4000-digits": fields(text='{"rating": ' + "9" * 4000 + "}"),
    "rating-of-400-digits-in-words": fields(text="Rating: " + "9" * 400),
    "text-nested-json": fields(text='{"rating": ' + "[" * 50_000),
    # Usage
    "usage-negative": fields(usage=(-1, -1)),
    "usage-fractional": fields(usage=(1.5, 2.5)),
    "usage-text": fields(usage=("3", "many")),
    "usage-huge": fields(usage=(10**30, 10**300)),
    "usage-above-64-bits": fields(usage=(2**64, 1)),
    "usage-a-list": fields(usage=[1, 2]),
    "usage-a-word": fields(usage="none"),
    "usage-null": fields(usage=None),
    "usage-true": fields(usage=(True, False)),
    "usage-nested": fields(usage=({"n": 1}, [2])),
    "usage-nan": _with_literal("NaN"),
    "usage-infinity": _with_literal("-Infinity"),
    "usage-beyond-doubles": _with_literal("1e400"),
    "usage-of-5000-digits": _with_literal("1" * 5000),
    # Names
    "model-an-object": fields(model={"name": "m"}),
    "model-a-list": fields(model=["m"]),
    "model-a-number": fields(model=7),
    "model-of-two-megabytes": fields(model=LONG),
    "model-surrogate": fields(model=f"m{SURROGATE}"),
    "model-control-characters": fields(model="m\r\n\x00\x1b[31m"),
    "fingerprint-of-two-megabytes": fields(fingerprint=LONG),
    "fingerprint-an-object": fields(fingerprint={"f": 1}),
    "finish-a-list": fields(finish=["stop"]),
    "finish-an-object": fields(finish={}),
    "finish-a-number": fields(finish=1),
    "finish-of-two-megabytes": fields(finish=LONG),
    "finish-surrogate": fields(finish=SURROGATE),
    # Refusals
    "refusal-of-two-megabytes": fields(text=None, refusal=LONG),
    "refusal-surrogate": fields(text=None, refusal=f"No.{SURROGATE}"),
    "refusal-control-characters": fields(text=None, refusal="\x01" * 100_000),
    "refusal-an-object": fields(text=None, refusal={"why": "no"}),
    # The document
    "parts-empty": fields(parts=[]),
    "parts-null": fields(parts=None),
    "parts-an-object": fields(parts={"0": {}}),
    "parts-of-nulls": fields(parts=[None]),
    "parts-of-numbers": fields(parts=[1, 2.5]),
    "parts-of-lists": fields(parts=[[[]]]),
    "parts-text": fields(parts="Rating: 3"),
    "parts-message-null": fields(parts=[{"type": "message", "message": None, "content": None}]),
    "parts-a-million": plain(b"[" + b"[]," * 1_000_000 + b"[]]"),
    "keys-twice": Shape(_twice),
    "nested-200000-deep": plain(b"[" * 200_000),
    "objects-200000-deep": plain(b'{"a":' * 200_000 + b"1" + b"}" * 200_000),
    "body-empty": plain(b""),
    "body-null": plain(b"null"),
    "body-a-number": plain(b"3"),
    "body-a-text": plain(b'"Rating: 3"'),
    "body-a-list": plain(b"[]"),
    "body-no-json": plain(b"{'rating': 3}"),
    "body-half-a-document": usual(how="half"),
    "body-two-documents": Shape(lambda w: 2 * json.dumps(reply(w)).encode()),
    "body-of-zeros": plain(b"\0" * 1000),
    "body-not-utf-8": plain(b'{"choices": "\xff\xfe"}'),
    "body-utf-16": Shape(lambda w: json.dumps(reply(w)).encode("utf-16")),
    "body-html": plain(b"<html><body>Sign in</body></html>", headers={"content-type": "text/html"}),
    "body-of-five-megabytes": plain(b" " * (5 * 2**20)),
    "event-stream": plain(
        b'data: {"choices": []}\n\ndata: [DONE]\n\n', headers={"content-type": "text/event-stream"}
    ),
    # The transport
    "type-missing": usual(headers={"content-type": ""}),
    "type-html": usual(headers={"content-type": "text/html"}),
    "type-unknown-charset": usual(headers={"content-type": "application/json; charset=zip"}),
    "gzip": packed(gzip.compress, "gzip"),
    "gzip-bomb": packed(lambda _: _bomb(), "gzip"),
    "gzip-broken": packed(lambda body: gzip.compress(body)[:-20], "gzip"),
    "gzip-that-is-none": usual(headers={"content-encoding": "gzip"}),
    "packed-unknown": usual(headers={"content-encoding": "br"}),
    "packed-many-times": usual(headers={"content-encoding": ", ".join(["gzip"] * 50)}),
    "length-too-long": usual(how="cut"),
    "length-a-word": plain(b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n{}", how="raw"),
    "length-negative": plain(b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}", how="raw"),
    "chunks-broken": plain(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n", how="raw"
    ),
    "chunk-without-end": plain(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\n{}", how="raw"
    ),
    "no-http": plain(b"\x16\x03\x01 220 smtp.example ESMTP\r\n", how="raw"),
    "closed-at-once": plain(b"", how="raw"),
    "status-line-endless": plain(b"HTTP/1.1 200 " + b"K" * 10**6 + b"\r\n\r\n{}", how="raw"),
    "headers-of-one-megabyte": usual(headers={"x-long": "h" * 10**6}),
    "headers-10000": usual(headers={f"x-{n}": "h" for n in range(10_000)}),
    "body-slow": usual(how="slow"),
    "body-endless": plain(b"[", how="endless"),
    "silent": plain(b"", how="silent"),
    # Statuses
    "status-100-without-end": plain(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, how="raw"),
    "status-204": plain(b"", status=204),
    "status-206": usual(status=206),
    "status-301": usual(status=301, headers={"location": "http://169.254.169.254/latest"}),
    "status-302-to-itself": usual(status=302, headers={"location": "/"}),
    "status-307-elsewhere": usual(status=307, headers={"location": "file:///etc/passwd"}),
    "status-400-surrogate": plain(b'{"error": {"message": "\\ud800"}}', status=400),
    "status-400-error-a-list": plain(b'{"error": [1]}', status=400),
    "status-400-nested": plain(b"[" * 200_000, status=400),
    "status-400-bomb": Shape(lambda _: _bomb(), status=400, headers={"content-encoding": "gzip"}),
    "status-401": plain(b'{"error": {"message": "no key"}}', status=401),
    "status-403": plain(b'{"error": {"message": "flagged"}}', status=403),
    "status-418": plain(b"{}", status=418),
    "status-429-forever": plain(b"{}", status=429, headers={"retry-after": "1e300"}),
    "status-429-never": plain(b"{}", status=429, headers={"retry-after": "nan"}),
    "status-429-date": plain(
        b"{}", status=429, headers={"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}
    ),
    "status-429-negative": plain(b"{}", status=429, headers={"retry-after": "-5"}),
    "status-429-word": plain(b'{"error": {"code": {"a": []}}}', status=429),
    "status-500-endless": plain(b"[", status=500, how="endless"),
    "status-503": plain(b"busy", status=503),
    "status-599": plain(b"{}", status=599),
    "status-777": plain(b"{}", status=777),
    "usual": usual(),
}
