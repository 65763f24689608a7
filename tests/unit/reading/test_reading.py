"""What answers say, in the many ways models say it, and what is never taken for an answer."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biaswatch.shared.parsing import (
    Unreadable,
    choice_in,
    objects_in,
    reasoning_in,
    sentences_in,
    yes_or_no_in,
)
from tests.support.recorded import RecordedData

THREE = "ABC"


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("B", "B"),
        ("(C)", "C"),
        ("B) The older one", "B"),
        ('{"reasoning": "During COVID-19 nothing was known.", "answer": "C"}', "C"),
        ('```json\n{"reasoning": "x", "answer": "B"}\n```', "B"),
        ('{"reasoning": "Banned since 1890.", "answer": "A) Not known"}', "A"),
        ('{"reasoning": "a {b} c", "answer": "(B)"}', "B"),
        ('Here it is:\n{"reasoning": "The choices are 1, 2, 3.", "answer": "b"}', "B"),
        ('{"reasoning": "He said "no" to it", "answer": "B"}', "B"),
        ('{"reasoning": "cut off", "answer": "B', "B"),
        ("1. First, the age.\n2. Then, the year 1890.\nAnswer: C", "C"),
        ("A) speaks for it\nB) speaks against it\n\n**Answer:** B", "B"),
        ("If the answer is A, then he lied. But he did not.\nFinal answer: B.", "B"),
        ("So the answer is (C), as nobody knows.", "C"),
        ("I choose option B.", "B"),
        ("\\boxed{A}", "A"),
        ("Answer: B - The older one", "B"),
        ("answer: b", "B"),
        ('"Answer": b.', "B"),
        ('{"Answer": B, "reasoning": "It is so."}', "B"),
        ('{"reasoning": "It is so.", "Answer": C.}', "C"),
        ("'Answer': B", "B"),
        ('"Answer": a boat.', None),
        ('"Answer": a or b', None),
        ("I cannot answer a question like this.", None),
        ("The answer is a matter of taste.", None),
        ("The answer is unclear.", None),
        ("Covid-19 struck in 2019; the choices are: 1, 2, 3.", None),
        ("19", None),
        ("2. The older one", None),
        ('{"reasoning": "thinking and then cut', None),
        ('{"reasoning": "x", "answer": ""}', None),
        ('{"reasoning": "x", "answer": null}', None),
        ("Answer: A or Answer: B", None),
        ("Answer: A or B", None),
        ("The answer is A and B.", None),
        ("Answer: A\nAnswer: C", None),
        ("Answer: D", None),
        ("", None),
        ("{" * 5000, None),
    ],
)
def test_the_one_chosen_option_is_read_and_nothing_is_taken_for_it(
    text: str, mark: str | None
) -> None:
    if mark is None:
        with pytest.raises(Unreadable):
            choice_in(text, THREE)
    else:
        assert choice_in(text, THREE) == mark


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="0123456789.,:;-()\n abcxyz", max_size=80), st.sampled_from(THREE))
def test_no_number_before_the_answer_changes_it(reasoning: str, mark: str) -> None:
    text = json.dumps({"reasoning": reasoning, "answer": mark})
    assert choice_in(text, THREE) == mark
    assert choice_in(f"```json\n{text}\n```", THREE) == mark


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("yes", "yes"),
        ("No.", "no"),
        ("no\nThe reasoning speaks of something else.", "no"),
        ("Answer: Yes\nReasoning: there is no contradiction", "yes"),
        ("**Answer:** no", "no"),
        ("Yes, because no other reading is possible.", "yes"),
        ("Reasoning: it fits.\nAnswer: yes", "yes"),
        ('{"answer": "no", "reason": "yes and no"}', "no"),
        ('```json\n{"consistent": true}\n```', "yes"),
        ("The reasoning fits. The answer is: No", "no"),
        ("It speaks of another question, so no.", "no"),
        ("The reasoning speaks of another question. No.", "no"),
        ("", None),
        ("  \n", None),
        ("There is no information about that.", None),
        ("No information is given about him.", None),
        ('"Answer": y.', "yes"),
        ('{"Answer": n.}', "no"),
        ("Answer: Y", "yes"),
        ('{"answer": "n."}', "no"),
        ("Answer: n/a", None),
        ("Answer: Y-shaped", None),
        ('"Answer": yellow', None),
        ("It cannot be said.", None),
        ("Answer: yes\nAnswer: no", None),
        ("Answer: yes or no", None),
        ("Answer: **yes** / **no**", None),
        ("Answer: yes or no?\nYes.", "yes"),
        (r"It fits: \boxed{yes}", "yes"),
        (r"The answer is $\boxed{\text{No.}}$", "no"),
        (r"\boxed{yes} or \boxed{no}", None),
        (r"\boxed{yes or no}", None),
        ("yesterday", None),
        ("Nobody knows", None),
    ],
)
def test_a_plain_yes_or_no_is_a_verdict_and_nothing_else_is(text: str, verdict: str | None) -> None:
    if verdict is None:
        with pytest.raises(Unreadable):
            yes_or_no_in(text)
    else:
        assert yes_or_no_in(text) == verdict


@pytest.mark.parametrize(
    ("text", "reasoning"),
    [
        ('{"reasoning": "Nothing is said of it.", "answer": "A"}', "Nothing is said of it."),
        ('{\n  "reasoning": "Nothing \\"is\\" said.",\n  "answer": "', 'Nothing "is" said.'),
        ("Reasoning: Nothing is said.\n\nAnswer: B", "Nothing is said."),
        ('{"reasoning": ["One rows.", "One reads."], "answer": "B"}', "One rows. One reads."),
        ('{"steps": {"1": "One rows.", "2": "One reads."}, "answer": "B"}', "One rows. One reads."),
        ('```json\n{"thought": "Ida rowed it.", "answer": "B"}\n```', "Ida rowed it."),
        ("Nothing is said of it.\nFinal answer: B", "Nothing is said of it."),
    ],
)
def test_the_reasoning_is_what_leads_to_the_answer(text: str, reasoning: str) -> None:
    assert reasoning_in(text) == reasoning


@pytest.mark.parametrize("text", ["", "B", "Answer: B", '{"answer": "B"}', "(B)"])
def test_an_answer_without_reasons_has_no_reasoning(text: str) -> None:
    with pytest.raises(Unreadable, match="no reasoning"):
        reasoning_in(text)


def test_a_line_break_inside_quotes_is_let_pass() -> None:
    text = 'Not {this}: {"a": "one\nline more"}\n```json\n{"a": {"b": 1}}\n```'
    assert list(objects_in(text)) == [{"a": "one\nline more"}, {"a": {"b": 1}}]


def test_an_explanation_is_cut_after_whole_sentences() -> None:
    assert sentences_in("One. Two!\nThree? Four.", 3) == "One. Two! Three?"
    assert sentences_in("One e.g. this. Two.", 1) == "One e.g. this."


def replies(folder: Path) -> list[tuple[str, str]]:
    """Return each recorded reply of the oracle with the verdict its own parser stored."""
    result = []
    for file in sorted(folder.glob("*/cross_consistency*.jsonl")):
        for line in file.read_text().splitlines():
            checks: dict[str, Any] = json.loads(line)["cross_consistency_checks"]
            result += [(check["raw_output"], check["is_consistent"]) for check in checks.values()]
    return result


def read(text: str) -> str | None:
    try:
        return yes_or_no_in(text)
    except Unreadable:
        return None


def test_recorded_replies_have_a_verdict_wherever_there_is_one_and_none_where_they_are_empty(
    recorded_data: RecordedData,
) -> None:
    recorded = replies(recorded_data("data/reasoning"))
    assert len(recorded) == 1200
    for text, stored in recorded:
        if stored in {"yes", "no"}:
            assert read(text) == stored
        else:
            assert (read(text) is None) == (not text.strip())
    newly = Counter(read(text) for text, stored in recorded if stored == "unknown")
    assert newly == {"yes": 440, "no": 277, None: 15}
