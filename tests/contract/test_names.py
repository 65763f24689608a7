"""Names a newcomer can search for: one class of a name, words of the field, no metaphors."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("biaswatch", "services", "shared")
SOURCES = sorted(path for part in PRODUCT for path in (ROOT / part).rglob("*.py"))
EVERY_SOURCE = sorted(
    {*SOURCES, *(ROOT / "tools").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")}
)

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

METAPHORS = {
    "house", "place", "places", "room", "rooms", "door", "doors", "desk", "purse", "gate", "turns",
    "keeping", "luck", "bury", "guest", "guests", "floor", "overseer", "begun", "nought", "gauging",
    "telling", "handing", "stand", "absent",
}  # fmt: skip
"""Words that say nothing about NATS, statistics or Python to whoever reads them first."""


def test_no_two_public_classes_have_one_name() -> None:
    counts = Counter(
        node.name
        for path in [*SOURCES, *(ROOT / "tests" / "support").rglob("*.py")]
        for node in _definitions(path)
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, times in counts.items() if times > 1] == []


def test_no_file_class_or_function_is_named_by_a_metaphor() -> None:
    files = [path for path in SOURCES if "migrations" not in path.parts]  # released as they are
    names = {part for path in files for part in path.relative_to(ROOT).with_suffix("").parts}
    names |= {node.name for path in SOURCES for node in _definitions(path)}
    assert [name for name in names if _words(name) & METAPHORS] == []


def test_no_docstring_begins_with_give() -> None:
    result = [
        f"{_relative(path)}:{node.lineno}"
        for path in EVERY_SOURCE
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, Definition) and re.match(r"Gives?\b", ast.get_docstring(node) or "")
    ]
    assert result == []


def _definitions(path: Path) -> Iterator[Definition]:
    """Return the public classes of a module, and its public functions and methods."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node


def _relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"([A-Z])", r" \1", name).lower()))
