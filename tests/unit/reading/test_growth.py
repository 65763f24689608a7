"""Whatever a model writes, reading it takes time that grows with its length and not its square."""

import random
import re

import pytest
from vaderSentiment import vaderSentiment

from biaswatch.services.extractor.extractors.vader import linear_analyzer
from tests.support.hostile_texts import grows_faster, hostile_texts, readers

SHORT, LONG = 1_000, 4_000
WORDS = (
    *("but", "BUT", "never", "so", "this", "without", "doubt", "despite", "least", "at", "very"),
    *("no", "or", "nor", "not", "good", "GREAT", "bad", "sorry", "kind", "of", "the", "shit"),
    *("bomb", "ass", "yeah", "right", "kiss", "death", "to", "die", "for", "hate", "love"),
    *("extremely", "isn't", "happy", ":)", "!", "?", ".", ",", "a", "I", "you"),
)


@pytest.mark.parametrize("name", readers())
def test_reading_four_times_as_much_takes_about_four_times_as_long(name: str) -> None:
    read = readers()[name]
    pairs = zip(hostile_texts(SHORT), hostile_texts(LONG), strict=True)
    slow = [long[:40] for short, long in pairs if grows_faster(read, short, long)]
    assert slow == []


def test_a_pattern_that_goes_back_over_a_run_is_noticed() -> None:
    line = re.compile(r"^[\s#>*_-]*rating", re.IGNORECASE | re.MULTILINE)
    pairs = zip(hostile_texts(SHORT), hostile_texts(LONG), strict=True)
    assert any(grows_faster(line.findall, short, long) for short, long in pairs)


def test_sentiment_in_linear_time_is_that_of_vader() -> None:
    draw = random.Random(1)
    reference = vaderSentiment.SentimentIntensityAnalyzer()
    analyzer = linear_analyzer(vaderSentiment)()
    for _ in range(2_000):
        text = " ".join(draw.choices(WORDS, k=draw.randrange(1, 25)))
        assert analyzer.polarity_scores(text) == reference.polarity_scores(text), text
