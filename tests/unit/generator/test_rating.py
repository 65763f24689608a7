"""A rating is read wherever it stands; where there is none, there is a reason and no number."""

import pytest

from biaswatch.services.generator.domain.questions import RatingScale, rating_on
from biaswatch.shared.parsing import Unreadable

WHOLE = RatingScale(1, 4, whole=True)


@pytest.mark.parametrize(
    "text",
    [
        '{"reasoning": "fits {well}", "rating": 3}',
        '```json\n{"rating": 3, "reasoning": "in years 1 to 4"}\n```',
        'Here it is: {"reasoning": "a", "rating": "3"} I hope it helps.',
        'Not this {one}, but {"Rating": 3.0}.',
        "I weighed it.\n\n**Rating: 3**",
        "Final rating: 3",
        " 3. ",
        '{"why": "tidy\nand quick", "rating": 3}',
        '{"reasoning": "x", "rating": 3',
    ],
)
def test_a_stated_rating_is_read(text: str) -> None:
    assert rating_on(WHOLE, text) == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_rating"),
        ("I would say this is good.", "no_rating"),
        ('{"reasoning": "x", "rating": null}', "no_rating"),
        ('{"reasoning": "x", "rating": true}', "no_rating"),
        ('{"reasoning": "x", "rating": "3 or 4"}', "several_ratings"),
        ('{"rating": 2} or rather {"rating": 3}', "several_ratings"),
        ("Rating: 2\nRating: 3", "several_ratings"),
        ('{"rating": 5}', "outside_scale"),
        ('{"rating": 0}', "outside_scale"),
        ('{"rating": 2.5}', "outside_scale"),
        ("{" * 5000, "no_rating"),
    ],
)
def test_what_states_none_has_a_reason(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=f"^{reason}$"):
        rating_on(WHOLE, text)
