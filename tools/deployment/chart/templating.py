"""Kubernetes objects with parts that Helm fills in, as the text of a template."""

import re
from dataclasses import dataclass
from itertools import count
from typing import Any

import yaml

Object = dict[str, Any]


@dataclass(frozen=True)
class Filled:
    """A value that Helm writes: the expression between the braces."""

    expression: str


@dataclass(frozen=True)
class Block:
    """A mapping or list that Helm writes below its key, from a value of the chart."""

    expression: str


@dataclass(frozen=True)
class Lines:
    """Lines of the template where an entry would stand, as keys of a mapping or items of a list."""

    text: str


Part = Filled | Block | Lines
Entries = dict[str | Lines, Any]
"""A part of an object that may have lines of the template among its keys."""


class _Indented(yaml.SafeDumper):
    """Writes everything in full, with lists indented below their names."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)


class _Dumper(_Indented):
    """Writes a token where Helm writes."""

    parts: dict[str, Part]
    numbers: Any


def yaml_of(value: Any) -> str:
    """Return a value as YAML, in the manner of this repository."""
    return yaml.dump(value, Dumper=_Indented, sort_keys=False, width=1000)


def _token(dumper: _Dumper, part: Part) -> yaml.Node:
    name = f"HELM{next(dumper.numbers)}X"
    dumper.parts[name] = part
    return dumper.represent_str(name)


_Dumper.add_representer(Filled, _token)
_Dumper.add_representer(Block, _token)
_Dumper.add_representer(Lines, _token)


def template_of(objects: list[Object], condition: str | None = None) -> str:
    """Return objects as a template; with a condition, as one that may be left out."""
    parts: dict[str, Part] = {}
    own = type("_Own", (_Dumper,), {"parts": parts, "numbers": count()})
    texts = [yaml.dump(each, Dumper=own, sort_keys=False, width=1000) for each in objects]
    body = "---\n".join(_filled(text, parts) for text in texts)
    return f"{{{{- if {condition} }}}}\n{body}{{{{- end }}}}\n" if condition else body


def _filled(text: str, parts: dict[str, Part]) -> str:
    return "".join(_line(line, parts) for line in text.splitlines(keepends=True))


def _line(line: str, parts: dict[str, Part]) -> str:
    found = re.search(r"HELM\d+X", line)
    if not found:
        return line
    part = parts[found[0]]
    indent = len(line) - len(line.lstrip(" "))
    if isinstance(part, Lines):
        return "".join(f"{' ' * indent}{each}\n" for each in part.text.splitlines())
    if isinstance(part, Block):
        deep = indent + (4 if line.lstrip().startswith("- ") else 2)
        written = f"{{{{- toYaml {part.expression} | nindent {deep} }}}}"
        return line.replace(" " + found[0], f" {written}")
    return line.replace(found[0], f"{{{{ {part.expression} }}}}")
