"""A classifier's formulas, over labels a function makes up."""

import pytest

from biaswatch.services.extractor.domain import Reading, Unscorable
from biaswatch.services.extractor.extractors.classifiers import ClassifierExtractor, score_of

TONE = ClassifierExtractor(
    name="tone",
    model="made-up",
    formulas={"warm": score_of("WARM")},
    classify=lambda texts: [{"warm": len(text) / 10} for text in texts],
)


def test_one_text_is_measured_as_in_a_batch_and_what_has_no_number_is_raised() -> None:
    readings = [Reading("abc"), Reading("abcde")]
    assert [TONE.measure(reading) for reading in readings] == TONE.measure_all(readings)
    assert TONE.measure(readings[0]) == {"warm": 0.3}
    with pytest.raises(Unscorable, match="empty text"):
        TONE.measure(Reading("  "))
