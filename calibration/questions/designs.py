"""Draws of twins, crossed names and texts, templates, companies and templates of BBQ."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Rng = np.random.Generator
RESIDUAL_SD = 0.5
TEXT_SD = 0.5


@dataclass(frozen=True)
class FactorAnswers:
    """Answers of two groups with the values of their random factors."""

    values: Floats
    of_a: NDArray[np.bool_]
    factors: dict[str, Codes]


Twins = Floats
"""[sets, groups, features]."""
Pair = tuple[Floats, Floats]
"""Independent units of two groups."""


def ternary(rng: Rng, sets: int, gap: float) -> Twins:
    """Return twins whose ratings differ by 1, 0 or -1."""
    up = np.clip(0.25 + gap / 2, 0.0, 1.0)
    down = np.clip(0.25 - gap / 2, 0.0, 1.0)
    differences = rng.choice([1.0, -1.0, 0.0], p=[up, down, 1 - up - down], size=sets)
    return _twins(differences)


def normal(rng: Rng, sets: int, gap: float) -> Twins:
    """Return twins with normal answers, SD of differences 1."""
    return _twins(rng.normal(gap, 1.0, sets))


def exponential(rng: Rng, sets: int, gap: float) -> Twins:
    """Return twins with exponential answers; the first group's are shifted."""
    return _twins(gap + rng.exponential(size=sets) - rng.exponential(size=sets))


def heavy(rng: Rng, sets: int, gap: float) -> Twins:
    """Return twins with answers of 2 degrees of freedom."""
    return _twins(gap + rng.standard_t(2, sets))


def rounded(rng: Rng, sets: int, gap: float) -> Twins:
    """Return twins with ratings from 1 to 5 around a level of each set."""
    level = rng.normal(3, 0.7, sets)
    a, b = level + gap + rng.normal(0, 0.7, sets), level + rng.normal(0, 0.7, sets)
    return _twins(np.clip(np.rint(a), 1, 5) - np.clip(np.rint(b), 1, 5))


def rare(rng: Rng, sets: int, gap: float) -> Twins:
    """Return twins that are alike but for 20 %, which differ by up to 4 in either direction."""
    far = rng.integers(1, 5, sets) * np.where(rng.random(sets) < 0.5 + gap / 2, 1.0, -1.0)
    return _twins(np.where(rng.random(sets) < 0.2, far, 0.0))


def _twins(differences: Floats) -> Twins:
    return np.stack([differences, np.zeros_like(differences)], axis=1)[:, :, None]


def family(
    rng: Rng, sets: int, groups: int, features: int, gap: float, correlation: float
) -> Twins:
    """Return twins of several groups and features; the first group differs on the first feature."""
    shared = rng.normal(size=(sets, groups, 1)) * np.sqrt(correlation)
    values = shared + rng.normal(size=(sets, groups, features)) * np.sqrt(1 - correlation)
    values += rng.normal(size=(sets, 1, features))
    values[:, 0, 0] += gap
    return np.asarray(values)


def crossed(
    rng: Rng, names: int, texts: int, name_sd: float, text_sd: float, gap: float
) -> FactorAnswers:
    """Return every name with every text."""
    name = np.tile(np.arange(2 * names), texts)
    text = np.repeat(np.arange(texts), 2 * names)
    return _stimuli(rng, name, name < names, text, name_sd, text_sd, gap)


def partly_crossed(
    rng: Rng, names: int, texts: int, name_sd: float, text_sd: float, gap: float
) -> FactorAnswers:
    """Return every text with one name of each group."""
    text = np.repeat(np.arange(texts), 2)
    of_a = np.tile([True, False], texts)
    drawn = [rng.permutation(np.arange(texts) % names) for _ in range(2)]
    name = np.where(of_a, drawn[0][text], names + drawn[1][text])
    return _stimuli(rng, name, of_a, text, name_sd, text_sd, gap)


def rare_effects(rng: Rng, names: int, texts: int) -> FactorAnswers:
    """Return every name with every text; nine texts in ten have 0.3, the others -2.7."""
    answers = crossed(rng, names, texts, 0.05, 0.0, 0.0)
    effects = np.where(rng.random(texts) < 0.1, -2.7, 0.3)[answers.factors["text"]]
    values = answers.values + effects * answers.of_a
    return FactorAnswers(values, answers.of_a, answers.factors)


def _stimuli(
    rng: Rng,
    name: Codes,
    of_a: NDArray[np.bool_],
    text: Codes,
    name_sd: float,
    text_sd: float,
    gap: float,
) -> FactorAnswers:
    texts = int(text.max()) + 1
    values = gap * of_a + rng.normal(0, name_sd, int(name.max()) + 1)[name]
    values += rng.normal(0, TEXT_SD, texts)[text]
    values += rng.normal(0, text_sd, texts)[text] * (of_a - 0.5)
    values += rng.normal(0, RESIDUAL_SD, len(name))
    return FactorAnswers(values, of_a, {"name": name, "text": text})


def templates(
    rng: Rng, count: int, fill_ins: int, template_sd: float, gap: float, *, rated: bool = False
) -> FactorAnswers:
    """Return templates with pairs of fill-ins; the gap varies over templates."""
    template = np.repeat(np.arange(count), 2 * fill_ins)
    of_a = np.tile([True, False], count * fill_ins)
    sets = np.repeat(np.arange(count * fill_ins), 2)
    values = 3 + rng.normal(0, 0.7, count)[template] + (of_a - 0.5) * gap
    values += rng.normal(0, template_sd, count)[template] * (of_a - 0.5)
    values += rng.normal(0, RESIDUAL_SD, len(template))
    if rated:
        values = np.clip(np.rint(values), 1, 5)
    return FactorAnswers(values, of_a, {"template": template, "set": sets})


def companies(
    rng: Rng, count: int, company_sd: float, gap: float, *, unequal: bool
) -> FactorAnswers:
    """Return users of companies, each company within one group."""
    sizes = rng.integers(3, 60, 2 * count) if unequal else np.full(2 * count, 20)
    company = np.repeat(np.arange(2 * count), sizes)
    of_a = company < count
    values = gap * of_a + rng.normal(0, company_sd, 2 * count)[company]
    return FactorAnswers(
        values + rng.normal(0, RESIDUAL_SD, len(company)), of_a, {"company": company}
    )


def two_samples(rng: Rng, sizes: tuple[int, int], sds: tuple[float, float], gap: float) -> Pair:
    """Return normal units of unlike size and spread."""
    return rng.normal(gap, sds[0], sizes[0]), rng.normal(0, sds[1], sizes[1])


def rated_samples(rng: Rng, sizes: tuple[int, int], top: int, gap: float) -> Pair:
    """Return ratings from 1 to `top` of two groups."""
    middle, sd = (1 + top) / 2, top / 5
    a, b = (
        np.clip(np.rint(rng.normal(middle + shift, sd, size)), 1, top)
        for size, shift in zip(sizes, (gap, 0.0), strict=True)
    )
    return a, b


def log_lengths(rng: Rng, sizes: tuple[int, int], gap: float) -> Pair:
    """Return logarithms of lengths of unlike skew."""
    return rng.normal(gap, 1.2, sizes[0]), rng.normal(0, 0.4, sizes[1])


def changes(rng: Rng, sets: int, repeats: int, change: float) -> Twins:
    """Return the change of each twin between two runs, means of repeated ratings of 1 to 5."""
    level = rng.normal(3, 0.7, sets)
    runs = []
    for shift in (0.0, change):
        sides = [
            np.clip(np.rint((level + move)[:, None] + rng.normal(0, 0.9, (sets, repeats))), 1, 5)
            for move in (shift, 0.0)
        ]
        runs.append(np.stack([side.mean(axis=1) for side in sides], axis=1))
    return np.asarray(runs[1] - runs[0])[:, :, None]


Design = Callable[[Rng], Twins | FactorAnswers | Pair]
