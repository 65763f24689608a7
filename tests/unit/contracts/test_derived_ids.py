"""An id is the hash of the canonical JSON of its inputs, however it is computed."""

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from biaswatch.shared.contracts import Purpose
from biaswatch.shared.contracts.identity import derived_id

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
    max_leaves=6,
)


@given(st.text(), st.lists(JSON, max_size=5))
def test_an_id_is_the_hash_of_the_canonical_json_of_its_inputs(
    kind: str, inputs: list[JsonValue]
) -> None:
    text = json.dumps([kind, *inputs], sort_keys=True, separators=(",", ":"))
    assert derived_id(kind, *inputs) == hashlib.sha256(text.encode()).hexdigest()[:32]


def test_a_purpose_is_its_word() -> None:
    assert derived_id("a", Purpose.JUDGE) == derived_id("a", "judge")
