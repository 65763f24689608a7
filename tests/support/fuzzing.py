"""What hypothesis makes of samples: values of any kind in any place, and files cut or spoiled."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from biaswatch.shared.errors import BiaswatchError

bounded = settings(
    max_examples=40,
    deadline=None,  # nothing is asserted about time; a test that hangs has its own limit
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
"""The same examples every time."""
SENTENCES_END = (".", "?", ">", ")", "…", '"', "'")

odd_texts = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["", " ", "\n", "\x00", "\ud800", "\u202e", "nan", "1e999", "-", "0x", "1:2:3", "=", "a.b"]
    ),
    st.just("x" * 3_000),
)
odd_values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), odd_texts,
    st.sampled_from([10**400, -(2**63), 2**64, 1e308, 5e-324, [], {}, [[]], {"": None}]),
)  # fmt: skip
nested = st.integers(1, 1_500).map(
    lambda levels: json.loads("[" * min(levels, 400) + "]" * min(levels, 400))
)
json_values = st.recursive(
    odd_values,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(odd_texts, inner, max_size=4),
    max_leaves=8,
)


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return every place in a value, the whole of it first."""
    result = [path]
    for name, item in _items(value):
        result += places_in(item, (*path, name))
    return result


def _items(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, list):
        return list(enumerate(value))
    return list(value.items()) if isinstance(value, dict) else []


def spoiled(sample: Any) -> st.SearchStrategy[Any]:
    """Return a strategy of the sample with other values in one to three of its places."""
    places = places_in(sample)
    changes = st.lists(st.tuples(st.sampled_from(places), json_values | nested), max_size=3)
    return changes.map(lambda some: _changed(sample, some))


def _changed(sample: Any, changes: list[tuple[tuple[Any, ...], Any]]) -> Any:
    value = copy.deepcopy(sample)
    for place, new in changes:
        value = _put(value, place, new)
    return value


def _put(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    try:
        value[place[0]] = _put(value[place[0]], place[1:], new)
    except (KeyError, IndexError, TypeError):  # an earlier change took the place away
        return value
    return value


def cut_or_spoiled_bytes(sample: bytes) -> st.SearchStrategy[bytes]:
    """Return a strategy of a file that is cut off, or has other bytes in it."""
    at = st.integers(0, len(sample))
    return st.tuples(at, st.binary(max_size=8), at).map(
        lambda how: sample[: how[0]] + how[1] + sample[max(how[0], how[2]) :]
    )


def as_written(value: Any) -> str:
    """Return JSON, which is YAML too, of a value that JSON need not have."""
    return json.dumps(value)


def succeeds_or_says_why(call: Callable[[], Any]) -> Any:
    """Call it; whatever it raises has to be an error of ours, with a sentence."""
    try:
        return call()
    except BiaswatchError as error:
        text = str(error)
        assert len(text) > 10, text
        assert text.rstrip().endswith(SENTENCES_END), text
        assert "Traceback" not in text
        assert len(text) < 20_000
        return None


def write(path: Path, text: str) -> Path:
    """Write a file, as whoever makes one does; halves of pairs become what editors make of them."""
    path.write_bytes(text.encode("utf-8", "replace"))
    return path
