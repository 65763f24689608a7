"""How deeply lists and mappings are nested in what was read, and how much they hold."""

from typing import Any

MOST_LEVELS = 100
"""More than anybody writes, and far from where reading would end in a fault."""


def is_too_deep(value: Any, levels: int = MOST_LEVELS) -> bool:
    """Return whether lists and mappings lie deeper in one another than so many levels."""
    inner = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        inner = [
            each
            for outer in inner
            for each in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(each, dict | list)
        ]
        if not inner:
            return False
    return True
