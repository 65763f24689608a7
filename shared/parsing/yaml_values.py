"""YAML without duplicate fields, bounded in depth, size and aliases."""

from collections.abc import Hashable
from typing import Any

import yaml

from biaswatch.shared.parsing.json_objects import MAX_LEVELS

MAX_CHARACTERS = 32 * 1024 * 1024
MAX_VALUES = 1_000_000
"""Including repetitions by aliases; each takes about 1 KiB while it is read."""
MAX_NUMBER_CHARACTERS = 300
"""Longer numbers in base 60 (1:2:3) would take very long to convert."""


class DuplicateKeyError(yaml.MarkedYAMLError):
    """A field occurs twice in a mapping."""


class _Strict(yaml.SafeLoader):
    """A safe loader that rejects duplicate fields, deep nesting and repetition by aliases."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._depth += 1
        if self._depth > MAX_LEVELS:
            raise yaml.YAMLError("it is nested too deeply")
        is_alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if not is_alias:
            self._sizes[id(node)] = 1 + sum(self._sizes[id(child)] for child in _children(node))
        elif id(node) not in self._sizes:
            raise yaml.YAMLError("an alias refers to a value that contains it")
        if max(self._sizes[id(node)], len(self._sizes)) > MAX_VALUES:
            raise yaml.YAMLError(f"it holds more than {MAX_VALUES:,} values")
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise DuplicateKeyError(
                        problem=f"{key.value!r} occurs twice", problem_mark=key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_number(self, node: Any) -> Any:
        """Return a number; raise ValueError if it is too long."""
        if len(node.value) > MAX_NUMBER_CHARACTERS:
            raise ValueError("It is too long.")
        whole = node.tag == "tag:yaml.org,2002:int"
        return self.construct_yaml_int(node) if whole else self.construct_yaml_float(node)


def _children(node: Any) -> list[Any]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


for tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float"):
    _Strict.add_constructor(tag, _Strict.construct_number)


def parse_yaml(text: str) -> Any:
    """Return the value of YAML; raise YAMLError if it is invalid, too large or has duplicates."""
    if len(text) > MAX_CHARACTERS:
        limit_mib = MAX_CHARACTERS // 1024**2
        raise yaml.YAMLError(
            f"it has more than {limit_mib} MiB; put many probes into a .jsonl file"
        )
    try:
        return yaml.load(text, Loader=_Strict)  # noqa: S506 - a SafeLoader
    except (RecursionError, ValueError, OverflowError, TypeError, AttributeError) as error:
        # The loader converts dates, numbers and keys with functions that raise these.
        raise yaml.YAMLError(_as_reason(error)) from None


def _as_reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "a date or number in it is invalid; put it in quotes if it is text"
