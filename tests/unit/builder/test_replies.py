from pathlib import Path

import pytest

from biaswatch.building.model_questions import (
    keywords_in,
    question_problem,
    term_pairs_in,
    terms_in,
    yes_or_no,
)


@pytest.mark.parametrize(
    "reply",
    [
        '["sea", "old town"]',
        'Here you are:\n```json\n["sea", "old town"]\n```\nEnjoy.',
        "- sea\n- old town",
        "1. sea\n2) old town.",
        "Sure:\n* **sea**\n* old town",
        "sea, old town",
    ],
)
def test_a_list_is_read_however_it_is_written(reply: str) -> None:
    assert terms_in(reply) == ["sea", "old town"]


def test_a_hostile_reply_is_only_text(tmp_path: Path) -> None:
    trace = tmp_path / "was-here"
    hostile = f"[__import__('pathlib').Path({str(trace)!r}).touch()]"
    assert terms_in(hostile) == []
    assert term_pairs_in("{" + hostile + ": 1}") == {}
    assert yes_or_no(hostile) is None
    assert question_problem("Peru", hostile) is not None
    assert not trace.exists()


def test_nesting_without_end_is_no_list_and_no_crash() -> None:
    assert terms_in("[" * 100_000 + "]" * 100_000) == []
    assert term_pairs_in("{" * 100_000 + "}" * 100_000) == {}


@pytest.mark.parametrize("reply", ["", "[]", "[1, 2]", "x" * 500, '["a\\u0000b"]', "{<script>}"])
def test_what_is_no_list_of_terms_gives_none(reply: str) -> None:
    assert terms_in(reply) == []


@pytest.mark.parametrize(
    ("reply", "pairs"),
    [
        ('{"Lima": "Paris"}', {"Lima": "Paris"}),
        ('[{"Lima": "Paris"}, {"sol": "euro"}]', {"Lima": "Paris", "sol": "euro"}),
        ('{"Lima": 3, "sol": ["euro"], "": "x"}', {}),
        ("Lima becomes Paris", {}),
    ],
)
def test_pairs_are_read_from_objects_alone(reply: str, pairs: dict[str, str]) -> None:
    assert term_pairs_in(reply) == pairs


@pytest.mark.parametrize(
    ("reply", "expected"),
    [("Yes.", True), ("no", False), ("Yes and no", None), ("Perhaps", None), ("Yesterday", None)],
)
def test_only_a_clear_yes_or_no_is_one(reply: str, expected: bool | None) -> None:
    assert yes_or_no(reply) is expected


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("How old is Peru?", None),
        ("NO", "it declines"),
        ("How old is it?", "it does not name the concept"),
        ("Peru is old.", "it is not one question"),
        ("Is Peru old? Is Peru new?", "it is not one question"),
        ("Sure!\nIs Peru old?", "it is more than one line"),
        ("Peru " * 60 + "?", "it is too long"),
    ],
)
def test_a_reply_that_is_no_usable_question_says_why(reply: str, why: str | None) -> None:
    assert question_problem("Peru", reply) == why


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot help with that.",
        "I'm sorry, but I can't assist with that request.",
        "As an AI language model, I cannot name groups of people, sorry.",
        "I cannot.",
        "Sorry.",
        "I will not provide such a list, because it may hurt people.",
        '["I cannot help with that"]',
        "I can't help with that.\n- Please ask me something else entirely",
    ],
)
def test_a_refusal_is_never_a_keyword(reply: str) -> None:
    assert keywords_in(reply).terms == ()


def test_what_a_model_says_around_a_list_is_no_keyword() -> None:
    reply = "Sure, here are some:\nbaker\nbread oven\nnote\nI hope this helps you a lot!"
    read = keywords_in(reply)
    assert read.terms == ("baker", "bread oven", "note")
    assert len(read.no_terms) == 2


def test_a_counterpart_that_declines_replaces_nothing() -> None:
    assert term_pairs_in('{"church": "I cannot help with that", "bible": "quran"}') == {
        "bible": "quran"
    }
