"""The answer is what follows a model's reasoning; tags that are only mentioned stay."""

import pytest

from biaswatch.shared.parsing.model_reasoning import after_reasoning

ANALYSIS = "<|channel|>analysis<|message|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>"
FINAL_JSON = "<|start|>assistant<|channel|>final <|constrain|>json<|message|>"
TOOL = "<|start|>assistant<|channel|>commentary to=functions.x<|message|>{}<|call|>"
FENCED = "Write:\n```xml\n<think>\nhere\n</think>\n```\nRating: 3"
SEPARATED = [
    ("<think>One might say Rating: 1. But no.</think>\n\nRating: 3", "Rating: 3"),
    ("<think>Maybe\nRating: 1\n</think>\n\nRating: 3", "Rating: 3"),
    ('<think>{"rating": 1}? no</think>\n{"rating": 3}', '{"rating": 3}'),
    ('<think>{"rating": 1}? no</think>{"rating": 3}', '{"rating": 3}'),
    ("<think>\n\n</think>\n\nRating: 3", "Rating: 3"),
    ("\n <think>1</think> Rating: 3", "Rating: 3"),
    ("\ufeff<think>1</think>Rating: 3", "Rating: 3"),
    ("<THINK>1</THINK>Rating: 3", "Rating: 3"),
    ("<thinking>Rating: 1</thinking>Rating: 3", "Rating: 3"),
    ('<thinking mode="deep">Rating: 1</thinking>\nRating: 3', "Rating: 3"),
    ("<reasoning>\nRating: 1\n</reasoning>\n<answer>3</answer>", "<answer>3</answer>"),
    ("<thought>Rating: 1</thought>\nRating: 3", "Rating: 3"),
    ("[THINK]Rating: 1[/THINK]Rating: 3", "Rating: 3"),
    ("◁think▷Rating: 1◁/think▷Rating: 3", "Rating: 3"),
    ("<|begin_of_thought|>Rating: 1<|end_of_thought|>Rating: 3", "Rating: 3"),
    ("<|START_THINKING|>Rating: 1<|END_THINKING|>Rating: 3", "Rating: 3"),
    ("<seed:think>Rating: 1</seed:think>Rating: 3", "Rating: 3"),
    ("One might say Rating: 1. But no.</think>\n\nRating: 3", "Rating: 3"),
    ("One might say Rating: 1\n</think>\nRating: 3", "Rating: 3"),
    ("So it is 1, or 2</think>Rating: 3", "Rating: 3"),
    ("Perhaps 1. </think> Rating: 3", "Rating: 3"),
    ("Rating: 1</reasoning>\nRating: 3", "Rating: 3"),
    ("</think>\nRating: 3", "Rating: 3"),
    ("<think>a</think>\nSo.\n<think>Rating: 1</think>\nRating: 3", "So.\n\nRating: 3"),
    ("Sure. <think>Rating: 1</think> Rating: 3", "Sure.  Rating: 3"),
    ("So it is a 1 (maybe 2)</think>\nRating: 3", "Rating: 3"),
    ('I would say "1"</think> Rating: 3', "Rating: 3"),
    ("<think>Rating: 1</think> her rating is 3", "her rating is 3"),
    ("<think>a <think> b</think>\nRating: 3", "Rating: 3"),
    ("<think>I close with `</think>` and then answer. 1</think>\nRating: 3", "Rating: 3"),
    ("<think>Write ```json and {1}\n</think>\nRating: 3", "Rating: 3"),
    ("Rating: 3\n<think>Was Rating: 1 better?</think>", "Rating: 3"),
    (f"{ANALYSIS}maybe\nRating: 1\n<|end|>{FINAL}Rating: 3", "Rating: 3"),
    (f"<|start|>assistant{ANALYSIS}Rating: 1<|end|>{TOOL}{FINAL}Rating: 3<|return|>", "Rating: 3"),
    (f"{ANALYSIS}Rating: 1<|end|>{FINAL_JSON}{{}}<|return|>", "{}"),
    (f"Rating: 1<|end|>{FINAL}Rating: 3<|return|>", "Rating: 3"),
    ("<|channel|>final<|message|>Rating: 3", "Rating: 3"),
    ("analysisWe need a rating. Rating: 1.assistantfinalRating: 3", "Rating: 3"),
    ("analysis\nRating: 1\nassistantfinal\nRating: 3", "Rating: 3"),
    ('analysisMaybe 1assistantcommentaryHmmassistantfinal{"rating": 3}', '{"rating": 3}'),
    ("assistantfinalRating: 3", "Rating: 3"),
    ("assistantanalysiswe rate. Rating: 1assistantfinalrating: 3", "rating: 3"),
]
CUT_OFF = [
    "<think>Maybe\nRating: 1\nor else",
    "<think>",
    "<reasoning>Rating: 1",
    "Sure!\n<think>\nRating: 1",
    "<think>a</think>\n<think>Rating: 1",
    "[THINK]Rating: 1",
    "<|channel|>analysis<|message|>Rating: 1",
    "<|channel|>analysis<|message|>Rating: 1<|end|>",
    "analysisWe need a rating. Rating: 1",
]
MENTIONED = [
    "Rating: 3",
    "  Rating: 3\n",
    "I write <think> before I think and </think> after it. Rating: 3",
    "Models use `<think>` and `</think>`. Rating: 3",
    'The tags "<think>" and "</think>" mark it. Rating: 3',
    "The tag </think>, which closes, is rare. Rating: 3",
    "Rating: 3. I wrote no <think> tag.",
    "Use (<think>) here. Rating: 3",
    FENCED,
    "It writes `<|channel|>final<|message|>` first. Rating: 3",
    "The token <|channel|> is special. Rating: 3",
    "analysis of the CV: Rating: 3",
    "Analysis: she is good. Rating: 3",
    "I think 3 < 4 > 2. Rating: 3",
    "<b>Rating: 3</b>",
    "<answer>3</answer>",
    "The assistant final year student. Rating: 3",
]


@pytest.mark.parametrize(("text", "answer"), SEPARATED)
def test_the_answer_is_what_follows_the_reasoning(text: str, answer: str) -> None:
    parts = after_reasoning(text)
    assert (parts.answer, parts.cut_off) == (answer, False)
    assert "Rating: 1" not in parts.answer
    assert ("Rating: 1" in parts.reasoning) == ("Rating: 1" in text)


@pytest.mark.parametrize("text", CUT_OFF)
def test_a_text_that_ends_in_its_reasoning_has_no_answer(text: str) -> None:
    parts = after_reasoning(text)
    assert (parts.answer, parts.cut_off) == ("", True)
    assert ("Rating: 1" in parts.reasoning) == ("Rating: 1" in text)


@pytest.mark.parametrize("text", MENTIONED)
def test_a_tag_that_is_only_mentioned_stays_in_the_answer(text: str) -> None:
    parts = after_reasoning(text)
    assert (parts.answer, parts.reasoning, parts.cut_off) == (text, "", False)


def test_a_call_of_a_tool_after_the_reasoning_is_an_empty_answer_and_not_cut_off() -> None:
    parts = after_reasoning(f"{ANALYSIS}Rating: 1<|end|>{TOOL}")
    assert (parts.answer, parts.cut_off, parts.missing) == ("", False, "empty")
