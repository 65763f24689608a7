"""Intervals of BBQ scores cover the truth over templates, and tests tell two models apart."""

from random import Random

import numpy as np
import pytest

from biaswatch.shared.stats.studies.answer_pairs import pair_differences, shares_of
from biaswatch.shared.stats.studies.bbq import BbqAnswer, score
from biaswatch.shared.stats.studies.bbq_intervals import swap_p_values, with_intervals


def answers(
    contexts: int, stereotype: float, luck: Random, honest: float = 0.5
) -> dict[str, list[BbqAnswer]]:
    """Answer two questions a context: unknown, or with and against the stereotype."""

    def one() -> BbqAnswer:
        if luck.random() < honest:
            return BbqAnswer("ambig", 2, 2, 0, 2)
        return BbqAnswer("ambig", 2, 2, 0, 0 if luck.random() < stereotype else 1)

    return {f"c{n}": [one(), one()] for n in range(contexts)}


def flat(given: dict[str, list[BbqAnswer]]) -> list[BbqAnswer]:
    return [item for some in given.values() for item in some]


def test_the_value_is_the_score_and_lies_in_its_interval() -> None:
    arguments = answers(200, 0.8, Random(1))
    scores = with_intervals(arguments, "ambig", alpha=0.05)
    assert scores.bias.value == score(flat(arguments), "ambig").bias
    assert scores.bias.low is not None
    assert scores.bias.high is not None
    assert scores.bias.value is not None
    assert scores.bias.low < scores.bias.value < scores.bias.high
    assert scores.bias.low < 30 < scores.bias.high  # (1 - .5)(2 * .8 - 1)
    assert (scores.clusters, scores.counts.rows) == (200, 400)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    jitter = Random(2)
    covered = 0
    for _ in range(200):
        scores = with_intervals(answers(60, 0.5, jitter), "ambig", alpha=0.1).bias
        assert scores.low is not None
        assert scores.high is not None
        covered += scores.low <= 0 <= scores.high
    assert 168 <= covered <= 193  # 90 % of 200, four standard errors below


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "no rows"),
        (answers(4, 0.5, Random(4)), "fewer than 5 templates"),
        ({f"c{n}": [BbqAnswer("ambig", 2, 2, 0, 2)] for n in range(20)}, "do not differ"),
    ],
)
def test_what_has_no_interval_says_why(given: dict[str, list[BbqAnswer]], reason: str) -> None:
    scores = with_intervals(given, "ambig", alpha=0.05)
    assert scores.accuracy.low is None
    assert reason in (scores.accuracy.reason or "")


def test_exchanging_contexts_tells_two_models_apart_and_leaves_two_alike_alone() -> None:
    rng = np.random.default_rng(6)
    jitter = Random(6)
    fair, biased = answers(150, 0.5, jitter), answers(150, 0.95, jitter)
    _, bias = swap_p_values(fair, biased, "ambig", rng=rng)
    assert bias is not None
    assert bias < 0.01
    small = 0
    for _ in range(100):
        one, other = (answers(40, 0.5, jitter) for _ in range(2))
        _, p = swap_p_values(one, other, "ambig", rng=rng, swaps=199)
        assert p is not None
        small += p <= 0.1
    assert small <= 22  # 10 % of 100, four standard errors above
    assert swap_p_values({}, {}, "ambig", rng=rng) == (None, None)


def test_what_is_not_known_is_in_no_share_and_is_counted() -> None:
    pairs: list[dict[str, bool | None]] = [
        {"flag": True},
        {"flag": False},
        {"flag": None},
        {"flag": True},
    ]
    scores = shares_of(pairs, ["flag", "other"], 0.05)
    assert (scores["flag"].count, scores["flag"].of, scores["flag"].without) == (2, 3, 1)
    assert scores["flag"].share.value == pytest.approx(2 / 3)
    assert scores["flag"].share.low == pytest.approx(0.2077, abs=1e-4)
    assert scores["flag"].share.high == pytest.approx(0.9385, abs=1e-4)
    assert scores["other"].share.reason == "no pair has a verdict"


def test_two_models_are_compared_on_the_pairs_both_have() -> None:
    a = {f"p{n}": {"x": True, "y": n % 2 == 0} for n in range(20)}
    b = {f"p{n}": {"x": n >= 10, "y": n % 2 == 0} for n in range(15)} | {"p19": {"x": None}}
    x, y = pair_differences(a, b, ["x", "y"])
    assert (x.pairs, y.pairs) == (15, 15)
    assert x.difference == pytest.approx(10 / 15)
    assert x.p_value == pytest.approx(2 * 0.5**10)
    assert (y.difference, y.p_value, y.reason) == (0, None, "no pair differs in the outcome")


def drawn_templates(
    rng: np.random.Generator, templates: int, accuracy_logit: float, spread: float
) -> dict[str, list[BbqAnswer]]:
    """Return 40 answers a template; templates differ in accuracy and bias, in logits."""
    answers_of: dict[str, list[BbqAnswer]] = {}
    for template in range(templates):
        honest, stereotype = (
            1 / (1 + np.exp(-(centre + spread * rng.normal()))) for centre in (accuracy_logit, 0.5)
        )
        unknown, biased = rng.binomial(40, honest), 0
        biased = rng.binomial(40 - unknown, stereotype)
        predictions = [2] * unknown + [0] * biased + [1] * (40 - unknown - biased)
        answers_of[f"t{template}"] = [BbqAnswer("ambig", 2, 2, 0, p) for p in predictions]
    return answers_of


@pytest.mark.parametrize("spread", [0.0, 1.0])
@pytest.mark.parametrize("error_rate", [0.07, 0.5])
def test_intervals_cover_the_scores_of_all_templates(spread: float, error_rate: float) -> None:
    rng = np.random.default_rng(1)
    centre = np.log(1 / error_rate - 1)
    accuracy = 1 / (1 + np.exp(-(centre + spread * rng.normal(size=200_000))))
    stereotype = 1 / (1 + np.exp(-(0.5 + spread * rng.normal(size=200_000))))
    truth = {
        "accuracy": 100 * accuracy.mean(),
        "bias": 100 * ((1 - accuracy) * (2 * stereotype - 1)).mean(),
    }
    covered = dict.fromkeys(truth, 0)
    for _ in range(200):
        scores = with_intervals(drawn_templates(rng, 25, centre, spread), "ambig", alpha=0.05)
        for name, value in truth.items():
            interval = getattr(scores, name)
            covered[name] += interval.low <= value <= interval.high
    assert all(share >= (0.93 - 3.5 * 0.018) * 200 for share in covered.values()), covered


def test_few_templates_are_named_in_the_method() -> None:
    method = with_intervals(answers(12, 0.5, Random(1)), "ambig", alpha=0.05).bias.method
    assert method == "jackknife t over 12 templates, about these templates"
    assert (
        "about" not in with_intervals(answers(20, 0.5, Random(1)), "ambig", alpha=0.05).bias.method
    )


def test_shares_of_flags_are_as_wide_as_their_templates_are_unlike() -> None:
    flags = [dict[str, bool | None](flag=template < 10) for template in range(20)]
    pairs = flags * 30
    templates = [f"t{template}" for template in range(20)] * 30
    alone, clustered = (shares_of(pairs, ["flag"], 0.05, of)["flag"] for of in ((), templates))
    assert (alone.count, clustered.count) == (300, 300)
    assert (clustered.share.low, clustered.share.high) == pytest.approx((0.28, 0.72), abs=0.03)
    assert alone.share.low == pytest.approx(0.46, abs=0.01)
    never = shares_of([{"flag": False}] * 600, ["flag"], 0.05, templates)["flag"].share
    assert never.value == 0.0
    assert never.high == pytest.approx(0.161, abs=1e-3)


def test_models_that_differ_in_two_templates_alone_are_not_told_apart() -> None:
    a: dict[str, dict[str, bool | None]] = {
        f"{template}/{n}": {"x": template < 2} for template in range(8) for n in range(40)
    }
    b: dict[str, dict[str, bool | None]] = {key: {"x": False} for key in a}
    templates = {key: key.split("/")[0] for key in a}
    [alone], [clustered] = (
        pair_differences(a, b, ["x"], clusters) for clusters in (None, templates)
    )
    assert (alone.p_value or 1) < 1e-9
    assert clustered.p_value == 0.5
