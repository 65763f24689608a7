"""Error documents of providers: their messages, codes and objects, wherever they are in them."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from biaswatch.shared.foreign_text import on_one_line
from biaswatch.shared.llm.replies import at

MAX_MESSAGE_CHARACTERS = 400
"""The provider's own message is cut after this many characters."""
MAX_READ_CHARACTERS = 4_000
"""Characters of an error's words that are searched."""
MAX_ERROR_DEPTH = 6
"""Levels of an error document that are read."""
MAX_ERROR_ITEMS = 5
"""Items of each list of messages that are read."""
MAX_ERROR_PARTS = 2_000
"""Values of an error document whose codes are read."""
MIN_KEY_CHARACTERS = 4
"""A shorter key is not searched for in messages: it would occur in ordinary words."""
REMOVED = "[removed]"

_MESSAGE_FIELDS = ("message", "Message", "msg", "detail", "details", "error", "errors")
CODE_FIELDS = ("code", "type", "status", "reason", "error_code", "errorCode", "__type")
_KEYS = re.compile(
    r"\S{0,100}\*{3,}\S{0,100}"  # masked by the provider
    r"|\b(?:sk|pk|rk|xai|nvapi|pplx|csk|glpat)-[\w\-.]{4,}|\b(?:gsk|hf|r8|fw|ghp|tgp)_\w{8,}"
    r"|\bAIza[\w\-]{10,}|\b(?:Bearer|Basic)\s+[\w\-.~+/=]{4,}|\beyJ[\w\-]{10,}\.[\w\-.]+"
    r"|\b[A-Fa-f0-9]{32,}\b|\b(?=\w{0,200}[0-9])(?=\w{0,200}[A-Z])(?=\w{0,200}[a-z])\w{40,}\b"
)
"""Keys, whole or masked, in the forms that providers give them."""


def provider_message(document: Any, key: str | None = None) -> str | None:
    """Return the provider's own words: on one line, bounded, without keys; None without words."""
    words = " ".join(error_words(document).split())
    if not words or words.startswith("<"):
        return None
    if key and len(key) >= MIN_KEY_CHARACTERS:
        words = words.replace(key, REMOVED)
    words = on_one_line(_KEYS.sub(REMOVED, words)).replace('"', "'").rstrip(". ")
    if len(words) > MAX_MESSAGE_CHARACTERS:
        words = words[:MAX_MESSAGE_CHARACTERS] + "…"
    return words or None


def error_document(body: bytes) -> Any:
    """Return the JSON of an error's body, or the beginning of another body as text."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body[:MAX_READ_CHARACTERS].decode(errors="replace")


def values_of(document: Any, names: tuple[str, ...]) -> Iterator[str]:
    """Return the texts under these names, wherever they are in a document."""
    for part in islice(nested(document), MAX_ERROR_PARTS):
        if isinstance(part, dict):
            yield from (str(part[name]) for name in names if isinstance(part.get(name), str))


def objects_of(document: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """Return the values under these names, wherever they are in a document."""
    for part in islice(nested(document), MAX_ERROR_PARTS):
        if isinstance(part, dict):
            yield from (part[name] for name in names if name in part)


def nested(document: Any, depth: int = MAX_ERROR_DEPTH) -> Iterator[Any]:
    """Return a document and the values in it, to a bounded depth."""
    yield document
    if depth == 0 or not isinstance(document, (dict, list)):
        return
    for part in document.values() if isinstance(document, dict) else document:
        yield from nested(part, depth - 1)


def error_words(document: Any) -> str:
    """Return the message in an error document, unchanged; empty without one."""
    return _words(document)[:MAX_READ_CHARACTERS]


def _words(document: Any, depth: int = MAX_ERROR_DEPTH) -> str:
    """Return the message in a part of an error document."""
    if depth == 0:
        return ""
    if isinstance(document, str):
        return _words_in_text(document, depth)
    if isinstance(document, list):
        parts = (_words(part, depth - 1) for part in document[:MAX_ERROR_ITEMS])
        return "; ".join(dict.fromkeys(filter(None, parts)))
    if not isinstance(document, dict):
        return ""
    words = next(filter(None, (_words(document.get(n), depth - 1) for n in _MESSAGE_FIELDS)), "")
    if isinstance(place := document.get("loc"), list) and words:
        words = f"{'.'.join(map(str, place[:MAX_ERROR_ITEMS]))}: {words}"
    raw = _words(at(document, "metadata", "raw"), depth - 1)
    return f"{words}: {raw}" if words and raw and raw not in words else words or raw


def _words_in_text(text: str, depth: int) -> str:
    """Return a text; where it is JSON of another error, the message of that one."""
    text = text[:MAX_READ_CHARACTERS].strip()
    if not text.startswith(("{", "[")):
        return text
    try:
        return _words(json.loads(text), depth - 1) or text
    except (ValueError, RecursionError):
        return text


def plain_code(code: object) -> str:
    """Return a code in one spelling: `ContentFilter` and `content_filter` are the same."""
    if not isinstance(code, str):
        return ""
    return re.sub("[^a-z]", "", code.rpartition(".")[2].lower()[:200])
