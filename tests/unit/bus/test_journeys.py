"""Outputs of a batch go on with the journey of the record that they follow from."""

from biaswatch.shared.bus.stage import contexts_of
from biaswatch.shared.contracts import Record
from tests.support.records import make_exchange, make_features, make_response


def responses_of_exchanges(*numbers: int) -> list[Record]:
    return [
        make_response(n).model_copy(
            update={"probe": make_response(n).probe.model_copy(update={"key": f"answer-{n}"})}
        )
        for n in numbers
    ]


def test_features_follow_from_the_response_that_they_measure() -> None:
    inputs = [make_response(n) for n in range(3)]
    outputs = [make_features(n) for n in (2, 0)]
    assert contexts_of(outputs, inputs, ["a", "b", "c"]) == ["c", "a"]


def test_a_response_follows_from_the_exchange_of_its_key() -> None:
    exchanges = [make_exchange(n) for n in range(2)]
    assert contexts_of(responses_of_exchanges(1, 0), exchanges, ["a", "b"]) == ["b", "a"]


def test_all_outputs_of_one_record_follow_from_it() -> None:
    assert contexts_of([make_features(5)], [make_exchange()], ["a"]) == ["a"]


def test_an_output_that_names_no_input_of_its_batch_begins_a_journey() -> None:
    inputs = [make_response(n) for n in range(2)]
    assert contexts_of([make_features(7)], inputs, ["a", "b"]) == [""]


def test_without_contexts_nobody_traces() -> None:
    assert contexts_of([make_features()], [make_response()], ()) == [""]
