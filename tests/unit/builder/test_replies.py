from pathlib import Path

import pytest

from services.builder.domain.model_questions import (
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
    ("reply", "said"),
    [("Yes.", True), ("no", False), ("Yes and no", None), ("Perhaps", None), ("Yesterday", None)],
)
def test_only_a_clear_yes_or_no_is_one(reply: str, said: bool | None) -> None:
    assert yes_or_no(reply) is said


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
