"""The t test with several random factors, compared with statsmodels and Student's t."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from biaswatch.shared.stats.comparisons.cluster_variance import clustered
from biaswatch.shared.stats.comparisons.random_factors import (
    FactorGap,
    difference_of_factor_gaps,
    nested_p,
    random_factor_gap,
)

Design = tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]


def crossed(
    rng: np.random.Generator, names: int, texts: int, name_sd: float, text_sd: float
) -> Design:
    """Return ratings of every name with every text, without a gap."""
    name, text = np.tile(np.arange(2 * names), texts), np.repeat(np.arange(texts), 2 * names)
    of_a = name < names
    values = rng.normal(0, name_sd, 2 * names)[name] + rng.normal(0, 0.5, texts)[text]
    values += rng.normal(0, text_sd, texts)[text] * (of_a - 0.5) + rng.normal(0, 0.5, len(name))
    return values, of_a, {"name": name, "text": text}


def false_share(designs: list[Design]) -> float:
    results = [random_factor_gap(*design) for design in designs]
    return float(np.mean([result.p_value is None or result.p_value <= 0.05 for result in results]))


@pytest.mark.parametrize(
    ("names", "texts", "name_sd", "text_sd"), [(8, 30, 0.15, 0.4), (20, 36, 0.1, 0.3)]
)
def test_names_and_texts_at_work_keep_the_level(
    names: int, texts: int, name_sd: float, text_sd: float
) -> None:
    rng = np.random.default_rng(1)
    designs = [crossed(rng, names, texts, name_sd, text_sd) for _ in range(300)]
    assert false_share(designs) <= 0.05 + 3.5 * 0.0126


def test_two_factors_equal_the_two_way_variance_of_statsmodels() -> None:
    values, of_a, factors = crossed(np.random.default_rng(3), 6, 10, 0.5, 0.5)
    result = random_factor_gap(values, of_a, factors)
    dummies = (factors["text"][:, None] == np.arange(10)).astype(float)
    model = sm.OLS(values, np.column_stack([of_a, dummies]))
    name, text = factors["name"], factors["text"]
    variances = [
        model.fit(
            cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
        ).cov_params()[0, 0]
        for groups in (name, text, name * 10 + text)
    ]
    factors_of_k = np.array([6 / 5, 10 / 9, 60 / 59])
    by_name, by_text, by_both = variances * factors_of_k
    expected = np.sqrt(max(by_name + by_text - by_both, by_name, by_text))
    assert result.gap == pytest.approx(model.fit().params[0])
    assert result.error == pytest.approx(expected)
    assert result.dof == 5


def test_templates_above_sets_are_a_t_test_of_template_differences() -> None:
    rng = np.random.default_rng(5)
    sets, template = np.repeat(np.arange(60), 2), np.repeat(np.arange(6), 20)
    of_a = np.tile([True, False], 60)
    values = rng.normal(0, 0.3, 6)[template] * of_a + rng.normal(size=120)
    result = random_factor_gap(values, of_a, {"template": template, "set": sets})
    differences = (values[of_a] - values[~of_a]).reshape(6, 10).mean(axis=1)
    expected = stats.ttest_1samp(differences, 0)
    assert (result.gap, result.p_value) == pytest.approx((differences.mean(), expected.pvalue))
    interval = result.interval(0.05)
    assert (interval.low, interval.high) == pytest.approx(expected.confidence_interval(0.95))


def test_companies_of_unlike_size_count_alike() -> None:
    rng = np.random.default_rng(2)
    company = np.repeat(np.arange(12), [1, 2, 50, 3, 4, 9, 2, 2, 60, 3, 5, 1])
    of_a, values = company < 6, rng.normal(size=142) + rng.normal(0, 1, 12)[company]
    result = random_factor_gap(values, of_a, {"company": company})
    means = np.array([values[company == code].mean() for code in range(12)])
    expected = stats.ttest_ind(means[:6], means[6:])
    assert result.gap == pytest.approx(means[:6].mean() - means[6:].mean())
    assert result.error == pytest.approx(abs(result.gap / expected.statistic))
    assert result.dof == 5


def test_repeated_answers_count_once() -> None:
    values, of_a, factors = crossed(np.random.default_rng(4), 5, 8, 0.3, 0.3)
    once = random_factor_gap(values, of_a, factors)
    repeated = {factor: np.repeat(codes, 3) for factor, codes in factors.items()}
    thrice = random_factor_gap(np.repeat(values, 3), np.repeat(of_a, 3), repeated)
    assert (thrice.gap, thrice.p_value) == pytest.approx((once.gap, once.p_value))
    assert thrice.levels == once.levels


def test_the_order_of_answers_changes_nothing() -> None:
    rng = np.random.default_rng(6)
    values, of_a, factors = crossed(rng, 5, 8, 0.3, 0.3)
    order = rng.permutation(len(values))
    moved = {factor: codes[order] for factor, codes in factors.items()}
    first, second = (
        random_factor_gap(values, of_a, factors),
        random_factor_gap(values[order], of_a[order], moved),
    )
    assert (first.gap, first.p_value) == pytest.approx((second.gap, second.p_value))


def test_levels_tell_names_from_texts() -> None:
    result = random_factor_gap(*crossed(np.random.default_rng(1), 4, 30, 0.1, 0.1))
    name, text = result.levels
    assert (name.a, name.b, name.shared, name.crossed, name.clusters) == (4, 4, 0, False, 4)
    assert (text.a, text.b, text.shared, text.crossed, text.clusters) == (30, 30, 30, True, 30)
    assert result.few == ("name",)


def gap_of(values: list[float], groups: list[bool], names: list[int]) -> FactorGap:
    return random_factor_gap(np.array(values), np.array(groups), {"name": np.array(names)})


def test_what_cannot_be_tested_has_a_reason() -> None:
    one_name = gap_of([1.0, 2.0, 5.0], [True, True, False], [0, 1, 2])
    assert (one_name.gap, one_name.p_value) == (-3.5, None)
    assert one_name.reason == "a group has one value of name: a test needs two"
    assert gap_of([1.0], [True], [0]).reason == "a group has no answers"
    equal = gap_of([2.0] * 4, [True, True, False, False], [0, 1, 2, 3])
    assert (equal.gap, equal.p_value) == (0.0, None)
    assert equal.interval(0.05).low is None


def test_tails_agree_with_the_p_value_and_the_interval() -> None:
    result = random_factor_gap(*crossed(np.random.default_rng(8), 5, 10, 0.3, 0.3))
    assert 2 * min(result.tails(0.0)) == pytest.approx(result.p_value)
    low = result.interval(0.05).low
    assert low is not None
    assert result.tails(low)[0] == pytest.approx(0.025)


def test_questions_nest() -> None:
    assert nested_p(0.01, 0.03) == 0.03
    assert nested_p(0.2, 0.03) == 0.2
    assert nested_p(None, 0.03) is None


def test_unequal_clusters_have_the_variance_and_degrees_of_their_effects() -> None:
    """Against Bell and McCaffrey's matrices: a group's names with 12, 2, 2, 2 and 2 answers."""
    w = np.array([12, 2, 2, 2, 2]) / 20
    centred = np.eye(5) - w  # [name, effect]
    covariance = centred @ centred.T
    form = np.diag(w**2 / np.diag(covariance)) @ covariance
    effects = np.random.default_rng(7).normal(size=(20_000, 5))
    of_a, name = np.ones(5, dtype=np.bool_), np.arange(5)
    results = [clustered(w * (u - w @ u), w, of_a, name) for u in effects]
    assert results[0][1] == pytest.approx([np.trace(form) ** 2 / np.trace(form @ form)])
    assert np.mean([variance for variance, _ in results]) == pytest.approx(w @ w, rel=0.03)


def test_one_name_with_most_answers_makes_no_false_effects() -> None:
    """Before the correction, 0.18 of studies found one."""

    def drawn(seed: int) -> Design:
        rng = np.random.default_rng(seed)
        values, of_a, factors = crossed(rng, 8, 24, 0.35, 0.3)
        kept = (factors["name"] % 8 == 0) | (rng.random(len(values)) < 0.15)
        return values[kept], of_a[kept], {key: code[kept] for key, code in factors.items()}

    assert false_share([drawn(seed) for seed in range(300)]) <= 0.05


def test_changes_of_a_gap_between_fresh_names_and_texts_keep_the_level() -> None:
    rng = np.random.default_rng(4)
    changes = [
        difference_of_factor_gaps(
            *(random_factor_gap(*crossed(rng, 8, 12, 0.2, 0.3)) for _ in "ab")
        )
        for _ in range(300)
    ]
    share = float(np.mean([change.p_value is None or change.p_value <= 0.05 for change in changes]))
    assert share <= 0.05 + 3.5 * 0.0126


def test_a_change_of_a_gap_without_spread_has_no_test_and_a_reason() -> None:
    rng = np.random.default_rng(4)
    values, of_a, factors = crossed(rng, 8, 12, 0.2, 0.3)
    flat = random_factor_gap(of_a * 1.0, of_a, factors)
    change = difference_of_factor_gaps(random_factor_gap(values, of_a, factors), flat)
    assert change.gap is not None
    assert (change.p_value, change.reason) == (None, flat.reason)
    assert change.reason
