"""Answers on pages: filters, marked differences, files."""

import pytest

from biaswatch.shared.contracts import Ending, Step
from biaswatch.shared.contracts.tools import ToolStep
from biaswatch.shared.presentation.answer_filters import AnswerFilter
from biaswatch.shared.presentation.answers import AnswerView, answer_view, differences, side_by_side
from biaswatch.shared.presentation.tables import Column, Table, csv_of, text_cell
from tests.support.records import make_features, make_probe, make_response


def view(key: str, text: str) -> AnswerView:
    return AnswerView(key, "s", "t", "direct", 0, {"g": key}, "asked", text, None, None, ())


def marked(text: str, other: str) -> list[str]:
    return [part.text.strip() for part in differences(text, other)[0] if part.differs]


def test_only_the_words_that_differ_are_marked() -> None:
    assert marked("He is a good nurse.", "She is a good nurse.") == ["He"]
    assert marked("the same", "the same") == []


def test_marking_changes_no_character() -> None:
    text = "  two  spaces,\nand a line \u202e\u200b!"
    for parts in differences(text, "and another"):
        assert "".join(part.text for part in parts) in {text, "and another"}


def test_texts_that_would_take_long_are_shown_without_marks() -> None:
    long = "word " * 10_000
    assert [part.differs for part in differences(long, "other")[0]] == [False]


def test_a_filter_is_the_same_after_its_address() -> None:
    filter_ = AnswerFilter(q="a&b=c", group="race=black", feature="vader.sentiment", low=-0.5)
    assert "q=a%26b%3Dc" in filter_.query()
    assert filter_.query(q="") == "group=race%3Dblack&feature=vader.sentiment&low=-0.5"


def test_an_empty_bound_of_a_form_is_no_bound() -> None:
    assert AnswerFilter.model_validate({"low": "", "high": "3"}) == AnswerFilter(high=3)


@pytest.mark.parametrize(
    ("bounds", "fits"),
    [({"low": 1.0}, True), ({"low": 2.5}, False), ({"high": 1.0}, False), ({"high": 2.0}, True)],
)
def test_a_range_is_about_its_feature(bounds: dict[str, float], fits: bool) -> None:
    measured = [make_features(extractor="words", values={"words": 2.0, "other": 9.0})]
    assert AnswerFilter(feature="words.words", **bounds).fits_measurements(None, measured) is fits


def test_an_undefined_number_lies_in_no_range() -> None:
    measured = [make_features(extractor="words", values={"words": None})]
    assert not AnswerFilter(feature="words.words", low=-9e9).fits_measurements(None, measured)


def test_words_are_found_in_question_and_answer_in_any_case() -> None:
    response = make_response(text="A Fine Day")
    assert AnswerFilter(q="fine day").fits_texts(response)
    assert not AnswerFilter(q="rain").fits_texts(response)
    assert not AnswerFilter(q="fine").fits_texts(None)


def test_words_are_also_looked_for_in_earlier_replies_and_steps() -> None:
    call = ToolStep(step=1, name="refund", arguments='{"percent": 50}', result="Refunded.")
    response = make_response(text="Bye", said={"turn:1": "Hello."}, tool_steps=(call,))
    for words in ("hello", "PERCENT", "refunded", "refund"):
        assert AnswerFilter(q=words).fits_texts(response), words


@pytest.mark.parametrize(
    ("scaffold", "reason"), [("conversation", "no value in a turn"), ("direct", "undefined")]
)
def test_answers_without_a_value_are_filtered_by_the_reason_of_findings(
    scaffold: str, reason: str
) -> None:
    response = make_response(probe=make_probe(0, scaffold=scaffold))
    measured = [make_features(extractor="r", values={"r@1": 2.0, "r@2": None})]
    for missing in (reason, "any"):
        for feature, fits in (("", True), ("r.r@2", True), ("r.r@1", False), ("x.r", False)):
            wanted = AnswerFilter(missing=missing, feature=feature)
            assert wanted.fits_measurements(response, measured) is fits
    assert not AnswerFilter(missing="refused").fits_measurements(response, measured)


def test_two_twins_stand_side_by_side_and_one_alone_does_not() -> None:
    twins = [view("a", "x"), view("b", "y"), view("c", "z")]
    result = side_by_side(twins, "c", "a", texts=True)
    assert result is not None
    assert [part.label for part in result] == ["c", "a"]
    assert side_by_side(twins[:1], "", "", texts=True) is None


def test_without_the_right_no_part_of_a_text_is_there() -> None:
    result = side_by_side([view("a", "x"), view("b", "y")], "", "", texts=False)
    assert result is not None
    assert [part.parts for part in result] == [None, None]


def test_a_formula_is_a_text_in_the_file() -> None:
    table = Table("t", (Column("name"),), ((text_cell("=1+1"),), (text_cell("x"),)))
    assert csv_of(table) == "name\n'=1+1\nx\n"


def test_a_conversation_shows_who_wrote_what_and_why_a_turn_has_no_value() -> None:
    names = {"turn:1": None, "user:2": None, "turn:2": "truncated", "turn:4": None}
    response = make_response(
        probe=make_probe(0, scaffold="conversation"),
        steps=tuple(Step(name=name, reason=reason) for name, reason in names.items()),
        said={"turn:1": "Hello.", "user:2": "And?", "turn:2": "Well", "turn:4": "Bye."},
    )
    values = {"r": None, "r@1": 2.0, "r@2": None, "r@3": None, "r@4": None, "r@drift": None}
    view = answer_view(response.probe, response, [make_features(values=values)])
    assert (
        view.reply == "Reply 1: Hello.\n\nSimulated user 2: And?\n\nReply 2: Well\n\nReply 4: Bye."
    )
    assert {row.feature: row.missing for row in view.readings} == {
        "r": "a reply has no value", "r@1": None, "r@2": "no value in this reply: truncated",
        "r@3": "this message was left out", "r@4": "no value in this reply",
        "r@drift": "a reply has no value",
    }  # fmt: skip


def test_calls_of_tools_are_listed_and_cut_and_stay_when_the_answer_is_missing() -> None:
    calls = [ToolStep(step=1, name="search", arguments='{"q": "x"}', result="r" * 1000)]
    calls += [ToolStep(step=2, name="refund")] * 60
    response = make_response(ending=Ending.FAILED, text=None, reason="x", tool_steps=tuple(calls))
    view = answer_view(response.probe, response, [])
    assert view.steps[0] == f'search {{"q": "x"}}: {"r" * 300}…'
    assert view.steps[1] == "refund {}: no result"
    assert (len(view.steps), view.steps[-1]) == (51, "and 11 more")
    assert answer_view(response.probe, make_response(), []).steps == ()
