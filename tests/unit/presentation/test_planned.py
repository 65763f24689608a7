"""The form for a run shows what each number of repeats finds, from an earlier run."""

from biaswatch.shared.contracts import Diagnosis, Estimate, Gap, GroupSummary, Verdict
from biaswatch.shared.presentation.feature_power import EarlierFindings
from biaswatch.shared.presentation.planned import UNKNOWN, PowerByRepeats
from tests.support.records import make_diagnosis


def earlier(answer_sd: float | None, *, repeats: int, tolerance: float) -> EarlierFindings:
    groups = tuple(
        GroupSummary(
            group=name,
            responses=20 * repeats,
            missing=0,
            units=20,
            mean=Estimate(value=3.0),
            answer_sd=answer_sd,
        )
        for name in ("x", "y")
    )
    gap = Gap(a="x", b="y", gap=Estimate(0.1, -0.5, 0.7), verdict=Verdict.INCONCLUSIVE)
    diagnosis: Diagnosis = make_diagnosis(
        groups=groups, gaps=(gap,), tolerance=tolerance, alpha=0.05, family=1
    )
    return EarlierFindings([diagnosis], repeats)


def power(of: EarlierFindings | None, repeats: int) -> PowerByRepeats:
    return PowerByRepeats(of, parts=1, answers=40, repeats=repeats)


def test_nothing_is_known_before_the_first_run() -> None:
    assert power(None, 3).sentences == [UNKNOWN]
    assert power(None, 3).table(str) is None


def test_repeats_help_as_far_as_answers_to_one_question_vary() -> None:
    steady = earlier(0.0, repeats=2, tolerance=0.0).powers(1, 50)[0]
    varied = earlier(1.3, repeats=2, tolerance=0.0).powers(1, 50)[0]
    asked_again = earlier(0.0, repeats=2, tolerance=0.0).powers(1, 2)[0]
    assert steady.typical.gap == asked_again.typical.gap
    assert varied.typical.gap < asked_again.typical.gap / 2


def test_after_one_repeat_bounds_are_shown() -> None:
    of = power(earlier(None, repeats=1, tolerance=0.0), 4)
    assert "upper bounds" in " ".join(of.sentences)
    [bounded] = earlier(None, repeats=1, tolerance=0.0).powers(1, 4)
    assert bounded.typical.least_gap * 2 == bounded.typical.gap


def test_the_fewest_repeats_that_can_rule_a_gap_out_are_named_and_linked() -> None:
    of = power(earlier(1.3, repeats=2, tolerance=0.3), 1)
    assert "20 repeats can rule out a gap beyond the tolerance." in of.sentences
    table = of.table(lambda count: f"?repeats={count}")
    assert table
    rows = {row[0].text: (row[0].href, row[-1].text) for row in table.rows}
    assert rows["1, chosen"] == (None, "no")
    assert rows["Choose 10"] == ("?repeats=10", "no")
    assert rows["Choose 20"] == ("?repeats=20", "yes")
    assert [row[1].text for row in table.rows][:2] == ["40", "120"]


def test_repeats_that_cannot_help_are_not_advised() -> None:
    of = power(earlier(0.0, repeats=2, tolerance=0.3), 1)
    assert "Not even 50 repeats can rule a gap out" in of.sentences[-1]
