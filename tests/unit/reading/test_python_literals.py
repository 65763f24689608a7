"""What Python and numpy wrote into a cell is read as values, and nothing in it is executed."""

from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.parsing.python_literals import python_literal
from tests.support.fuzzing import bounded, odd_texts

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
        "open('x')", "[x for x in y]", "lambda: 1", "array()", "[1 ... 2]", "'\\x1'", "'a", "1e",
        "[" * 50_000, "{'a':" * 50_000, "array(" * 50_000, "(" * 200 + ")" * 200,
    ],
)  # fmt: skip
def test_anything_else_is_refused(written: str) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        python_literal(written)


@bounded
@given(written=st.text(alphabet="[](){}:,='\"\\ \nabx019.e+-N", max_size=40))
def test_any_text_is_read_or_refused(written: str) -> None:
    with suppress(ValueError, SyntaxError):
        python_literal(written)
