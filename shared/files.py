"""Files that people write, as text, YAML or JSON lines; a mistake is a sentence with its place."""

import json
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from shared.contracts.mistakes import first_mistake
from shared.errors import BiaswatchError, UsageError

Model = TypeVar("Model", bound=BaseModel)
Refusal = type[BiaswatchError]


def read_text(
    path: Path, what: str, refusal: Refusal = UsageError, *, newline: str | None = None
) -> str:
    """Return a file's text, without a byte order mark; raise `refusal` where it has none.

    `what` names the file's content in the sentence: suite, plan, recorded answers. `newline` is
    that of `open`.
    """
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as file:
            return file.read()
    except OSError as error:
        why = error.strerror
    except UnicodeDecodeError:
        why = "it is not text in UTF-8"
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
            yield from _values(file, path)
    except OSError as error:
        why = error.strerror
    except UnicodeDecodeError:
        why = "it is not text in UTF-8"
    else:
        return
    raise UsageError(f"The {what} {path} cannot be read ({why}).")


def _values(lines: Iterable[str], path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            yield place, json.loads(line)
        except (ValueError, RecursionError):
            raise UsageError(f"{place}: this is not JSON.") from None


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


class DuplicateKeyError(yaml.MarkedYAMLError):
    """A mapping names a field twice."""


class _Strict(yaml.SafeLoader):
    """Refuse a field that is given twice, where the plain loader takes the later one."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise DuplicateKeyError(
                        problem=f"{key.value!r} is given twice", problem_mark=key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def parse_yaml(text: str) -> Any:
    """Return what YAML says; raise YAMLError where it is broken or names a field twice."""
    try:
        return yaml.load(text, Loader=_Strict)  # noqa: S506 - a SafeLoader
    except RecursionError:
        raise yaml.YAMLError("it is nested too deeply") from None
