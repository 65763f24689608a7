"""Planted judges are set aside, good ones are believed, corrected rates are covered."""

import pytest

from biaswatch.shared.requests.runs import CONTROLS_PER_KIND
from calibration.judges import rates
from calibration.judges.examinations import MIN_SHARE, bank_of, shares_as_planted
from calibration.judges.planted import BAD, GOOD


def test_planted_judges_are_set_aside_as_planted_and_good_ones_are_believed() -> None:
    assert (len(BAD), len(GOOD)) == (20, 5)
    assert all(share >= MIN_SHARE for share in shares_as_planted(3).values())


def test_a_bank_has_forty_texts_of_each_kind_and_direction_and_two_draws_share_few() -> None:
    first, second = bank_of(1), bank_of(2)
    plain = [control for control in first if control.examined == "plain"]
    for kind in {control.kind for control in plain}:
        for positive in (True, False):
            texts = {str(c.parts) for c in plain if (c.kind, c.positive) == (kind, positive)}
            assert len(texts) == CONTROLS_PER_KIND
    assert len({control.name for control in first}) == len(first)
    shared = {str(control.parts) for control in first} & {str(c.parts) for c in second}
    assert len(shared) < len(first) / 20


@pytest.mark.parametrize("templates", [0, rates.TEMPLATES])
def test_intervals_of_corrected_rates_cover_the_true_rate(templates: int) -> None:
    rows = [row for row in rates.coverages(150, 7) if row.templates == templates]
    assert min(row.covered for row in rows) >= 0.9
    assert sum(row.covered for row in rows) / len(rows) >= rates.MIN_COVERAGE
