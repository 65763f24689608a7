"""Requests that no honest client sends: oddities in every field of bodies, paths and queries."""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

ODDITIES: Mapping[str, str] = {
    "lone-surrogate": '"\\ud800"',
    "nul": '"a\\u0000b"',
    "newline-at-end": '"a\\n"',
    "empty": '""',
    "blank": '"  "',
    "long": json.dumps("x" * 600),
    "very-long": json.dumps("x" * 300_000),
    "direction-override": '"\\u202emale\\u202c"',
    "not-a-character": '"\\uffff"',
    "emoji": '"\\ud83d\\ude00"',
    "number-10^400": "1" + "0" * 400,
    "number-10^29": "1" + "0" * 29,
    "number-2^63": str(2**63),
    "negative": "-1",
    "zero": "0",
    "fraction": "0.5",
    "infinite": "1e999",
    "tiny": "1e-320",
    "nan": "NaN",
    "infinity": "-Infinity",
    "true": "true",
    "null": "null",
    "list": "[]",
    "list-of-null": "[null]",
    "list-of-lists": "[[[[]]]]",
    "mapping": "{}",
    "odd-mapping": '{"\\ud800": "\\u0000", "": ""}',
    "deep": "[" * 500 + "]" * 500,
    "too-deep": "[" * 100_000 + "]" * 100_000,
    "target": '"openai:m@http://[::1"',
    "target-with-parameters": '"openai:m?temperature=1e999&a.b.c=NaN"',
    "date": '"2026-13-45T99:99:99Z"',
    "year-0": '"0001-01-01T00:00:00+23:59"',
    "year-9999": '"9999-12-31T23:59:59-23:59"',
    "id": '"' + "f" * 32 + '"',
}
"""As JSON is written."""
MARK = "\u0001here\u0001"


@dataclass(frozen=True)
class HostileRequest:
    """One request, and what is odd about it."""

    about: str
    method: str
    path: str
    body: bytes | None = None


def places_of(body: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every place in a body, the whole of it first."""
    yield path
    items: Any = body.items() if isinstance(body, dict) else enumerate(body)
    for name, value in items if isinstance(body, dict | list) else ():
        if isinstance(value, dict | list):
            yield from places_of(value, (*path, name))
        else:
            yield (*path, name)


def with_oddity(body: Any, place: tuple[Any, ...], written: str) -> bytes:
    """Return the body as JSON with an oddity in one place."""
    if not place:
        return written.encode()
    changed = copy.deepcopy(body)
    inner = changed
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = MARK
    return json.dumps(changed).replace(json.dumps(MARK), written).encode()


def hostile_bodies(method: str, path: str, body: Any) -> Iterator[HostileRequest]:
    """Yield a request for every place in a body and every oddity."""
    for place in places_of(body):
        for name, written in ODDITIES.items():
            about = f"{method} {path} {'.'.join(map(str, place)) or 'body'}: {name}"
            yield HostileRequest(about, method, path, with_oddity(body, place, written))
    for name, raw in {"not-json": b"{", "not-utf-8": b'{"a": "\xff"}', "nothing": b""}.items():
        yield HostileRequest(f"{method} {path} body: {name}", method, path, raw)


def hostile_addresses(document: Mapping[str, Any]) -> Iterator[HostileRequest]:
    """Yield a request for every parameter of every operation and every oddity."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for parameter in operation["parameters"]:
                for name, written in ODDITIES.items():
                    oddity = "[" if name == "too-deep" else json.loads(written)
                    text = quote(str(oddity).encode("utf-8", "replace")[:5000], safe="")
                    where = _filled(path, parameter, text)
                    yield HostileRequest(
                        f"{method} {path} {parameter['name']}: {name}", method.upper(), where
                    )


def _filled(path: str, parameter: Mapping[str, Any], text: str) -> str:
    if parameter["in"] == "path":
        return path.replace("{" + parameter["name"] + "}", text or "%20")
    other = path.replace("{name}", "coasts").replace("{run_id}", "RUN").replace("{brief_id}", "RUN")
    return f"{other}?{parameter['name']}={text}"
