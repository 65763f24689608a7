"""Recorded answers as they are sent: each has an id, a time and a bounded size."""

from collections.abc import Iterator
from typing import Any

from pydantic_core import to_jsonable_python

from biaswatch.importing.log_files import LogFile
from biaswatch.shared.conventions.left_out import LeftOut
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.traffic import MAX_EXCHANGE_BYTES


def answers_in(file: LogFile, left_out: LeftOut | None = None) -> Iterator[dict[str, Any]]:
    """Yield recorded answers with their ids and times.

    Raises
    ------
    UsageError
        An answer has no id or no time, or is larger than the gateway accepts.
    """
    for where, answer in file.answers(left_out):
        if not answer.get("at"):
            # Without it, the second sending of a file would count in another window.
            raise UsageError(f"{where}: this answer has no {_source_of(file, 'time')}")
        if answer.get("id") is None:
            raise UsageError(f"{where}: this answer has no {_source_of(file, 'id')}")
        plain = to_jsonable_python(answer, inf_nan_mode="null")
        if (size := _text_bytes(plain)) > MAX_EXCHANGE_BYTES:
            raise UsageError(
                f"{where}: this answer has {size // 1024:,} KiB of text, and the limit is"
                f" {MAX_EXCHANGE_BYTES // 1024} KiB. Shorten it; nothing was sent."
            )
        yield plain


def _source_of(file: LogFile, field: str) -> str:
    """Return the field that holds the time or id, and how to name another one."""
    mapping = file.mapping or MappingFile()
    names = getattr(mapping.of(file.source) if file.source else mapping, field)
    if names:
        fields = " or ".join(f"`{name}`" for name in names)
        return f"{fields}, which the map names as its {field}. Correct the row or the map."
    default = "`at`, when it was given" if field == "time" else "`id`"
    if file.mapping:
        return f"{default}. Name a field as its `{field}` in the map."
    return f"{default}. For other names, run `biaswatch ingest --suggest-map {file.path}`."


def _text_bytes(answer: dict[str, Any]) -> int:
    """Return the size of the texts of an answer, which its record exceeds."""
    messages = answer.get("messages")
    contents = (
        message.get("content")
        for message in (messages if isinstance(messages, list | tuple) else ())
        if isinstance(message, dict)
    )
    texts = (answer.get("text"), answer.get("prompt"), *contents)
    return sum(len(text.encode()) for text in texts if isinstance(text, str))
