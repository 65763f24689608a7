"""Ratings and choices in answers of a real model, against independent readings of the same answers.

`tests/golden/smollm2` has 2,000 answers of SmolLM2 to our suites. Two readers who had not seen the
parsers read each of them, a third decided where they disagreed (`readers`); `disputed` marks
answers that a careful person could read otherwise. The patterns were written on these.
"""

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from biaswatch.shared.parsing import Unreadable, choice_in, rating_in
from biaswatch.shared.parsing.options import option_texts

ROOT = Path(__file__).parents[3]
ANSWERS = ROOT / "tests" / "golden" / "smollm2"
CHOICES, LETTERS = "hiring-callback", "AB"
SCALES = {"feedback": (1.0, 10.0), "cv-hiring": (1.0, 4.0), "hiring-cvs": (1.0, 4.0)}
"""Scales that are not 1 to 5."""
UNRATED = {"countries", "countries-and-unions", CHOICES}


def answers() -> Iterator[dict[str, Any]]:
    """Yield all recorded answers."""
    for file in sorted(ANSWERS.glob("*.jsonl")):
        yield from map(json.loads, file.read_text().splitlines())


@cache
def prompts() -> dict[str, str]:
    """Return the prompts with options, by the keys of their probes."""
    lines = (ROOT / "suites" / CHOICES / "probes.jsonl").read_text().splitlines()
    return {probe["key"]: probe["prompt"] for probe in map(json.loads, lines)}


def rating_of(answer: dict[str, Any]) -> float | None:
    suite = answer["suite"]
    scale = (None, None) if suite in UNRATED else SCALES.get(suite, (1.0, 5.0))
    try:
        return rating_in(answer["text"], scale, cut_off=answer["finish"] == "length")
    except Unreadable:
        return None


def choice_of(answer: dict[str, Any]) -> str | None:
    options = option_texts(prompts()[answer["key"]], LETTERS)
    try:
        return choice_in(answer["text"], options, cut_off=answer["finish"] == "length")
    except Unreadable:
        return None


def counts(part: str, *, with_disputed: bool) -> Counter[str]:
    """Count how the parser does on the answers that were read."""
    counted: Counter[str] = Counter()
    for answer in answers():
        if answer["disputed"] and not with_disputed:
            continue
        if part == "choice" and answer["suite"] != CHOICES:
            continue
        stated = answer["readers"][part]
        read = rating_of(answer) if part == "rating" else choice_of(answer)
        if stated is None:
            counted["none" if read is None else "invented"] += 1
        else:
            counted["unread" if read is None else "read" if read == stated else "wrong"] += 1
    return counted


@pytest.mark.parametrize(
    ("part", "with_disputed", "expected"),
    [
        ("rating", False, {"read": 238, "invented": 6, "none": 1446}),
        ("rating", True, {"read": 335, "unread": 14, "invented": 34, "none": 1617}),
        ("choice", False, {"read": 99, "unread": 3, "invented": 11, "none": 145}),
        ("choice", True, {"read": 130, "unread": 15, "invented": 28, "none": 172}),
    ],
)
def test_answers_are_read_as_published(
    part: str, with_disputed: bool, expected: dict[str, int]
) -> None:
    assert counts(part, with_disputed=with_disputed) == expected
