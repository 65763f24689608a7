"""Every design of the table, as a null or with an effect of its own question."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples
from biaswatch.shared.stats.comparisons.joint_exchange import joint_exchange
from biaswatch.shared.stats.comparisons.random_factors import random_factor_gap
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.comparisons.studentised_exchange import studentised_exchange_p
from calibration.questions import comparators, designs
from calibration.questions.designs import Design, FactorAnswers, Pair, Rng, Twins

Test = Callable[[Any, Rng], float]
"""From a study to a p-value."""


@dataclass(frozen=True)
class Shape:
    """One simulated design, the product's test of its question, and the tests to compare with."""

    name: str
    question: str
    effect: bool
    """False for a null of the question."""
    draw: Design
    test: Test
    comparators: Mapping[str, Test]
    limit: str = ""
    """Why no test keeps the level, which is then measured without a bar."""


def flips(twins: Twins, _rng: Rng) -> float:
    """Return the product's p-value of one comparison of twins."""
    return sign_flip_p(twins[:, 0, 0] - twins[:, 1, 0]) or 1.0


def family(twins: Twins, rng: Rng) -> float:
    """Return the product's smallest adjusted p-value of a family of twins."""
    return float(joint_exchange(twins, rng=rng, exchanges=999).adjusted.min())


def beyond_stimuli(answers: FactorAnswers, _rng: Rng) -> float:
    """Return the product's p-value of an effect beyond the drawn stimuli."""
    result = random_factor_gap(answers.values, answers.of_a, answers.factors)
    return 1.0 if result.p_value is None else result.p_value


def unpaired(pair: Pair, rng: Rng) -> float:
    """Return the product's p-value of independent units."""
    return studentised_exchange_p(*pair, rng, 999) or 1.0


TWINS: Mapping[str, Test] = {
    "exact flips": comparators.exact_flips,
    "signed ranks": comparators.signed_ranks,
    "signs": comparators.signs,
}
DIFFERENCES: Mapping[str, tuple[Callable[[Rng, int, float], Twins], float]] = {
    "ratings one apart": (designs.ternary, 0.8),
    "normal": (designs.normal, 2.4),
    "exponential": (designs.exponential, 3.6),
    "heavy tails": (designs.heavy, 4.2),
    "ratings 1 to 5": (designs.rounded, 2.6),
    "few but far": (designs.rare, 4.0),
}
"""With the gap that about two thirds of studies find at one set, over the root of sets."""
SETS = (6, 7, 8, 12, 14, 15, 16, 20, 24, 25, 30, 60, 144)


def _twins() -> Iterator[Shape]:
    for (name, (draw, size)), sets, effect in product(DIFFERENCES.items(), SETS, (False, True)):
        gap = min(size / sets**0.5, 1.0 if draw is designs.rare else 9.0) if effect else 0.0
        if draw is designs.ternary:
            gap = min(gap * 2, 0.5) if effect else 0.0
        yield Shape(
            f"twins: {name}, {sets} sets" + (f", gap {gap:.2f}" if effect else ""),
            "same_treatment",
            effect,
            partial(_at, draw, sets, gap),
            flips,
            TWINS,
        )


def _at(draw: Callable[[Rng, int, float], Twins], sets: int, gap: float, rng: Rng) -> Twins:
    return draw(rng, sets, gap)


def _families() -> Iterator[Shape]:
    sizes = ((2, 1), (2, 2), (2, 4), (2, 7), (3, 1), (3, 3), (4, 1))
    for (groups, features), sets, correlation, effect in product(
        sizes, (6, 12, 36), (0.0, 0.8), (False, True)
    ):
        if features == 1 and correlation:
            continue
        gap = 6.5 / sets**0.5 if effect else 0.0
        tests: dict[str, Test] = {"Bonferroni of exact flips": comparators.bonferroni_flips}
        if groups > 2 and sets > 6:
            tests["Friedman"] = comparators.friedman
        yield Shape(
            f"family: {groups} groups, {features} features, {sets} sets, correlation {correlation}"
            + (f", gap {gap:.2f}" if effect else ""),
            "same_treatment",
            effect,
            partial(_family, sets, groups, features, gap, correlation),
            family,
            tests,
        )


def _family(
    sets: int, groups: int, features: int, gap: float, correlation: float, rng: Rng
) -> Twins:
    return designs.family(rng, sets, groups, features, gap, correlation)


STIMULI: Mapping[str, Test] = {"quasi-F": comparators.quasi_f, "two-way t": comparators.two_way_t}
SDS = ((0.0, 0.0), (0.1, 0.0), (0.35, 0.0), (0.0, 0.3), (0.1, 0.3), (0.35, 0.3))


def _stimuli() -> Iterator[Shape]:
    for names, (name_sd, text_sd), effect in product((2, 3, 4, 5, 8, 20), SDS, (False, True)):
        spread = (2 * name_sd**2 / names + text_sd**2 / 30 + 0.5 / (30 * names)) ** 0.5
        gap = 3.0 * spread if effect else 0.0
        yield _factors("crossed", STIMULI, designs.crossed, (names, 30, name_sd, text_sd), gap)
    for (names, texts, name_sd, text_sd), effect in product(
        ((8, 30, 0.15, 0.4), (20, 36, 0.1, 0.3)), (False, True)
    ):
        yield _factors(
            "crossed", STIMULI, designs.crossed, (names, texts, name_sd, text_sd), 0.3 * effect
        )
    tests = {"two-way t": comparators.two_way_t}
    for names, (name_sd, text_sd), effect in product((4, 6, 12, 18), SDS[1:], (False, True)):
        spread = (2 * name_sd**2 / names + text_sd**2 / 36 + 0.5 / 36) ** 0.5
        gap = 3.0 * spread if effect else 0.0
        yield _factors(
            "one name a text", tests, designs.partly_crossed, (names, 36, name_sd, text_sd), gap
        )


def _rare_effects() -> Iterator[Shape]:
    """Yield texts of which most samples have only the usual effect: no test of a mean can tell."""
    for names, texts in product((5, 8), (6, 8, 12, 30)):
        yield Shape(
            f"rare opposite effects: {names} names, {texts} texts",
            "group_effect",
            False,
            partial(_rare, names, texts),
            beyond_stimuli,
            STIMULI,
            limit="unseen texts",
        )


def _rare(names: int, texts: int, rng: Rng) -> FactorAnswers:
    return designs.rare_effects(rng, names, texts)


def _factors(
    name: str,
    tests: Mapping[str, Test],
    draw: Callable[..., FactorAnswers],
    sizes: tuple[int, int, float, float],
    gap: float,
) -> Shape:
    names, texts, name_sd, text_sd = sizes
    label = f"{name}: {names} names, {texts} texts, SDs {name_sd} and {text_sd}"
    return Shape(
        label + (f", gap {gap:.2f}" if gap else ""),
        "group_effect",
        gap > 0,
        lambda rng: draw(rng, *sizes, gap),
        beyond_stimuli,
        tests,
    )


def _clusters() -> Iterator[Shape]:
    tests: dict[str, Test] = {"t on template differences": comparators.cluster_differences_t}
    for (count, fill_ins), sd, rated, effect in product(
        ((5, 50), (10, 50), (15, 20), (25, 20), (30, 10), (50, 10)),
        (0.0, 0.3),
        (False, True),
        (False, True),
    ):
        gap = 3.2 * (sd**2 / count + 0.5 / (count * fill_ins)) ** 0.5 if effect else 0.0
        yield Shape(
            f"templates: {count} x {fill_ins}, SD {sd}, {'ratings' if rated else 'numbers'}"
            + (f", gap {gap:.2f}" if effect else ""),
            "group_effect",
            effect,
            partial(_templates, count, fill_ins, sd, gap, rated),
            beyond_stimuli,
            tests,
        )
    tests = {"Welch on company means": comparators.cluster_means_t}
    for count, sd, unequal, effect in product(
        (4, 6, 12, 20), (0.1, 0.4), (False, True), (False, True)
    ):
        gap = 3.0 * (2 * sd**2 / count + 0.5 / (15 * count)) ** 0.5 if effect else 0.0
        yield Shape(
            f"companies: {count} a group, SD {sd}, {'unequal' if unequal else 'equal'} sizes"
            + (f", gap {gap:.2f}" if effect else ""),
            "group_effect",
            effect,
            partial(_companies, count, sd, gap, unequal),
            beyond_stimuli,
            tests,
        )


def _templates(
    count: int, fill_ins: int, sd: float, gap: float, rated: bool, rng: Rng
) -> FactorAnswers:
    return designs.templates(rng, count, fill_ins, sd, gap, rated=rated)


def _companies(count: int, sd: float, gap: float, unequal: bool, rng: Rng) -> FactorAnswers:
    return designs.companies(rng, count, sd, gap, unequal=unequal)


def _samples() -> Iterator[Shape]:
    tests: dict[str, Test] = {"Welch": comparators.welch}
    for sizes, sds, effect in product(
        ((8, 8), (12, 12), (25, 200), (40, 40), (40, 400)), ((1.0, 1.0), (1.2, 0.4)), (False, True)
    ):
        gap = 2.6 * (sds[0] ** 2 / sizes[0] + sds[1] ** 2 / sizes[1]) ** 0.5 if effect else 0.0
        yield Shape(
            f"unpaired: {sizes[0]}/{sizes[1]}, SDs {sds[0]} and {sds[1]}"
            + (f", gap {gap:.2f}" if effect else ""),
            "group_effect",
            effect,
            partial(_two_samples, sizes, sds, gap),
            unpaired,
            tests,
        )
    for size, top, effect in product((8, 10, 12, 14, 15, 16), (5, 10), (False, True)):
        gap = 2.9 * (2 / size) ** 0.5 * top / 5 if effect else 0.0
        yield Shape(
            f"unpaired ratings 1 to {top}: {size}/{size}" + (f", gap {gap:.2f}" if effect else ""),
            "group_effect",
            effect,
            partial(_rated_samples, (size, size), top, gap),
            unpaired,
            tests,
        )
    for sizes, effect in product(((40, 40), (40, 400)), (False, True)):
        yield Shape(
            f"logs of lengths, unequal skew: {sizes[0]}/{sizes[1]}" + ", gap 0.6" * effect,
            "group_effect",
            effect,
            partial(_log_lengths, sizes, 0.6 * effect),
            unpaired,
            tests,
        )


def verdict_of_ratings(pair: Pair, _rng: Rng) -> float:
    """Return the product's p-value of a gap of ratings from 1 to 5."""
    samples = ComparedSamples(only_a=pair[0], only_b=pair[1], bounds=(1.0, 5.0))
    return compare_samples(samples, alpha=0.05, tolerance=0.0).p_disparity or 1.0


def _verdicts() -> Iterator[Shape]:
    """Yield both sides of 15 units, and rare ratings that few samples show."""
    tests: dict[str, Test] = {"Welch": comparators.welch}
    for size, effect in product((8, 10, 12, 14, 15, 16, 20), (False, True)):
        gap = 2.9 * (2 / size) ** 0.5 if effect else 0.0
        yield Shape(
            f"verdict, ratings 1 to 5: {size}/{size}" + (f", gap {gap:.2f}" if effect else ""),
            "verdict",
            effect,
            partial(_rated_samples, (size, size), 5, gap),
            verdict_of_ratings,
            tests,
        )
    for size in (6, 8, 10, 14, 20):
        yield Shape(
            f"verdict, rare ratings of 1: {size}/{size}",
            "verdict",
            False,
            partial(_rare_ratings, size),
            verdict_of_ratings,
            tests,
        )


def _rare_ratings(size: int, rng: Rng) -> Pair:
    """Return groups with a mean of 4.08; 12 % of the first rate 1."""
    a = rng.choice([1.0, 4.0, 5.0], size, p=[0.12, 0.44, 0.44])
    return a, rng.choice([3.0, 4.0, 5.0], size, p=[0.12, 0.68, 0.2])


def _two_samples(sizes: tuple[int, int], sds: tuple[float, float], gap: float, rng: Rng) -> Pair:
    return designs.two_samples(rng, sizes, sds, gap)


def _rated_samples(sizes: tuple[int, int], top: int, gap: float, rng: Rng) -> Pair:
    return designs.rated_samples(rng, sizes, top, gap)


def _log_lengths(sizes: tuple[int, int], gap: float, rng: Rng) -> Pair:
    return designs.log_lengths(rng, sizes, gap)


def _changes() -> Iterator[Shape]:
    for sets, repeats, effect in product((6, 12, 20, 30, 60), (1, 2, 5), (False, True)):
        change = min(1.5, 4.4 / (sets * repeats) ** 0.5) if effect else 0.0
        yield Shape(
            f"change of a gap: {sets} sets x {repeats}" + (f", {change:.2f}" if effect else ""),
            "same_treatment",
            effect,
            partial(_change, sets, repeats, change),
            flips,
            TWINS,
        )


def _change(sets: int, repeats: int, change: float, rng: Rng) -> Twins:
    return designs.changes(rng, sets, repeats, change)


SHAPES = (
    *_twins(),
    *_families(),
    *_stimuli(),
    *_rare_effects(),
    *_clusters(),
    *_samples(),
    *_verdicts(),
    *_changes(),
)
