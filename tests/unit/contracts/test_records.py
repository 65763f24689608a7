"""Records: ids derived from inputs, tolerant reading, texts marked."""

import hashlib
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from biaswatch.shared.contracts import (
    ROUTES,
    ExtractorPin,
    Features,
    Probe,
    Purpose,
    Record,
    Response,
    derived_id,
    features_id_of,
    member_features_id,
    response_id_of,
    route_of,
    subject_of,
    token_of,
)
from biaswatch.shared.contracts.partitions import partition_of
from biaswatch.shared.errors import UndecodableError
from tests.support.records import (
    AT,
    make_features,
    make_probe,
    make_response,
    make_run,
    make_target,
    one_of_each_kind,
)

EVERY_KIND = one_of_each_kind()


@pytest.mark.parametrize("record", EVERY_KIND, ids=lambda r: r.kind)
def test_a_record_survives_the_wire(record: Record) -> None:
    read = type(record).decode(record.encode())
    assert read == record
    assert read.id == record.id


@pytest.mark.parametrize("record", EVERY_KIND, ids=lambda r: r.kind)
def test_the_same_inputs_at_another_time_are_the_same_record(record: Record) -> None:
    later = record.model_copy(update={"at": AT + timedelta(days=1)})
    assert later.id == record.id


@pytest.mark.parametrize("record", EVERY_KIND, ids=lambda r: r.kind)
def test_another_tenant_or_purpose_is_another_record(record: Record) -> None:
    assert type(record)(**{**dict(record), "tenant": "other"}).id != record.id
    other = next(purpose for purpose in Purpose if purpose != record.purpose)
    assert type(record)(**{**dict(record), "purpose": other}).id != record.id


@pytest.mark.parametrize("record", EVERY_KIND, ids=lambda r: r.kind)
def test_no_id_depends_on_a_text_that_can_be_purged(record: Record) -> None:
    fields = {k: v for k, v in dict(record).items() if k not in type(record).text_fields()}
    assert type(record)(**fields).id == record.id


def test_a_forged_id_on_the_wire_is_ignored() -> None:
    data = make_probe(1).encode().replace(make_probe(1).id.encode(), b"f" * 32)
    assert b"f" * 32 in data
    assert type(make_probe(1)).decode(data).id == make_probe(1).id


def test_ids_in_order_begin_with_the_run_and_the_position_and_are_known_in_advance() -> None:
    for position in (0, 7, 2**32 - 1):
        probe = make_probe(1, position=position)
        response = make_response(1, probe=probe)
        features = make_features(
            1, probe_id=probe.id, response_id=response.id, extractor="words", extractor_version="1"
        )
        beginning = f"{probe.run_id[:8]}{position:08x}"
        assert {item.id[:16] for item in (probe, response, features)} == {beginning}
        assert len({item.id for item in (probe, response, features)}) == 3
        assert response.id == response_id_of(probe)
        assert features.id == features_id_of(probe, "words", "1")
        assert Response.decode(response.encode()).id == response.id
    assert make_probe(1, position=1).id > make_probe(2, position=0).id


def test_features_of_a_member_of_a_window_are_known_by_its_id_alone() -> None:
    run, pin = make_run(), ExtractorPin(name="words", version="1")
    for position in (None, 0, 2**32 - 1):
        probe = make_probe(1, run_id=run.id, position=position)
        assert member_features_id(run, probe.response_id, pin) == features_id_of(
            probe, "words", "1"
        )


def test_ids_without_a_position_are_hashes_as_they_have_always_been() -> None:
    probe = make_probe(1)
    fields = (probe.run_id, probe.key, probe.lane, probe.scaffold, probe.repeat)
    assert probe.id == derived_id("probe", "default", Purpose.STUDY, *fields)
    assert response_id_of(probe) == derived_id("response", "default", Purpose.STUDY, probe.id)


def test_a_position_beyond_what_an_id_holds_is_refused() -> None:
    with pytest.raises(ValidationError, match="position"):
        make_probe(1, position=2**32)


def test_repeats_targets_scaffolds_and_runs_are_different_probes() -> None:
    probes = [
        make_probe(1),
        make_probe(2),
        make_probe(1, repeat=1),
        make_probe(1, scaffold="decomposed"),
        make_probe(1, run_id="e" * 32),
        make_probe(1, target=make_target(name="openai:x")),
        make_probe(1, target=make_target(parameters={"temperature": 0.7})),
        make_probe(1, target=make_target(system_prompt="You are a judge.")),
    ]
    assert len({probe.id for probe in probes}) == len(probes)


def test_a_plan_has_the_same_id_whatever_the_order_of_its_targets() -> None:
    one, two = make_target(name="openai:a"), make_target(name="openai:b")
    assert make_run(targets=(one, two)).id == make_run(targets=(two, one)).id
    assert make_run(targets=(one,)).id != make_run(targets=(two,)).id
    assert make_run(nonce="again").id != make_run().id


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b"", "the whole message"),
        (b"\xff\x00", "the whole message"),
        (b"[]", "the whole message"),
        (b'{"run_id": "x"}', "at"),
        (make_features(1).encode().replace(b"7.0", b"NaN"), "values.words"),
        (make_features(1).encode().replace(b'"words":7.0', b'"words":1e999'), "values.words"),
        (make_probe(1).encode(), "probe_id"),
        (make_features(1).encode().replace(b"03:04:05Z", b"03:04:05"), "at"),
    ],
)
def test_what_is_not_the_record_is_refused_naming_where(data: bytes, where: str) -> None:
    with pytest.raises(UndecodableError) as caught:
        Features.decode(data)
    assert str(caught.value).startswith(f"These bytes are not a features record: {where}")


def test_a_refusal_never_repeats_what_was_said() -> None:
    data = make_response(1).encode().replace(b'"answered"', b'"secret words of a user"')
    with pytest.raises(UndecodableError) as caught:
        Response.decode(data)
    assert "secret" not in str(caught.value)


def test_unknown_fields_are_ignored_so_that_v1_can_grow() -> None:
    data = make_features(1).encode().replace(b'"extractor":', b'"invented_later":[1],"extractor":')
    assert Features.decode(data) == make_features(1)


@pytest.mark.parametrize("record", EVERY_KIND, ids=lambda r: r.kind)
def test_a_record_can_do_without_its_texts(record: Record) -> None:
    fields = {k: v for k, v in dict(record).items() if k not in type(record).text_fields()}
    assert type(record)(**fields).kind == record.kind


@pytest.mark.parametrize("record", EVERY_KIND, ids=lambda r: r.kind)
def test_a_subject_is_plain_words_and_the_partition_of_its_tenant(record: Record) -> None:
    words = subject_of(record).split(".")
    assert words[:3] == ["bias", "v1", record.kind]
    partition = [str(partition_of(record.tenant))] if route_of(type(record)).fair else []
    assert words[6:] == partition
    assert all(word and not set(word) & set("*> \t\r\n") for word in words)


@given(st.text(min_size=1, max_size=200))
def test_any_name_becomes_a_word_that_may_stand_in_a_subject(name: str) -> None:
    token = token_of(name)
    assert set(token) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
    assert 0 < len(token) <= 60


def test_different_names_never_become_the_same_word() -> None:
    names = ["a:b", "a.b", "a b", "a_b", "A_b", "a__b", "x" * 60, "x" * 61]
    assert len({token_of(name) for name in names}) == len(names)


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_different_inputs_have_different_ids(one: list[str], other: list[str]) -> None:
    assert (derived_id("probe", *one) == derived_id("probe", *other)) == (one == other)


def test_the_address_book_names_each_record_and_stream_once() -> None:
    assert len({route.record for route in ROUTES}) == len(ROUTES)
    assert len({route.stream for route in ROUTES}) == len(ROUTES)
    assert all(route.producers for route in ROUTES)
    assert all(route.consumers or route.append_only for route in ROUTES)


def test_a_time_without_a_zone_is_no_time() -> None:
    with pytest.raises(ValueError, match="timezone"):
        make_probe(1, at=datetime(2026, 1, 1))  # noqa: DTZ001
    assert make_probe(1, at=datetime(2026, 1, 1, tzinfo=UTC)).at.tzinfo is UTC


def test_a_copy_with_other_values_has_the_id_and_the_message_of_these() -> None:
    probe = make_probe(1)
    _ = probe.id, probe.message_bytes(), probe.response_id
    changed = probe.model_copy(update={"key": "another"})
    anew = Probe.model_validate({**probe.model_dump(exclude={"id"}), "key": "another"})
    assert (changed.id, changed.response_id) == (anew.id, anew.response_id)
    assert changed.id != probe.id
    assert changed.encode() == anew.encode()


def test_records_that_were_asked_for_their_ids_equal_those_that_were_not() -> None:
    asked, new = make_response(1), make_response(1)
    _ = asked.id, asked.message_bytes(), asked.probe.lane
    assert asked == new
    assert asked.model_dump() == new.model_dump()


def test_a_message_that_was_measured_is_what_is_sent_and_is_not_kept_after() -> None:
    response = make_response(1)
    unmeasured = response.encode()
    assert response.message_bytes() == len(unmeasured)
    assert response.encode() == response.encode() == unmeasured
    assert not [name for name in vars(response) if name.startswith("_")]


def test_no_record_shares_its_mappings_with_another() -> None:
    one, other = make_features(1), make_features(2)
    assert one.baseline is not other.baseline


def test_whole_numbers_and_truths_in_an_id_are_written_as_json_does() -> None:
    inputs: list[JsonValue] = ["a", 0, -3, 10**12, True, False, None, 1.5, ["x", 1], {"k": 2}]
    text = json.dumps(["kind", *inputs], separators=(",", ":"))
    assert derived_id("kind", *inputs) == hashlib.sha256(text.encode()).hexdigest()[:32]
