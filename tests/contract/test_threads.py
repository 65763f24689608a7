"""Nothing that may run in a thread can raise StopIteration, which would hang who awaits it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENDLESS = {("shared/bus/jetstream/publisher.py", "next(self._numbers)")}
"""Calls on what never ends."""


def bare_nexts(source: str) -> Iterator[str]:
    """Return the calls of `next` without a default."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        if node.func.id == "next" and len(node.args) == 1:
            yield ast.unparse(node)


@pytest.mark.parametrize("package", ["shared", "services", "biaswatch"])
def test_next_has_a_default_or_is_first_which_says_what_is_missing(package: str) -> None:
    result = [
        (name, call)
        for path in sorted((ROOT / package).rglob("*.py"))
        for name in [path.relative_to(ROOT).as_posix()]
        for call in bare_nexts(path.read_text())
        if (name, call) not in ENDLESS
    ]
    assert result == []


def test_the_check_finds_them() -> None:
    source = "x = next(a for a in b)\ny = next(iter(c), None)\nself.next(d)"
    assert list(bare_nexts(source)) == ["next((a for a in b))"]
