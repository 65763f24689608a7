"""Corrected findings beside the readings, in Python, JSON and a table."""

from typing import Any

from rich.console import Console

from biaswatch.api.platforms import FinishedRun
from biaswatch.local.runs import RunResults
from biaswatch.render.labels import print_corrections
from biaswatch.shared.contracts import Correction, Estimate
from biaswatch.shared.presentation.correction_rows import correction_rows
from biaswatch.shared.presentation.corrections import corrections_table
from tests.support.records import make_correction, make_diagnosis, make_progress


def corrected(**fields: Any) -> Correction:
    correction = make_correction()
    ratio = Estimate(value=1.5, low=1.1, high=2.0)
    [gap] = correction.gaps
    gap = gap.model_copy(update={"ratio": ratio, "reading_ratio": 1.8})
    return correction.model_copy(update={"gaps": (gap,), **fields})


def finished(*corrections: Correction) -> FinishedRun:
    results = RunResults(make_progress(), [make_diagnosis()], corrections=corrections)
    return FinishedRun(results, [])


def test_a_runs_gaps_in_python_have_what_labels_make_of_them() -> None:
    [gap] = finished(corrected()).gaps().to_dict("records")
    assert (gap["corrected"], gap["corrected_low"], gap["corrected_high"]) == (0.2, 0.1, 0.3)
    assert gap["corrected_verdict"] == "inconclusive"
    [row] = finished(corrected()).corrections().to_dict("records")
    assert (row["ratio"], row["ratio_ci_low"], row["ratio_by_readings"]) == (1.5, 1.1, 1.8)


def test_without_labels_they_are_empty_and_sentences_say_by_whose_reading() -> None:
    correction = finished()
    [gap] = correction.gaps().to_dict("records")
    assert gap["corrected"] is None
    assert len(correction.corrections()) == 0
    # An extractor that has the name of its only number is not named twice.
    assert all("by the reading of" in s or ", words:" in s for s in correction.sentences)


def test_sentences_in_python_say_what_labels_correct_and_the_ratio() -> None:
    text = "\n".join(finished(corrected()).sentences)
    assert "as labels correct it" in text
    assert "The rate of France is 1.5 [1.1, 2] times that of Peru (by the readings 1.8)." in text


def test_rows_have_what_a_reader_needs_to_judge_them() -> None:
    [row] = correction_rows([corrected()])
    assert row["ci"] == [0.1, 0.3]
    assert row["by_readings_ci"] == [0.1, 0.3]
    assert (row["labels"], row["people"]) == (200, 2)


def test_the_table_names_the_number_and_both_groups() -> None:
    [row] = corrections_table([corrected()]).texts
    assert row[:2] == ["words.words", "France - Peru"]


def test_a_run_without_labels_names_its_extractors() -> None:
    console = Console(width=120, record=True)
    print_corrections(console, [], ["vader", "words"])
    assert "by the reading of vader and words" in " ".join(console.export_text().split())
