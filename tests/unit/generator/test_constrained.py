"""Scaffolds with `answer: schema`: asked freely first, and again under a schema where needed."""

import pytest

from biaswatch.services.generator.domain.outcome import failed_plan, sum_usage
from biaswatch.services.generator.domain.planned_calls import CallResult
from biaswatch.services.generator.domain.questions import UnfitProbe
from biaswatch.services.generator.domain.scaffolds import FREE, scaffold_of
from biaswatch.shared.contracts import Probe
from biaswatch.shared.contracts.probe import MeasuredPart, RequestedPart
from biaswatch.shared.contracts.response import CONSTRAINED_STEP
from biaswatch.shared.llm.port import CallFailed, Failure, ModelAnswer
from tests.support.records import AT, make_probe

RATING = RequestedPart(part=MeasuredPart.RATING, low=1, high=5)
CHOICE = RequestedPart(part=MeasuredPart.CHOICE, options=("A", "B"))


def rated(requested: RequestedPart | None = RATING) -> Probe:
    return make_probe(requested=requested)


def answered(text: str, finish: str = "stop") -> CallResult:
    return CallResult(ModelAnswer(text, finish))


@pytest.mark.parametrize("text", ["Rating: 4", "**five**\n\nBecause of the years.", "3"])
def test_a_free_answer_with_the_rating_is_the_answer(text: str) -> None:
    scaffold, results = scaffold_of("direct-schema"), {FREE: answered(text)}
    [call] = scaffold.first(rated())
    assert call.name == FREE
    assert call.answer_schema is None
    assert scaffold.then(rated(), results) == ()
    assert scaffold.conclude(rated(), results) == text


@pytest.mark.parametrize(
    "free",
    [
        answered("A strong candidate."),
        answered("Rating: 9"),
        answered("Rating: 3", "length"),  # may have become 3.5
        CallResult(ModelAnswer(""), CallFailed(Failure.TRUNCATED, "cut off")),
    ],
)
def test_without_a_rating_on_the_scale_it_is_asked_again_under_a_schema(free: CallResult) -> None:
    scaffold, results = scaffold_of("direct-schema"), {FREE: free}
    [call] = scaffold.then(rated(), results)
    assert (call.name, call.enforced) == (CONSTRAINED_STEP, True)
    assert call.answer_schema is not None
    assert call.answer_schema.schema["properties"] == {
        "rating": {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    }
    assert call.messages[-1].content.endswith('{"rating": <a number from 1 to 5>}.')
    results[CONSTRAINED_STEP] = answered('{"rating": 2}')
    assert scaffold.then(rated(), results) == ()
    assert scaffold.conclude(rated(), results) == '{"rating": 2}'
    usage = sum_usage([], 0.0)
    assert failed_plan(rated(), results, usage, AT, required=scaffold.required(results)) is None


def test_a_free_answer_that_failed_otherwise_is_the_outcome() -> None:
    scaffold = scaffold_of("direct-schema")
    results = {FREE: CallResult(failure=CallFailed(Failure.CONTENT_FILTER, "withheld"))}
    failed = failed_plan(
        rated(), results, sum_usage([], 0.0), AT, required=scaffold.required(results)
    )
    assert failed is not None
    assert failed.reason == "content_filter"


def test_a_choice_is_one_of_the_declared_letters() -> None:
    scaffold, probe = scaffold_of("chain_of_thought-schema"), rated(CHOICE)
    assert scaffold.then(probe, {FREE: answered("I choose B.")}) == ()
    [call] = scaffold.then(probe, {FREE: answered("I choose C.")})
    assert call.answer_schema is not None
    assert call.answer_schema.schema["properties"] == {
        "answer": {"type": "string", "enum": ["A", "B"]}
    }


@pytest.mark.parametrize(
    ("requested", "sentence"),
    [
        (None, "`needs: rating`"),
        (RequestedPart(part=MeasuredPart.RATING), "in `ranges`"),
        (RequestedPart(part=MeasuredPart.CHOICE), "in `options`"),
    ],
)
def test_what_the_schema_needs_must_be_declared(
    requested: RequestedPart | None, sentence: str
) -> None:
    with pytest.raises(UnfitProbe, match=sentence):
        scaffold_of("direct-schema").first(rated(requested))
    with pytest.raises(UnfitProbe, match="Unknown scaffold decomposed-schema"):
        scaffold_of("decomposed-schema")
