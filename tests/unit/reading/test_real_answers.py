"""Ratings in recorded answers of a real model, against independent readings of the same answers.

`tests/golden/smollm2/answers.jsonl` has answers of SmolLM2 to our suites. Two readers who had not
seen the parsers read 600 of them, a third decided where they disagreed (`readers`); `disputed`
marks answers that a careful person could read otherwise. The patterns were written on the first
set (s1); the second (s2: another seed, a higher temperature) was held back.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from biaswatch.shared.parsing import Unreadable, rating_in

ANSWERS = Path(__file__).parents[2] / "golden" / "smollm2" / "answers.jsonl"
DEVELOPED_ON, HELD_BACK = "s1", "s2"


def rating_of(answer: dict[str, Any]) -> float | None:
    try:
        return rating_in(answer["text"], cut_off=answer["finish"] == "length")
    except Unreadable:
        return None


def counts(prefix: str, *, with_disputed: bool) -> Counter[str]:
    """Count how the parser does on the answers that were read."""
    counted: Counter[str] = Counter()
    for answer in map(json.loads, ANSWERS.read_text().splitlines()):
        if not answer["id"].startswith(prefix) or "readers" not in answer:
            continue
        if answer["disputed"] and not with_disputed:
            continue
        stated, read = answer["readers"]["rating"], rating_of(answer)
        if stated is None:
            counted["none" if read is None else "invented"] += 1
        else:
            counted["unread" if read is None else "read" if read == stated else "wrong"] += 1
    return counted


@pytest.mark.parametrize(
    ("prefix", "with_disputed", "least_read", "most_wrong", "most_invented"),
    [(DEVELOPED_ON, True, 62 / 66, 0, 2), (HELD_BACK, True, 40 / 50, 0, 6)],
)
def test_ratings_are_read_as_often_as_published(
    prefix: str, with_disputed: bool, least_read: float, most_wrong: int, most_invented: int
) -> None:
    counted = counts(prefix, with_disputed=with_disputed)
    stated = counted["read"] + counted["unread"] + counted["wrong"]
    assert counted["read"] / stated >= least_read
    assert counted["wrong"] <= most_wrong
    assert counted["invented"] <= most_invented
