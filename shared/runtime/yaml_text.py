"""YAML as people write it by hand: what is given twice is a slip, never the later of the two."""

from collections.abc import Hashable
from typing import Any

import yaml


class DuplicateKeyError(yaml.MarkedYAMLError):
    """A mapping names a field twice."""


class _Strict(yaml.SafeLoader):
    """Refuses what the plain loader takes the last of."""

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
    """Return what YAML says; raise YAMLError where it says nothing, or one thing twice."""
    try:
        return yaml.load(text, Loader=_Strict)  # noqa: S506 - a SafeLoader
    except RecursionError:
        raise yaml.YAMLError("it is nested too deeply") from None


def yaml_problem(error: yaml.YAMLError) -> str:
    """Say what is wrong, without the file and the line."""
    return str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)


def yaml_line(error: yaml.YAMLError) -> int | None:
    """Return the line, where it is known."""
    mark = getattr(error, "problem_mark", None)
    return mark.line + 1 if mark else None
