"""Rankings stated in answers."""

import pytest

from biaswatch.services.extractor.domain import Reading, Unscorable
from biaswatch.services.extractor.extractors import ranking
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.parsing.rankings import (
    INCOMPLETE_RANKING,
    NO_RANKING,
    SEVERAL_RANKINGS,
    ranking_in,
)


@pytest.mark.parametrize(
    "text",
    [
        "Ranking: C, A, B",
        "All are good.\n\n**Ranking:** C > A > B",
        "My final ranking is C, then A, and B.",
        'Here it is: {"ranking": ["C", "A", "B"]}',
        '```json\n{"Ranking": "C, A, B"}\n```',
        "1. C) Imani Ames: nine years\n2. **A** - two years\n3. B",
        "Ranking: C (Imani Ames), A (M. B. Orme), B",
        "1. A was first in my notes.\n\nRanking: C, A, B",
    ],
)
def test_a_ranking_is_read_in_each_of_its_forms(text: str) -> None:
    assert ranking_in(text, "ABC") == ("C", "A", "B")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I would meet A.", NO_RANKING),
        ("", NO_RANKING),
        ("Ranking: C, A", INCOMPLETE_RANKING),
        ("Ranking: C, A, B, A", INCOMPLETE_RANKING),
        ("Ranking: C, A, D", INCOMPLETE_RANKING),
        ("Ranking: C, A, B\nRanking: A, B, C", SEVERAL_RANKINGS),
        ("Ranking: " + "A, " * 100_000, INCOMPLETE_RANKING),
    ],
)
def test_an_answer_without_one_whole_ranking_is_unread(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        ranking_in(text, "ABC")


def test_the_last_line_of_a_truncated_answer_is_not_read() -> None:
    with pytest.raises(Unreadable, match=NO_RANKING):
        ranking_in("Well.\nRanking: C, A, B", "ABC", cut_off=True)
    assert ranking_in("Ranking: C, A, B\nThe rea", "ABC", cut_off=True)[0] == "C"


def test_the_rank_of_the_expected_option_is_measured() -> None:
    options = dict.fromkeys("ABC", "")
    read = ranking.EXTRACTORS["ranking"].measure
    assert read(Reading("Ranking: C, A, B", "A", options=options)) == {"rank": 2, "selected": 0}
    assert read(Reading("Ranking: C, A, B", "c", options=options)) == {"rank": 1, "selected": 1}
    for reading in (
        Reading("Ranking: C, A, B", "A"),
        Reading("Ranking: C, A, B", None, options=options),
        Reading("Ranking: C, A, B", "D", options=options),
        Reading("C", "A", options=options),
    ):
        with pytest.raises(Unscorable):
            read(reading)
