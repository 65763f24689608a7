"""Readings that differ from what is so: an instrument's errors, planted by group."""

import re
from random import Random

from biaswatch.services.simulator.domain.planted_bias import ReadingErrors, added
from biaswatch.services.simulator.domain.question import RatingQuestion

SAID = "Whoever reads closely calls this a {value:g}."
_SAID = re.compile(re.escape(SAID).replace(r"\{value:g\}", r"(-?\d+(?:\.\d+)?)"))


def read_wrongly(
    truth: float,
    question: RatingQuestion,
    errors: ReadingErrors,
    groups: frozenset[str],
    rng: Random,
) -> float:
    """Return what the instrument reads of an answer that is truly rated so; kept on the scale.

    Whatever lies above the middle of the scale is missed at times, and then read as its lowest end;
    the rest is at times read as its highest. Then come the group's shift and noise.
    """
    wrong = wrong_value(truth, (question.lowest, question.highest), errors, groups, rng)
    return float(round(wrong)) if question.whole else round(wrong, 1)


def wrong_value(
    truth: float,
    ends: tuple[float, float],
    errors: ReadingErrors,
    groups: frozenset[str],
    rng: Random,
) -> float:
    """Return what is read, before rounding, on a scale with these ends."""
    lowest, highest = ends
    high = truth > (lowest + highest) / 2
    sensitivity = errors.sensitivity + added(errors.sensitivity_gaps, groups)
    wrong = errors.false_positives + added(errors.false_positive_gaps, groups)
    drawn, noise = rng.random(), rng.gauss(0, 1) * errors.noise_sd
    reading = truth
    if high and drawn >= sensitivity:
        reading = lowest
    elif not high and drawn < wrong:
        reading = highest
    shifted = reading + added(errors.shifts, groups) + noise
    return min(max(shifted, lowest), highest)


def truth_in(text: str) -> float | None:
    """Return what a person reads in an answer with planted errors; None in any other."""
    found = _SAID.search(text)
    return float(found[1]) if found else None
