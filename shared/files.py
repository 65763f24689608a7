"""Files that people write, as text, YAML or JSON lines; a mistake is a sentence with its place."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from shared.contracts.mistakes import first_mistake
from shared.errors import BiaswatchError, UsageError
from shared.parsing.nesting import MOST_LEVELS, is_too_deep
from shared.parsing.yaml_values import parse_yaml

Model = TypeVar("Model", bound=BaseModel)
Refusal = type[BiaswatchError]

MIB = 1024 * 1024
LARGEST_TEXT_BYTES = 512 * MIB
LARGEST_LINE_BYTES = 16 * MIB
"""Of JSON lines; a record of the bus holds half a MiB."""


def read_text(
    path: Path, what: str, refusal: Refusal = UsageError, *, newline: str | None = None
) -> str:
    """Return a file's text, without a byte order mark; raise `refusal` where it has none.

    `what` names the file's content in the sentence: suite, plan, recorded answers. `newline` is
    that of `open`.
    """
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as file:
            text = file.read(LARGEST_TEXT_BYTES + 1)
    except OSError as error:
        why = error.strerror
    except UnicodeDecodeError:
        why = "it is not text in UTF-8"
    except ValueError:  # a name with NUL
        why = "there is no such file"
    else:
        if len(text) <= LARGEST_TEXT_BYTES:
            return text
        why = f"it holds more than {LARGEST_TEXT_BYTES // MIB} MiB"
    raise refusal(f"The {what} {path} cannot be read ({why}).")


def yaml_mapping(
    text: str, path: Path, expected: str, refusal: Refusal = UsageError
) -> dict[str, Any]:
    """Return the fields that YAML or JSON gives; raise `refusal` where it is no mapping.

    `expected` says what the file should hold: "a suite is a mapping with name and probes".
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
    """Return the value of every line that is not blank, after its place: `FILE, line 3`.

    Raises
    ------
    UsageError
        A line is not JSON.
    """
    # Only a line feed ends a line: a text may hold other separators inside its quotes.
    return _values(text.split("\n"), path)


def json_lines_of_file(path: Path, what: str) -> Iterator[tuple[str, Any]]:
    """Return what `json_lines` does of a file of any size, one line in memory at a time.

    Raises
    ------
    UsageError
        The file cannot be read, or a line is not JSON.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            yield from _values(iter(lambda: file.readline(LARGEST_LINE_BYTES + 1), ""), path)
    except OSError as error:
        why = error.strerror
    except UnicodeDecodeError:
        why = "it is not text in UTF-8"
    except ValueError:  # a name with NUL
        why = "there is no such file"
    else:
        return
    raise UsageError(f"The {what} {path} cannot be read ({why}).")


def _values(lines: Iterable[str], path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        if len(line) > LARGEST_LINE_BYTES:
            most = LARGEST_LINE_BYTES // MIB
            raise UsageError(f"{place}: a line holds at most {most} MiB.")
        yield place, _value(line, place)


def _value(line: str, place: str) -> Any:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(f"{place}: this is not JSON.") from None
    if is_too_deep(value):
        raise UsageError(f"{place}: this is nested more than {MOST_LEVELS} levels deep.")
    return value


def checked(
    model: type[Model], fields: object, place: object, refusal: Refusal = UsageError
) -> Model:
    """Return the model of these fields; raise `refusal` that names the place and the field."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise refusal(sentence(error, place)) from None


def sentence(error: ValidationError, place: object) -> str:
    """Say where the first mistake is, and what is wrong; what was written is not repeated."""
    mistake = first_mistake(error)
    field = f", {mistake.field}" if mistake.field else ""
    return f"{place}{field}: {mistake.said}."
