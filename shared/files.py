"""Reads files of users as text, YAML or JSON lines; errors name the place."""

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.errors import BiaswatchError, UsageError
from biaswatch.shared.parsing.json_arrays import NOT_JSON, array_items, checked_depth
from biaswatch.shared.parsing.json_objects import encodable
from biaswatch.shared.parsing.yaml_values import parse_yaml

Model = TypeVar("Model", bound=BaseModel)
Refusal = type[BiaswatchError]

MIB = 1024 * 1024
LARGEST_TEXT_BYTES = 512 * MIB
LARGEST_LINE_BYTES = 16 * MIB
"""Limit of one JSON line; a record of the bus has at most half a MiB."""
LARGEST_WHOLE_JSON_BYTES = 64 * MIB
"""Limit of JSON that is not in lines, as all of it is in memory at once."""
MOST_PACKING = 20
"""Characters that a byte of a compressed array is taken for."""
ARRAY = "a JSON array"
NOT_UTF8 = "it is not text in UTF-8; save it in UTF-8"
LARGEST_UNPACKED_BYTES = 8 * 1024 * MIB
"""Limit of what a compressed file may hold; it is read in lines."""
_BLANK = re.compile(r"\s*")


def not_a_file(path: Path) -> str | None:
    """Return why a path is not a regular file; None for a file or a missing one."""
    if path.is_dir():
        return f"{path} is a folder: name a file in it."
    if path.exists() and not path.is_file():
        return f"{path} is a pipe or a device: write its output to a file, and name that file."
    return None


def open_text(path: Path, newline: str | None = None) -> TextIO:
    """Open a text in UTF-8, also one that is compressed as `.gz`.

    Raises
    ------
    OSError, ValueError
        It cannot be opened, or (while it is read) not be unpacked.
    """
    if path.suffix.lower() != ".gz":
        return path.open(encoding="utf-8-sig", newline=newline)
    unpacked = io.BufferedReader(_Unpacked(gzip.GzipFile(path)), 1 << 16)
    return io.TextIOWrapper(unpacked, encoding="utf-8-sig", newline=newline)


class _Unpacked(io.RawIOBase):
    """The content of a compressed file, up to a limit; errors are those of a file."""

    def __init__(self, packed: io.BufferedIOBase) -> None:
        self._packed = packed
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._packed.read(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise OSError(0, "it is not gzip, or it is cut off") from None
        if self._size == 0 and data.startswith(b"\x1f\x8b"):
            raise OSError(0, "it is compressed twice; unpack it once, with gunzip")
        self._size += len(data)
        if self._size > LARGEST_UNPACKED_BYTES:
            raise OSError(0, f"it unpacks to more than {LARGEST_UNPACKED_BYTES // MIB} MiB")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._packed.close()
        super().close()


def read_text(
    path: Path, what: str, refusal: Refusal = UsageError, *, newline: str | None = None
) -> str:
    """Return the text of a file, without a byte order mark; raise `refusal` if it cannot be read.

    `what` names the content in the message: suite, plan, recorded answers. `newline` is that of
    `open`.
    """
    with _readable(path, what, refusal), open_text(path, newline) as file:
        text = file.read(LARGEST_TEXT_BYTES + 1)
        if len(text) > LARGEST_TEXT_BYTES:
            raise OSError(0, f"it holds more than {LARGEST_TEXT_BYTES // MIB} MiB")
    return text


@contextmanager
def _readable(path: Path, what: str, refusal: Refusal = UsageError) -> Iterator[None]:
    """Raise `refusal` with the reason if a file cannot be read."""
    try:
        yield
    except OSError as error:
        why = error.strerror
    except UnicodeDecodeError:
        why = NOT_UTF8
    except BiaswatchError:
        raise
    except ValueError:  # a name with NUL
        why = "there is no such file"
    else:
        return
    raise refusal(f"The {what} {path} cannot be read ({why}).") from None


def yaml_mapping(
    text: str, path: Path, expected: str, refusal: Refusal = UsageError
) -> dict[str, Any]:
    """Return the fields of YAML or JSON; raise `refusal` if it is not a mapping.

    `expected` describes valid content: "a suite is a mapping with name and probes".
    """
    try:
        fields = parse_yaml(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        why = getattr(error, "problem", None) or getattr(error, "reason", None) or error
        raise refusal(f"{path}{line}: this is not YAML ({why}).") from None
    if not isinstance(fields, dict):
        raise refusal(f"{path}: {expected}.")
    return fields


def json_lines(text: str, path: Path) -> Iterator[tuple[str, Any]]:
    """Return place and value of every line that is not blank; a place is `FILE, line 3`.

    Raises
    ------
    UsageError
        A line is not JSON.
    """
    # Only line feeds end a line, as quoted texts may contain other separators.
    return _values(text.split("\n"), path)


def json_lines_of_file(path: Path, what: str) -> Iterator[tuple[str, Any]]:
    """Yield place and value of every line of a file, with one line in memory at a time.

    Raises
    ------
    UsageError
        The file cannot be read, or a line is not JSON.
    """
    with _readable(path, what), open_text(path, "\n") as file:
        yield from _values(iter(lambda: file.readline(LARGEST_LINE_BYTES + 1), ""), path)


def json_rows_of_file(path: Path, what: str) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a file: JSON lines, a JSON array, or objects over several lines.

    JSON lines and arrays may have any size; objects over several lines are read whole.

    Raises
    ------
    UsageError
        The file cannot be read, is not JSON, or is too large to be read whole.
    """
    kind = _kind_of_json(path, what)
    if kind is None:
        yield from json_lines_of_file(path, what)
        return
    if kind == ARRAY and _is_large(path):
        with _readable(path, what), open_text(path, "\n") as file:
            yield from array_items(file, path)
        return
    values = _json_values(_whole_json(path, what, kind), path)
    items = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    for number, value in enumerate(items, start=1):
        place = f"{path}, {'item' if items is values[0] else 'object'} {number}"
        yield place, checked_depth(value, place)


def _is_large(path: Path) -> bool:
    packed = MOST_PACKING if path.suffix.lower() == ".gz" else 1
    return path.stat().st_size * packed > LARGEST_WHOLE_JSON_BYTES


def _kind_of_json(path: Path, what: str) -> str | None:
    """Return a description of a JSON file; None for JSON lines and for other files."""
    try:
        with open_text(path, "\n") as file:
            lines = iter(lambda: file.readline(LARGEST_LINE_BYTES + 1), "")
            first = next((line for line in lines if line.strip()), "").strip()
    except (OSError, ValueError):  # `json_lines_of_file` raises it
        return None
    if first.startswith("["):
        return ARRAY
    if not first.startswith("{") or _is_json(first):
        return None
    return "JSON with objects over several lines"


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _whole_json(path: Path, what: str, kind: str) -> str:
    is_large = path.stat().st_size > LARGEST_WHOLE_JSON_BYTES
    text = "" if is_large else read_text(path, what)
    if is_large or len(text) > LARGEST_WHOLE_JSON_BYTES:
        raise UsageError(
            f"{path} is {kind} of more than {LARGEST_WHOLE_JSON_BYTES // MIB} MiB. Write each"
            f" object on a line of its own: jq -c '.' {path.name} > {path.stem}-lines.jsonl"
        )
    return text


def _json_values(text: str, path: Path) -> list[Any]:
    """Return the consecutive values in a text."""
    decoder, values, at = json.JSONDecoder(), [], 0
    try:
        while (at := _BLANK.match(text, at).end()) < len(text):  # type: ignore[union-attr]
            value, at = decoder.raw_decode(text, at)
            values.append(value)
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}, line {error.lineno}: this is not JSON.") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: this is not JSON, or it is nested too deeply.") from None
    return list(encodable(values, text))


def _values(lines: Iterable[str], path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        if len(line) > LARGEST_LINE_BYTES:
            limit_mib = LARGEST_LINE_BYTES // MIB
            raise UsageError(f"{place}: a line holds at most {limit_mib} MiB.")
        yield place, _value(line, place)


def _value(line: str, place: str) -> Any:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        several = error.msg == "Extra data" and line.lstrip()[:1] in {"{", "["}
        why = "these are several values; write each on a line of its own" if several else NOT_JSON
        raise UsageError(f"{place}: {why}.") from None
    except RecursionError:
        raise UsageError(f"{place}: this is nested too deeply.") from None
    except ValueError:
        raise UsageError(f"{place}: {NOT_JSON}.") from None
    value = encodable(value, line)
    return checked_depth(value, place)


def checked(
    model: type[Model], fields: object, place: object, refusal: Refusal = UsageError
) -> Model:
    """Return the model of these fields; raise `refusal` with the place and the field."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise refusal(sentence(error, place)) from None


def sentence(error: ValidationError, place: object) -> str:
    """Return place and description of the first mistake, without repeating the input."""
    mistake = first_mistake(error)
    field = f", {mistake.field}" if mistake.field else ""
    return f"{place}{field}: {mistake.sentence}."
