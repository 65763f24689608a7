"""Expected ratings, probabilities, entropy and preferences against numpy and scipy."""

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy

from biaswatch.services.extractor.domain import Reading, Unscorable
from biaswatch.services.extractor.handlers.loading import load
from biaswatch.services.extractor.handlers.measuring import readings_of
from biaswatch.shared.contracts import Suite, SuiteProbe
from biaswatch.shared.contracts.likelihood import FEATURES, PREFERENCES, RATINGS, ScoredOption
from tests.support.records import make_response

[EXTRACTOR] = load(["likelihood"]).values()
RNG = np.random.default_rng(1)


def option(name: str, *logprobs: float, neutral: tuple[float, ...] = ()) -> ScoredOption:
    return ScoredOption(name=name, logprobs=logprobs, neutral_logprobs=neutral)


def measured(*options: ScoredOption, expected: str | None = None) -> dict[str, float | None]:
    return dict(EXTRACTOR.measure(Reading("3", expected, scored=options)))


def test_a_scale_has_an_expected_rating_as_numpy_computes_it() -> None:
    own, free = np.log(RNG.dirichlet(np.ones(5))) - 1, np.log(RNG.dirichlet(np.ones(5)))
    rows = zip(own.tolist(), free.tolist(), strict=True)
    values = measured(
        *(option(str(n), value, neutral=(prior,)) for n, (value, prior) in enumerate(rows, 1)),
        expected="2",
    )
    shares, calibrated, ratings = softmax(own), softmax(own - free), np.arange(1, 6)
    assert values["expected_rating"] == pytest.approx(float(ratings @ shares))
    assert values["expected_rating_calibrated"] == pytest.approx(float(ratings @ calibrated))
    assert values["entropy"] == pytest.approx(float(entropy(shares)) / np.log(5))
    assert values["mass"] == pytest.approx(float(np.exp(own).sum()))
    assert values["p_chosen"] == pytest.approx(float(shares.max()))
    assert values["p_correct"] == pytest.approx(float(shares[1]))
    assert values["p_correct_calibrated"] == pytest.approx(float(calibrated[1]))
    assert values["p_first"] == pytest.approx(float(shares[0]))
    assert [values[name] for name in PREFERENCES] == [None, None, None]


def test_two_texts_have_a_preference_also_by_token_and_against_the_prior() -> None:
    values = measured(
        option("A", -1.0, -2.0, neutral=(-4.0, -1.0)), option("B", -5.0, neutral=(-3.0,))
    )
    assert values["preference"] == pytest.approx(2.0)
    assert values["preference_per_token"] == pytest.approx(3.5)
    assert values["preference_calibrated"] == pytest.approx(4.0)
    assert [values[name] for name in (*RATINGS, "p_correct")] == [None, None, None]


def test_what_is_undefined_is_null() -> None:
    values = measured(option("A", -1.0), option("B", -1.0), expected="C")
    assert [values[name] for name in ("p_correct", "preference_calibrated")] == [None, None]
    assert values["preference"] == 0
    assert values["entropy"] == pytest.approx(1.0)
    assert set(values) == set(FEATURES)


def test_extremes_stay_within_their_ranges() -> None:
    values = measured(option("1", 0.0), option("2", -5000.0))
    assert (values["expected_rating"], values["p_chosen"], values["entropy"]) == (1.0, 1.0, 0.0)
    sure = measured(*(option(str(n), -1e-9) for n in (1, 2, 3)))
    assert sure["mass"] == 1.0
    assert sure["entropy"] is not None
    assert sure["entropy"] <= 1.0


def test_a_written_answer_is_unscorable() -> None:
    [reading] = readings_of([make_response(text="3")], "likelihood")
    with pytest.raises(Unscorable, match="no answer was scored"):
        EXTRACTOR.measure(reading)
    scored = (option("1", -1.0), option("2", -2.0))
    [reading] = readings_of([make_response(text="1", scored=scored)], "likelihood")
    assert reading.scored == scored


def test_a_suite_knows_the_ranges_of_these_features() -> None:
    probe = SuiteProbe(key="p", prompt="Rate it.")
    ranges = {"rating": (1.0, 5.0)}
    suite = Suite(name="s", extractors=("likelihood",), ranges=ranges, probes=(probe,))
    assert suite.known_ranges["expected_rating"] == (1.0, 5.0)
    assert suite.known_ranges["p_chosen"] == (0.0, 1.0)
    assert "preference" not in suite.known_ranges
    other = suite.model_copy(update={"extractors": ("rating",)})
    assert other.known_ranges == ranges
