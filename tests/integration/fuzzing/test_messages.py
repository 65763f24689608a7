"""Whatever arrives as a record, a target or an answer is taken, or refused with a sentence."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from biaswatch.services.extractor.domain.dropin_protocol import BrokenContract, outcomes_of, spec_of
from biaswatch.services.gateway.settings import AllowedTargets
from biaswatch.shared.contracts import Record, parse_target
from biaswatch.shared.contracts.dropin import CONTRACT
from biaswatch.shared.errors import UndecodableError
from tests.support.fuzzing import (
    as_written,
    bounded,
    cut_or_spoiled_bytes,
    odd_texts,
    spoiled,
    succeeds_or_says_why,
)
from tests.support.records import one_of_each_kind

KINDS = {record.kind: record for record in one_of_each_kind()}
SPEC = {
    "contract": CONTRACT, "name": "exclaims", "version": "1.0.0", "features": ["marks"],
    "max_batch": 8, "about": "Counts.", "instrument": "code",
}  # fmt: skip
ANSWER = {
    "version": "1.0.0",
    "results": [{"id": "0", "values": {"marks": 1.5}}, {"id": "1", "unscorable": "no text"}],
}
MANY = 5


def holds(kind: type[Record], data: bytes) -> None:
    """Decode; what is a record can be sent on, and is the same at the other end."""
    record = succeeds_or_says_why(lambda: kind.decode(data))
    if record is not None:
        again = kind.decode(record.encode())
        assert again.id == record.id
        assert again.encode() == record.encode()
        assert record.lane


@pytest.mark.parametrize("kind", KINDS)
@bounded
@given(data=st.data())
def test_bytes_are_a_record_or_refused(kind: str, data: st.DataObject) -> None:
    record = KINDS[kind]
    holds(type(record), data.draw(st.binary(max_size=50) | cut_or_spoiled_bytes(record.encode())))
    values = data.draw(spoiled(json.loads(record.encode())))
    holds(type(record), as_written(values).encode())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "written", ["[" * 200_000, '{"a":' * 100_000, "1" * 1_000_000, '"\\ud800"']
)
def test_endless_nesting_is_no_record(kind: str, written: str) -> None:
    with pytest.raises(UndecodableError):
        type(KINDS[kind]).decode(written.encode())


parts = st.sampled_from(
    ["openai:", "http:", "simulator:", "replay:", "anthropic:", "m", "@", "http://", "[::1", "?",
     "&", "=", "a.b.c", "role=", "url=", "request=", "{", "}", "%", "%00", "1e999", "#", "//", ":"]
) | odd_texts  # fmt: skip


@bounded
@given(written=st.lists(parts, max_size=9).map("".join))
@example("openai:m?" + "a." * 3_000 + "b=1")
@example("openai:m?a=" + "[" * 900 + "]" * 900)
@example("openai:m?a=" + "1" * 5_000)
@example("http:x?url=http://a.example&answer=/a&request=" + '{"a":' * 300 + "1" + "}" * 300)
def test_a_target_is_understood_or_refused(written: str) -> None:
    target = succeeds_or_says_why(lambda: parse_target(written))
    if target is not None:
        assert json.loads(target.model_dump_json())["name"] == target.name
        allowed = AllowedTargets(("openai:*@https://llm.example/v1", "http:https://a.example"))
        succeeds_or_says_why(lambda: allowed.check([target]))


@bounded
@given(data=st.data())
def test_an_extractors_answer_gives_every_text_an_outcome(data: st.DataObject) -> None:
    spec = spec_of(json.dumps(SPEC).encode())
    sent = as_written(data.draw(spoiled(ANSWER))).encode()
    try:
        result = outcomes_of(data.draw(st.sampled_from([sent, sent[: len(sent) // 2]])), spec, MANY)
    except BrokenContract:
        return
    assert len(result) == MANY
    for values, reason in result:
        assert (reason is None) == bool(values)
        json.dumps(values, allow_nan=False)


@bounded
@given(data=st.data())
def test_what_an_extractor_says_of_itself_is_a_spec_or_refused(data: st.DataObject) -> None:
    try:
        spec_of(as_written(data.draw(spoiled(SPEC))).encode())
    except BrokenContract as broken:
        assert str(broken)  # noqa: PT017 - any other error fails the test
