"""Quality with and without names: in each model, and over all of them."""

from biaswatch.render.assessments import anonymised_sentence
from biaswatch.shared.contracts import Assessment, Estimate, Quality
from biaswatch.shared.contracts.assessment import ErrorGap


def assessed(target: str, identified: float, anonymised: float, low: float) -> Assessment:
    gap = identified - anonymised
    errors = ErrorGap(
        identified=identified, anonymised=anonymised,
        gap=Estimate(value=gap, low=low, high=2 * gap - low),
    )  # fmt: skip
    quality = Quality(
        value=100 - 20 * identified, mean_absolute_error=identified, answers=9,
        against_anonymised=errors,
    )  # fmt: skip
    return Assessment.model_construct(**{**FIELDS, "target": target, "quality": quality})


FIELDS = {name: field.get_default() for name, field in Assessment.model_fields.items()}


def test_one_sentence_counts_the_models_that_are_better_without_names() -> None:
    rows = [assessed("a", 1.5, 1.0, 0.2), assessed("b", 0.5, 0.75, -0.5)]
    assert anonymised_sentence(rows) == (
        "Without names, 1 of 2 combinations of model and scaffold is nearer to the right answers"
        " (1 with an interval above 0). Over all combinations, the mean absolute error is 1 with"
        " names and 0.875 without."
    )
    assert anonymised_sentence(rows[:1]) == (
        "The mean absolute error is 1.5 with names and 1 without."
    )
    assert anonymised_sentence([]) is None
