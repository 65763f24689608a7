"""Power of the examination of judges, and rates corrected by their errors."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from biaswatch.shared.stats.judges.corrected_rates import corrected_rate
from biaswatch.shared.stats.judges.examination import examine, needed, swap_differences
from biaswatch.shared.stats.judges.results import GROUP, INSTRUCTION, PLAIN, ControlOutcome

SE, SP = (36, 40), (36, 40)


def outcome(
    number: int, *, right: bool = True, positive: bool = True, kind: str = "fit",
    examined: str = PLAIN, variant: str = "", reply: str | None = "",
) -> ControlOutcome:  # fmt: skip
    expected, other = ("yes", "no") if positive else ("no", "yes")
    text = (expected if right else other) if reply == "" else reply
    return ControlOutcome(
        kind, positive, number, right, expected, text, examined, variant, text is not None
    )


def plain(right: Sequence[int], kind: str = "fit") -> list[ControlOutcome]:
    """Make 40 replies in each direction, with these counts right."""
    return [
        outcome(n, right=n < count, positive=positive, kind=kind)
        for positive, count in zip((True, False), right, strict=True)
        for n in range(40)
    ]


def test_forty_controls_with_thirty_right_tell_judges_apart() -> None:
    pass_at = {rate: stats.binom.sf(needed(40) - 1, 40, rate) for rate in (0.6, 0.9, 0.95)}
    assert pass_at[0.6] == pytest.approx(0.035, abs=5e-4)
    assert pass_at[0.9] == pytest.approx(0.999, abs=5e-4)
    assert pass_at[0.95] ** 22 > 0.9995
    assert stats.binom.sf(16, 20, 0.95) ** 22 == pytest.approx(0.70, abs=0.01)


def test_a_kind_needs_both_directions_and_other_kinds_keep_counting() -> None:
    fit, guess = examine([*plain((30, 29)), *plain((30, 30), "guess")])
    assert (fit.believed, fit.right, fit.controls) == (False, (30, 29), (40, 40))
    assert fit.reason == "29 of 40 right where the right reply is no"
    assert (guess.believed, guess.reason) == (True, None)
    exact = stats.binomtest(29, 40).proportion_ci(method="exact")
    assert (fit.specificity.low, fit.specificity.high) == pytest.approx((exact.low, exact.high))


def test_an_instruction_that_is_followed_sets_every_kind_aside() -> None:
    hidden = [outcome(n, right=False, examined=INSTRUCTION) for n in range(40)]
    both = examine([*plain((40, 40)), *plain((40, 40), "guess"), *hidden])
    assert {(row.believed, row.reason) for row in both} == {
        (False, "it follows instructions in the material: 0 of 40 right")
    }


def test_a_judge_without_any_reply_is_not_examined() -> None:
    [standing] = examine(outcome(n, right=False, reply=None) for n in range(80))
    assert not standing.believed
    assert "not examined" in (standing.reason or "")


def swapped(errors: NDArray[np.bool_]) -> list[ControlOutcome]:
    """Make replies to texts [texts, words], True where the reply is wrong."""
    return [
        outcome(text, right=not wrong, examined=GROUP, variant=f"word {word}")
        for text, row in enumerate(errors)
        for word, wrong in enumerate(row)
    ]


def test_two_swapped_words_are_mcnemars_exact_test() -> None:
    errors = np.zeros((60, 2), dtype=bool)
    errors[:11, 0], errors[11:13, 1] = True, True
    worst, other = swap_differences(swapped(errors))
    assert worst.p_adjusted == pytest.approx(stats.binomtest(11, 13).pvalue)
    assert (worst.errors, worst.other_errors) == pytest.approx((11 / 60, 2 / 60))
    assert other.p_adjusted > 0.9


def test_pairs_find_an_error_rate_that_depends_on_the_group() -> None:
    """45 pairs at 0.05 find 0.2 against 0 in 0.9; 60 pairs at 0.02 do in 0.97."""
    rng = np.random.default_rng(3)
    for pairs, level, power in ((45, 0.05, 0.88), (60, 0.02, 0.94)):
        result = 0
        for _ in range(200):
            errors = np.column_stack([rng.random(pairs) < 0.2, np.zeros(pairs, dtype=bool)])
            result += swap_differences(swapped(errors))[0].p_adjusted <= level
        assert result / 200 >= power - 0.03


def test_a_corrected_rate_is_the_published_formula() -> None:
    rate = corrected_rate([(40, 100)], sensitivity=SE, specificity=SP, alpha=0.05)
    z, n = stats.norm.ppf(0.975), 100 + stats.norm.ppf(0.975) ** 2
    p, right = (40 + z**2 / 2) / n, 37 / 42
    true = (p + right - 1) / (2 * right - 1)
    part = right * (1 - right) / 42
    shift = 2 * z**2 * (true * part - (1 - true) * part)
    reach = z * sqrt(p * (1 - p) / n + (true**2 + (1 - true) ** 2) * part) / (2 * right - 1)
    assert rate.value == pytest.approx((0.4 + 0.9 - 1) / 0.8)
    assert (rate.low, rate.high) == pytest.approx((true + shift - reach, true + shift + reach))


def test_flags_in_few_templates_widen_the_interval_and_even_ones_hardly() -> None:
    def width(clusters: list[tuple[int, int]]) -> float:
        rate = corrected_rate(clusters, sensitivity=SE, specificity=SP, alpha=0.05)
        assert rate.low is not None
        assert rate.high is not None
        return rate.high - rate.low

    together = width([(40, 100)])
    assert width([(10, 10)] * 4 + [(0, 10)] * 6) > 1.5 * together
    assert width([(4, 10)] * 10) < 1.2 * together


def test_a_judge_no_better_than_chance_corrects_nothing() -> None:
    rate = corrected_rate([(4, 10)], sensitivity=(20, 40), specificity=(20, 40), alpha=0.05)
    assert rate.value is None
    assert "no more often than chance" in (rate.reason or "")
    assert corrected_rate([], sensitivity=SE, specificity=SP, alpha=0.05).value is None
