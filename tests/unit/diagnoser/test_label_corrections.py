"""What labels make of findings: which labels count, what is said where they are too few."""

from dataclasses import replace

import pytest

from biaswatch.shared.contracts import CorrectedGroup, Estimate, Verdict
from biaswatch.shared.presentation.corrections import width_sentences
from biaswatch.shared.stats.labels.sampling import widest_share
from tests.support.labelled_studies import rates, ratings, simulate

STUDY = replace(rates({"a": 0.2, "b": 0.5}, {"a": 0.05, "b": 0.15}), answers=400)


def number(estimate: Estimate, which: str = "value") -> float:
    value = getattr(estimate, which)
    assert isinstance(value, float)
    return value


def test_a_finding_has_the_readings_the_correction_and_the_instruments_error() -> None:
    result = simulate(STUDY, 150, seed=1)
    a, b = result.groups
    assert (a.group, a.answers, a.labelled, a.drawn) == ("a", 400, 150, 150)
    assert a.corrected.value == pytest.approx(0.2, abs=0.08)
    assert b.corrected.value == pytest.approx(0.5, abs=0.1)
    assert a.tuning is not None
    assert 0 < a.tuning <= 1
    assert a.sensitivity is not None
    assert a.sensitivity.value == pytest.approx(0.8, abs=0.25)
    assert b.specificity is not None
    assert b.specificity.value == pytest.approx(0.85, abs=0.15)
    [gap] = result.gaps
    assert (gap.a, gap.b, gap.verdict) == ("a", "b", Verdict.DISPARITY)
    assert gap.corrected.value == pytest.approx(-0.3, abs=0.15)
    assert gap.reading.value != gap.corrected.value
    assert gap.ratio is not None
    assert gap.ratio.value == pytest.approx(number(a.corrected) / number(b.corrected))
    assert number(gap.ratio, "low") < 0.4 < number(gap.ratio, "high") < 1
    assert gap.reading_ratio == pytest.approx(number(a.reading) / number(b.reading))
    assert result.labels == 300
    assert result.people == 1
    assert result.agreement.reason == "nothing was scored twice"


def test_few_labels_are_said_and_nothing_is_concluded() -> None:
    result = simulate(STUDY, 10, seed=1)
    [gap] = result.gaps
    assert gap.verdict is Verdict.INCONCLUSIVE
    assert gap.corrected.value is None
    assert gap.reason == "a correction needs 20 labels of each group: a has 10, b has 10"
    assert gap.reading.value is not None
    assert result.groups[0].corrected.value is None


def test_people_who_differ_have_an_agreement_and_their_mean_counts() -> None:
    result = simulate(replace(STUDY, people=2, person_error=0.2), 100, seed=3)
    assert result.people == 2
    assert result.labels == 400
    assert result.groups[0].labelled == 100
    assert result.agreement.value is not None
    assert 0.3 < result.agreement.value < 0.95
    assert result.agreement.low is not None
    assert result.doubtful_people == 0


def test_somebody_who_answers_at_random_is_counted_as_doubtful() -> None:
    result = simulate(replace(STUDY, people=2, person_error=1.0), 100, seed=5)
    assert result.doubtful_people == 2


def test_the_tolerance_of_the_run_holds_for_corrected_gaps() -> None:
    result = simulate(replace(STUDY, answers=1000), 300, seed=2, tolerance=0.5)
    assert result.gaps[0].verdict is Verdict.NO_DISPARITY


def test_no_interval_of_a_gap_leaves_what_a_gap_on_the_scale_can_be() -> None:
    result = simulate(replace(STUDY, answers=3000), 20, seed=4)
    [gap] = result.gaps
    assert gap.corrected.low is not None
    assert gap.corrected.high is not None
    assert -1 <= gap.corrected.low < gap.corrected.high <= 1


def test_ratings_have_a_ratio_of_what_is_selected_where_the_suite_says_from_when() -> None:
    study = replace(ratings(0.0, 0.4), answers=600)
    assert simulate(study, 100, seed=1).gaps[0].ratio is None
    [gap] = simulate(study, 200, seed=1, selected_at_least={"x": 4}).gaps
    assert gap.ratio is not None
    # Nothing differs; the instrument rates b lower.
    assert number(gap.ratio, "low") < 1 < number(gap.ratio, "high")
    assert gap.reading_ratio is not None
    assert gap.reading_ratio > 1.2


def test_a_wide_interval_of_few_prompts_says_what_would_be_needed() -> None:
    group = {"answers": 120, "labelled": 20, "drawn": 20, "units": 24, "widest_share": 0.7}
    estimate = Estimate(value=0.2, low=0.0, high=0.9)
    wide = CorrectedGroup(
        group="a", reading=estimate, corrected=estimate, bias=estimate, absolute_error=estimate,
        **group,
    )  # fmt: skip
    [text] = width_sentences([wide], 0.05)
    assert "because it has 24 prompts with 5 answers each and 20 labels" in text
    assert "About 179 prompts, labelled in the same share, would bring it within a tenth" in text
    assert widest_share(179 * 5, 179, round(179 * 5 / 6), 0.05) == pytest.approx(0.1, abs=0.002)
    known = wide.model_copy(update={"widest_share": 0.05})
    assert list(width_sentences([known], 0.05)) == []


def test_labels_that_agree_with_the_readings_show_how_many_prompts_there_are() -> None:
    study = replace(rates({"a": 0.0, "b": 0.0}, {"a": 0.0, "b": 0.0}), answers=60)
    result = simulate(study, 30, seed=1)
    assert [group.units for group in result.groups] == [60, 60]
    assert result.groups[0].widest_share == pytest.approx(widest_share(60, 60, 30, 0.05))
    spread = simulate(STUDY, 150, seed=1)
    assert spread.groups[1].widest_share is None  # labels differ from what was read
