"""YAML as people write it: strict about fields, and bounded in depth, size and repetition."""

from collections.abc import Hashable
from typing import Any

import yaml

from biaswatch.shared.parsing.json_objects import MOST_LEVELS

MOST_CHARACTERS = 32 * 1024 * 1024
MOST_VALUES = 1_000_000
"""With what aliases repeat; each takes about a KiB while it is read."""
LONGEST_NUMBER = 300
"""Characters; times of many parts (1:2:3) would take for ever to be made into one number."""


class DuplicateKeyError(yaml.MarkedYAMLError):
    """A mapping names a field twice."""


class _Strict(yaml.SafeLoader):
    """Refuse a field that is given twice, where the plain loader takes the later one.

    What is endless is refused before it is built: depth, and the values that aliases repeat.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._depth += 1
        if self._depth > MOST_LEVELS:
            raise yaml.YAMLError("it is nested too deeply")
        is_alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if not is_alias:
            self._sizes[id(node)] = 1 + sum(self._sizes[id(each)] for each in _inner(node))
        elif id(node) not in self._sizes:
            raise yaml.YAMLError("an alias leads to what it is a part of")
        if max(self._sizes[id(node)], len(self._sizes)) > MOST_VALUES:
            raise yaml.YAMLError(f"it holds more than {MOST_VALUES:,} values")
        return node

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

    def construct_number(self, node: Any) -> Any:
        """Return a number that is short enough to be one."""
        if len(node.value) > LONGEST_NUMBER:
            raise ValueError("It is too long.")
        whole = node.tag == "tag:yaml.org,2002:int"
        return self.construct_yaml_int(node) if whole else self.construct_yaml_float(node)


def _inner(node: Any) -> list[Any]:
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


for tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float"):
    _Strict.add_constructor(tag, _Strict.construct_number)


def parse_yaml(text: str) -> Any:
    """Return what YAML says; raise YAMLError where it is broken, endless or names a field twice."""
    if len(text) > MOST_CHARACTERS:
        most = MOST_CHARACTERS // 1024**2
        raise yaml.YAMLError(f"it has more than {most} MiB; put many probes into a .jsonl file")
    try:
        return yaml.load(text, Loader=_Strict)  # noqa: S506 - a SafeLoader
    except (RecursionError, ValueError, OverflowError, TypeError, AttributeError) as error:
        # The loader reads dates, numbers and keys with Python's own, which raise their own.
        raise yaml.YAMLError(_as_reason(error)) from None


def _as_reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "a date or number in it is none; put it in quotes if it is text"
