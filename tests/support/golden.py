"""Numbers that other libraries computed, in `tests/golden`, for tests to compare with."""

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[1] / "golden"
Case = dict[str, Any]


@cache
def golden(name: str) -> Any:
    """Return what a JSON file of `tests/golden` holds."""
    return json.loads((GOLDEN / name).read_text())


def golden_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file of `tests/golden`."""
    return list(csv.DictReader((GOLDEN / name).read_text().splitlines()))


def golden_cases(function: str) -> list[Case]:
    """Return the cases of the functions whose names begin so; there is at least one."""
    cases = [case for case in golden("statistics.json")["cases"] if case["fn"].startswith(function)]
    assert cases, f"tests/golden/statistics.json has no case of {function!r}"
    return cases
