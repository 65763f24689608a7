"""What Python and numpy wrote into a cell is read as values, and nothing in it is executed."""

from collections import Counter, OrderedDict, defaultdict
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaswatch.shared.parsing.python_literals import python_literal
from tests.support.fuzzing import bounded, odd_texts


class Side(Enum):
    LEFT = "left"


@dataclass
class Spoken:
    role: str
    content: str


MESSAGES = [{"role": "user", "content": 'It\'s "so"\n[1] {x}'}, {"role": "tool", "content": None}]
literals = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | odd_texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(odd_texts, inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (str(MESSAGES), MESSAGES),
        (str(np.array(MESSAGES, dtype=object)), MESSAGES),
        (repr(np.array(MESSAGES, dtype=object)), MESSAGES),
        (str(np.array(["a", "b c"])), ["a", "b c"]),
        (str(np.array([[1, 2], [3, 4]])), [[1, 2], [3, 4]]),
        (str([np.float64(0.5), np.str_("x"), np.array([1, 2])]), [0.5, "x", [1, 2]]),
        (str((1, -2.5, 1e300, True, None)), [1, -2.5, 1e300, True, None]),
        (str({"a": {1, 2}, 3: ()}), {"a": [1, 2], "3": []}),
        (str([Decimal("1.5")]), ["1.5"]),
        (str({"at": datetime(2026, 5, 1, 10, 30, tzinfo=UTC)}), {"at": "2026-05-01T10:30:00"}),
        (str([date(2026, 5, 1), timedelta(days=1)]), ["2026-05-01", {"days": 1}]),
        (str([np.bool_(True), np.False_, pd.NA, pd.NaT]), [True, False, None, None]),
        (str({"a": float("inf"), "b": -float("inf")}), {"a": inf, "b": -inf}),
        (str([set(), frozenset({1}), Path("/x")]), [[], [1], "/x"]),
        (str({"role": Side.LEFT, "of": object}), {"role": "left", "of": None}),
        (str({"a": OrderedDict(b=1), "c": Counter("d")}), {"a": {"b": 1}, "c": {"d": 1}}),
        (str([defaultdict(list, a=[1]), SimpleNamespace(a=1)]), [{"a": [1]}, {"a": 1}]),
        (str([Spoken("assistant", "Hi (5)")]), [{"role": "assistant", "content": "Hi (5)"}]),
    ],
)
def test_values_come_back(written: str, value: Any) -> None:
    assert python_literal(written) == value


@bounded
@given(value=literals)
def test_what_str_wrote_is_read_as_it_was(value: Any) -> None:
    expected = value.replace("\ud800", "\ufffd") if isinstance(value, str) else value
    if "\\ud8" not in repr(value):
        assert python_literal(repr(value)) == expected


@pytest.mark.parametrize(
    "written",
    [
        "", "[", "[1", "{'a'", "{'a': 1, 2}", "1 2", "['a'] b", "__import__('os').system('x')",
        "open('x')", "[x for x in y]", "[open('x')]", "[os.system('x')]",
        "[datetime.datetime('x')]", "[datetime.date(0, 0, 0)]", "[<]", "[<a: x>]",
        "[" + "<a: " * 500 + "1" + ">" * 500 + "]",
        "[OrderedDict([1])]", "lambda: 1", "array()", "[1 ... 2]", "'\\x1'", "'a", "1e",
        "[" * 50_000, "{'a':" * 50_000, "array(" * 50_000, "(" * 200 + ")" * 200,
    ],
)  # fmt: skip
def test_anything_else_is_refused(written: str) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        python_literal(written)


@bounded
@given(written=st.text(alphabet="[](){}<>:,='\"\\ \nabx019.e+-NA", max_size=40))
def test_any_text_is_read_or_refused(written: str) -> None:
    with suppress(ValueError, SyntaxError):
        python_literal(written)
