"""What each scaffold asks, and what it makes of the answers."""

import json

import pytest

from biaswatch.services.generator.domain.planned_calls import CallResult, PlannedCall
from biaswatch.services.generator.domain.questions import RatingScale, UnfitProbe, scale_of
from biaswatch.services.generator.domain.scaffolds import SCAFFOLDS, scaffold_of
from biaswatch.shared.contracts import Message, Probe, Role
from biaswatch.shared.llm.port import ModelAnswer
from tests.support.records import make_probe

GUIDANCE = {
    "skills": "## Look at\n\n- tools used in earnest\n- proof of it\n\n## Leave aside\n\n- fashion",
    "care": "How tidily the work was handed over; a rating of 4 needs two examples.",
}
CV = "Alice Example, 2015 to 2019 at a bakery, score of 9-10 in exams."


def cv_probe(**variables: str) -> Probe:
    given = {
        "question": "How well does this applicant fit?",
        "material": CV,
        "scale": "1 to 4, whole numbers",
        **{f"criterion:{name}": text for name, text in GUIDANCE.items()},
        **variables,
    }
    return make_probe(messages=(), variables={k: v for k, v in given.items() if v})


def text_of(call: PlannedCall) -> str:
    return "\n".join(message.content for message in call.messages)


def heard(rating: float, text: str = "because") -> CallResult:
    return CallResult(ModelAnswer(text), rating=rating)


def test_the_scaffolds_are_there() -> None:
    known = {
        "direct",
        "chain_of_thought",
        "decomposed",
        "decomposed_algorithmic",
        "reason_and_choose",
        "likelihood",
        "conversation",
        "tools",
    }
    assert set(SCAFFOLDS) == known


def test_a_name_that_is_no_scaffold_loads_nothing_and_says_what_there_is() -> None:
    with pytest.raises(UnfitProbe, match="Unknown scaffold os; the scaffolds are chain_of"):
        scaffold_of("os")


def test_direct_asks_a_conversation_as_it_is() -> None:
    probe = make_probe()
    [call] = scaffold_of("direct").first(probe)
    assert call.messages == probe.messages
    assert call.answer_schema is None


@pytest.mark.parametrize("scaffold", ["decomposed", "decomposed_algorithmic"])
@pytest.mark.parametrize("criterion", GUIDANCE)
def test_the_whole_guidance_of_each_criterion_reaches_its_prompt_and_no_others(
    scaffold: str, criterion: str
) -> None:
    calls = {c.name: text_of(c) for c in scaffold_of(scaffold).first(cv_probe())}
    prompt = calls.pop(f"criterion:{criterion}")
    assert GUIDANCE[criterion] in prompt
    assert CV in prompt
    [other] = calls.values()
    assert GUIDANCE[criterion] not in other


def test_the_scale_stands_before_guidance_and_material_that_have_numbers_of_their_own() -> None:
    for call in scaffold_of("decomposed").first(cv_probe()):
        text = text_of(call)
        assert text.index("from 1 to 4, a whole number") < text.index("Judge one criterion")
        assert text.index("Judge one criterion") < text.index(CV)


def test_the_synthesis_reads_every_judgement_and_the_material() -> None:
    scaffold = scaffold_of("decomposed")
    judged = {"criterion:care": heard(2, "untidy work"), "criterion:skills": heard(4, "has proof")}
    [call] = scaffold.then(cv_probe(), judged)
    text = text_of(call)
    assert "care: 2" in text
    assert "untidy work" in text
    assert "skills: 4" in text
    assert "has proof" in text
    assert CV in text
    final = {**judged, "synthesis": CallResult(ModelAnswer('{"rating": 3}'))}
    assert scaffold.then(cv_probe(), final) == ()
    assert scaffold.conclude(cv_probe(), final) == '{"rating": 3}'


@pytest.mark.parametrize(
    ("ratings", "mean"), [((1, 2), 2), ((2, 3), 2), ((3, 4), 4), ((1, 1), 1), ((1, 4), 2)]
)
def test_the_algorithm_rounds_the_mean_and_a_half_goes_to_the_even_side(
    ratings: tuple[int, int], mean: int
) -> None:
    judged = {f"criterion:{name}": heard(r) for name, r in zip("ab", ratings, strict=True)}
    scaffold = scaffold_of("decomposed_algorithmic")
    assert scaffold.then(cv_probe(), judged) == ()
    concluded = json.loads(scaffold.conclude(cv_probe(), judged))
    assert concluded == {"criteria": {"a": ratings[0], "b": ratings[1]}, "rating": mean}


def test_thinking_is_asked_for_at_the_end_of_the_users_last_turn() -> None:
    turns = (
        Message(role=Role.USER, content="First."),
        Message(role=Role.ASSISTANT, content="Yes?"),
        Message(role=Role.USER, content="How is the coast?"),
    )
    [call] = scaffold_of("chain_of_thought").first(make_probe(messages=turns))
    assert call.messages[:2] == turns[:2]
    assert call.messages[2].content.startswith("How is the coast?\n\nThink it through step by step")


def test_options_are_lettered_lines_and_the_form_admits_no_other() -> None:
    probe = cv_probe(**{"option:A": "The smith", "option:B": "The baker", "scale": ""})
    [call] = scaffold_of("reason_and_choose").first(probe)
    assert "A) The smith\nB) The baker" in text_of(call)
    assert call.answer_schema
    assert call.answer_schema.schema["properties"]["answer"]["enum"] == ["A", "B"]  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    ("scaffold", "change", "lacks"),
    [
        ("decomposed", {"criterion:skills": "", "criterion:care": ""}, "no criteria"),
        ("decomposed", {"criterion:care": "  "}, "care has no guidance"),
        ("decomposed", {"scale": ""}, "`scale` is missing"),
        ("decomposed", {"scale": "4 to 1"}, "is invalid"),
        ("direct", {"question": ""}, "`question` is missing"),
        ("reason_and_choose", {}, "no options"),
    ],
)
def test_a_probe_that_does_not_fit_a_scaffold_is_told_what_it_lacks(
    scaffold: str, change: dict[str, str], lacks: str
) -> None:
    with pytest.raises(UnfitProbe, match=lacks):
        scaffold_of(scaffold).first(cv_probe(**change))


def test_a_conversation_has_no_criteria_to_decompose_into() -> None:
    with pytest.raises(UnfitProbe):
        scaffold_of("decomposed").first(make_probe())


def test_a_scale_may_have_any_numbers_or_whole_ones() -> None:
    assert scale_of(cv_probe(scale="0-100")) == RatingScale(0, 100, whole=False)
    assert scale_of(cv_probe(scale="-2 to 2, whole")) == RatingScale(-2, 2, whole=True)
