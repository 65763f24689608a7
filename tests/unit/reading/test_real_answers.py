"""Ratings and choices in answers of a real model, against independent readings of the same answers.

`tests/golden/smollm2` has 2,420 answers of SmolLM2 to our suites. Two readers who had not seen the
parsers read each of them, a third decided where they disagreed (`readers`); `disputed` marks
answers that a careful person could read otherwise. The patterns were written on all but the last
420 (s6).
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


def counts(sets: tuple[str, ...], part: str, *, with_disputed: bool) -> Counter[str]:
    """Count how the parser does on the answers of some sets."""
    counted: Counter[str] = Counter()
    for answer in answers():
        if not answer["id"].startswith(sets):
            continue
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


WRITTEN_ON, HELD_BACK = ("s1", "s2", "s3", "s4", "s5"), ("s6",)


@pytest.mark.parametrize(
    ("sets", "part", "with_disputed", "expected"),
    [
        (WRITTEN_ON, "rating", False, {"read": 238, "invented": 6, "none": 1446}),
        (WRITTEN_ON, "rating", True, {"read": 335, "unread": 14, "invented": 34, "none": 1617}),
        (WRITTEN_ON, "choice", False, {"read": 99, "unread": 3, "invented": 11, "none": 145}),
        (WRITTEN_ON, "choice", True, {"read": 130, "unread": 15, "invented": 28, "none": 172}),
        (HELD_BACK, "rating", False, {"read": 50, "invented": 5, "none": 307}),
        (HELD_BACK, "rating", True, {"read": 66, "unread": 9, "invented": 10, "none": 335}),
        (HELD_BACK, "choice", False, {"read": 22, "invented": 3, "none": 42}),
        (
            HELD_BACK,
            "choice",
            True,
            {"read": 30, "unread": 3, "wrong": 2, "invented": 6, "none": 47},
        ),
    ],
)
def test_answers_are_read_as_published(
    sets: tuple[str, ...], part: str, with_disputed: bool, expected: dict[str, int]
) -> None:
    assert counts(sets, part, with_disputed=with_disputed) == expected
