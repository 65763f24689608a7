"""The scaffold `likelihood`: which answers are scored, in which contexts, and what is recorded."""

from math import exp, log
from typing import Any

import pytest

from biaswatch.services.generator.domain.likelihood import (
    IN_CONTEXT,
    NEUTRAL,
    exclusive,
    scored_options,
)
from biaswatch.services.generator.domain.outcome import response_from_plan
from biaswatch.services.generator.domain.planned_calls import CallResult
from biaswatch.services.generator.domain.questions import UnfitProbe
from biaswatch.services.generator.domain.scaffolds import scaffold_of
from biaswatch.shared.contracts import Probe, Usage
from biaswatch.shared.contracts.probe import MeasuredPart, RequestedPart
from biaswatch.shared.llm.port import ModelAnswer, TokenScores
from tests.support.records import AT, make_probe, make_target

RATING = RequestedPart(part=MeasuredPart.RATING, low=1, high=10)
CHOICE = RequestedPart(part=MeasuredPart.CHOICE, options=("A", "B"))
ASKED = {"question": "Who was late?", "material": "A baker met a nurse."}
SCAFFOLD = scaffold_of("likelihood")


def probe_of(**variables: str) -> Probe:
    return make_probe(scaffold="likelihood", messages=(), variables=variables)


def scores(*rows: TokenScores) -> CallResult:
    return CallResult(ModelAnswer("x", scores=rows))


def one(logprob: float, text: str = "") -> TokenScores:
    return [(text or str(logprob), logprob)]


def test_a_scale_is_scored_with_and_without_the_question() -> None:
    own, neutral = SCAFFOLD.first(make_probe(requested=RATING))
    assert own.continuations is not None
    assert own.continuations.texts == tuple(str(rating) for rating in range(1, 11))
    assert own.continuations.context is None
    request = "Answer with one whole number from 1 to 10 and nothing else."
    assert own.messages[-1].content.endswith(request)
    assert neutral.messages[-1].content == f"N/A\n\n{request}"
    assert neutral.continuations == own.continuations


def test_declared_letters_and_options_in_variables_are_scored() -> None:
    [own, _] = SCAFFOLD.first(make_probe(requested=CHOICE))
    assert own.continuations is not None
    assert own.continuations.texts == ("A", "B")
    options = {"option:A": "The baker", "option:B": "The nurse"}
    [own, neutral] = SCAFFOLD.first(probe_of(**ASKED, **options))
    assert "A baker met a nurse." in own.messages[0].content
    assert "A baker met a nurse." not in neutral.messages[0].content
    assert "A) The baker" in neutral.messages[0].content
    [own, _] = SCAFFOLD.first(probe_of(**ASKED, scale="1 to 4, whole numbers"))
    assert own.continuations is not None
    assert own.continuations.texts == ("1", "2", "3", "4")


def test_continuations_follow_a_raw_text_or_a_question() -> None:
    texts = {"continuation:A": " late", "continuation:B": " early"}
    [whole] = SCAFFOLD.first(probe_of(**texts))
    assert whole.continuations is not None
    assert (whole.continuations.context, whole.messages) == ("", ())
    [own, neutral] = SCAFFOLD.first(probe_of(**texts, context="He was"))
    assert own.continuations is not None
    assert neutral.continuations is not None
    assert (own.continuations.context, neutral.continuations.context) == ("He was", "")
    [own, neutral] = SCAFFOLD.first(probe_of(**texts, **ASKED))
    assert own.messages[0].content == "Who was late?\n\nA baker met a nurse."
    assert neutral.messages[0].content == "Who was late?\n\nN/A"


@pytest.mark.parametrize(
    ("probe", "why"),
    [
        (make_probe(requested=None), "`needs: rating`"),
        (make_probe(requested=RATING.model_copy(update={"high": 5.5})), "whole numbers"),
        (make_probe(requested=RATING.model_copy(update={"high": 999.0})), "101 whole"),
        (probe_of(**{"continuation:A": "x"}), "Score 2 to 101"),
        (probe_of(**{"continuation:A": "x", "continuation:B": ""}), "none of them empty"),
        (probe_of(**ASKED), "`scale` is missing"),
    ],
)
def test_a_probe_without_answers_to_score_does_not_fit(probe: Probe, why: str) -> None:
    with pytest.raises(UnfitProbe, match=why):
        SCAFFOLD.first(probe)


def test_a_raw_text_has_no_place_for_a_role() -> None:
    texts = {"continuation:A": "x", "continuation:B": "y"}
    probe = probe_of(**texts).model_copy(update={"target": make_target(system_prompt="Be kind.")})
    with pytest.raises(UnfitProbe, match="no place for a role"):
        SCAFFOLD.first(probe)


def test_a_shorter_option_does_not_count_what_a_longer_one_says() -> None:
    rows = [one(log(0.5), "1"), one(log(0.3), "2"), [("1", log(0.5)), ("0", log(0.4))]]
    shares = [exp(value) for (value,) in exclusive(rows)]
    assert shares == pytest.approx([0.3, 0.3, 0.2])
    hundred = [*rows, [("1", log(0.5)), ("0", log(0.4)), ("0", log(0.25))]]
    assert [exp(v) for (v,) in exclusive(hundred)] == pytest.approx([0.3, 0.3, 0.15, 0.05])


def test_an_option_that_longer_ones_take_up_whole_keeps_a_finite_log_probability() -> None:
    rows = [one(-1.0, "1"), [("1", -1.0), ("0", 0.0)]]
    assert exclusive(rows)[0][0] < -28


def test_the_response_has_the_log_probabilities_and_the_most_likely_name() -> None:
    probe = make_probe(requested=CHOICE, scaffold="likelihood")
    results = {IN_CONTEXT: scores(one(-2.0), one(-0.5)), NEUTRAL: scores(one(-1.0), one(-1.5))}
    text = SCAFFOLD.conclude(probe, results)
    response = response_from_plan(probe, text, results, Usage(), AT)
    assert response.text == "B"
    assert [(o.name, o.logprobs, o.neutral_logprobs) for o in response.scored] == [
        ("A", (-2.0,), (-1.0,)),
        ("B", (-0.5,), (-1.5,)),
    ]
    assert [step.name for step in response.steps] == [IN_CONTEXT, NEUTRAL]


def test_a_continuation_keeps_the_log_probability_of_each_token() -> None:
    probe = probe_of(**{"continuation:A": "x y", "continuation:B": "z"})
    results: dict[str, Any] = {IN_CONTEXT: scores([("x", -1.0), ("y", -2.0)], one(-2.5))}
    options = scored_options(probe, results)
    assert [option.logprobs for option in options] == [(-1.0, -2.0), (-2.5,)]
    assert SCAFFOLD.conclude(probe, results) == "B"
    assert options[0].neutral_logprobs == ()


def test_an_answer_that_was_written_has_no_scores() -> None:
    assert scored_options(make_probe(), {"answer": CallResult(ModelAnswer("3"))}) == ()
