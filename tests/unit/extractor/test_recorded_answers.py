"""Every extractor without a model, on all recorded answers of SmolLM2 to our own suites."""

import json
from math import isfinite
from pathlib import Path

import pytest

from biaswatch.services.extractor.domain import Reading, measured_all
from biaswatch.services.extractor.handlers.loading import load
from biaswatch.services.extractor.settings import ExtractorSettings

ANSWERS = Path(__file__).parents[2] / "golden" / "smollm2"
NAMES = ExtractorSettings.model_fields["extractor_names"].default.split(",")
EXTRACTORS = load(NAMES, None)


def readings() -> list[Reading]:
    files = sorted(ANSWERS.glob("*.jsonl"))
    lines = [line for file in files for line in file.read_text().splitlines()]
    answers = map(json.loads, lines)
    return [Reading(a["text"], cut_off=a["finish"] == "length", scale=(1, 5)) for a in answers]


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_has_all_features_or_a_reason(name: str) -> None:
    extractor = EXTRACTORS[name]
    for values, reason in measured_all(extractor, readings()):
        assert set(values) == (set() if reason else set(extractor.features))
        assert all(value is None or isfinite(value) for value in values.values())
        assert reason is None or not reason.startswith("the extractor")
