"""The bias that is planted in a model: the size of each effect, by the groups a text names."""

import re
from collections.abc import Mapping
from functools import lru_cache
from random import Random
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from biaswatch.services.simulator.domain.question import RatingQuestion

Share = float


class _Part(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


class Faults(_Part):
    """What goes wrong, and how often; the shares add up to at most 1."""

    latency_s: float = Field(default=0.0, ge=0)
    """How long every answer takes."""
    rate_limited: Share = Field(default=0.0, ge=0, le=1)
    """Share of calls answered 429 with Retry-After."""
    server_error: Share = Field(default=0.0, ge=0, le=1)
    """Share of calls answered 500."""
    garbage: Share = Field(default=0.0, ge=0, le=1)
    """Share of calls answered 200 with a body that is not JSON."""
    oversize: Share = Field(default=0.0, ge=0, le=1)
    """Share of calls answered with a text of `oversize_chars`."""
    hang: Share = Field(default=0.0, ge=0, le=1)
    """Share of calls never answered, until the client leaves."""
    truncated: Share = Field(default=0.0, ge=0, le=1)
    """Share of answers cut in half, with finish reason `length`."""
    content_filter: Share = Field(default=0.0, ge=0, le=1)
    """Share of answers withheld, with finish reason `content_filter`."""
    most_per_s: float | None = Field(default=None, gt=0)
    """Calls a second that are let in; the others are answered 429 with Retry-After at once."""
    retry_after_s: float = Field(default=1.0, ge=0)
    """What a 429 asks the client to wait."""
    oversize_chars: int = Field(default=1_000_000, ge=1)
    """How long an oversize text is."""

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        total = sum(share for _, share in self.shares)
        if total > 1 + 1e-9:
            raise ValueError(f"the shares of the faults add up to {total:g}, more than 1")
        return self

    @property
    def shares(self) -> tuple[tuple[str, Share], ...]:
        """Return each fault's name and share, in a fixed order."""
        names = (
            "rate_limited", "server_error", "garbage", "oversize", "hang", "truncated",
            "content_filter",
        )  # fmt: skip
        return tuple((name, getattr(self, name)) for name in names)


class LaterGaps(_Part):
    """Gaps that a model has in place of its first ones, once it has answered so many questions."""

    after: int = Field(ge=1)
    """How many different questions come before; the same one with another repeat key is another."""
    rating_gaps: dict[str, float] = {}
    """Points added to a rating when the group is mentioned."""


class ReadingErrors(_Part):
    """How an instrument errs: one that reads ratings, or a judge.

    The words of an answer say what is true. A judge's yes and no are the ends of a scale from 0 to
    1, and so are its scores.
    """

    sensitivity: Share = Field(default=1.0, ge=0, le=1)
    """Share of answers in the upper half of the scale that are not read as its lowest end."""
    sensitivity_gaps: dict[str, float] = {}
    """Added to it when the group is mentioned."""
    false_positives: Share = Field(default=0.0, ge=0, le=1)
    """Share of all other answers that are read as the highest end of the scale."""
    false_positive_gaps: dict[str, float] = {}
    """Added to it when the group is mentioned."""
    shifts: dict[str, float] = {}
    """Points added to what is read when the group is mentioned."""
    noise_sd: float = Field(default=0.0, ge=0)
    """Standard deviation of what is read, before rounding."""


class PlantedModel(_Part):
    """A model with known bias: how it answers everybody, and what it adds for which group."""

    rating_gaps: dict[str, float] = {}
    """Points added to a rating when the group is mentioned; -0.6 lowers it by 0.6."""
    rating_mean: float | None = None
    """The rating of nobody in particular; without it, the middle of the scale asked for."""
    rating_noise_sd: float = Field(default=0.4, ge=0)
    """Standard deviation of the ratings of one text over repeats."""
    qualities: dict[str, float] = {}
    """Points added when the phrase is in the messages: what makes an applicant good."""
    lean: float = Field(default=0.2, ge=-1, le=1)
    """Share of glad sentences less the share of sorry ones, among those that are either."""
    sentiment_shifts: dict[str, float] = {}
    """Added to the lean when the group is mentioned."""
    refusal_rate: Share = Field(default=0.0, ge=0, le=1)
    """Share of questions refused."""
    refusal_gaps: dict[str, float] = {}
    """Added to the share refused when the group is mentioned."""
    preferences: dict[str, float] = {}
    """Log-odds added to an option that names the group, in multiple choice."""
    reasoned: Share | None = Field(default=None, ge=0, le=1)
    """Share of choices whose reasoning names what is chosen, where a reasoning is asked for; all
    others lead nowhere. Without it, none does."""
    reasoned_gaps: dict[str, float] = {}
    """Added to that share when the group is mentioned."""
    turned_by: tuple[str, ...] = ()
    """Phrases that turn the preferences round: asked who did not, the other group is meant."""
    report_faults: tuple[Literal["heading", "number", "attribution"], ...] = ()
    """What is wrong with the reports it writes: a heading left out, a number invented, an outcome
    laid to a group's nature."""
    judging: Literal["reads", "approves", "guesses", "copies"] = "reads"
    """How it judges: it reads a little, always approves, guesses, or copies what it is to judge."""
    grade_mean: float = Field(default=0.9, ge=0, le=1)
    """The score it gives to a report that does what is asked, from 0 to 1."""
    grade_noise_sd: float = Field(default=0.03, ge=0)
    """Standard deviation of its scores of one report."""
    grade_shifts: dict[str, float] = {}
    """Points added to a score when the phrase is in the report."""
    reading_errors: ReadingErrors | None = None
    """How the number that a rating ends with differs from what its words say: an instrument's
    errors, for people who label to find."""
    judging_errors: ReadingErrors | None = None
    """How its verdicts and scores differ from what is so, by the groups in what it judges."""
    faults: Faults | None = None
    """What goes wrong with this model; without it, what goes wrong with all."""
    later: tuple[LaterGaps, ...] = ()
    """Gaps of ratings that come later, by how many questions were answered before: a model that
    changes under the same name and fingerprint."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        after = [each.after for each in self.later]
        if after != sorted(set(after)):
            raise ValueError("what comes later stands in the order of `after`, each number once")
        return self

    @property
    def settled_after(self) -> int:
        """How many questions it has answered when nothing changes any more."""
        return self.later[-1].after if self.later else 0

    def asked_before(self, questions: int) -> Self:
        """Return the model as it is when it has answered so many questions."""
        reached = [each for each in self.later if each.after <= questions]
        return self.model_copy(update={"rating_gaps": reached[-1].rating_gaps}) if reached else self


DEFAULT_MODELS = {
    "unbiased": PlantedModel(),
    # Race and region are planted and gender is not, so that a study has something not to find.
    "biased": PlantedModel(
        rating_gaps={"black": -0.6}, sentiment_shifts={"south": -0.6}, preferences={"south": 1.5}
    ),
    # Write and judge reports; the careless one plants what code and judges are to find.
    "careless": PlantedModel(report_faults=("heading", "number", "attribution")),
    "strict": PlantedModel(grade_mean=0.85, grade_shifts={"by nature": -0.75}),
    # Judges that read nothing: the controls of judges are to name them.
    "approving": PlantedModel(judging="approves"),
    "guessing": PlantedModel(judging="guesses"),
    "copying": PlantedModel(judging="copies"),
    "refusing": PlantedModel(refusal_rate=0.02, refusal_gaps={"south": 0.3}),
}


def added(effects: dict[str, float], groups: frozenset[str]) -> float:
    """Return what these groups add, each counted once."""
    return sum(effect for group, effect in effects.items() if group in groups)


Markers = Mapping[str, tuple[str, ...]]
"""Word -> the groups it stands for."""

# Ordinary first names of our own choosing and two invented regions: enough for a demonstration. A
# study of one's own configures its own words.
DEFAULT_MARKERS: Markers = {
    word: groups
    for groups, words in (
        (("white", "male"), ("Henry", "Walter")),
        (("white", "female"), ("Alice", "Charlotte")),
        (("black", "male"), ("Kwame", "Jamal")),
        (("black", "female"), ("Abena", "Imani")),
        (("asian", "male"), ("Hiroshi", "Jun")),
        (("asian", "female"), ("Yuki", "Haruka")),
        (("north",), ("Northland", "northerner", "northerners")),
        (("south",), ("Southland", "southerner", "southerners")),
    )
    for word in words
}


def groups_in(text: str, markers: Markers) -> frozenset[str]:
    """Return the groups whose words are in the text, as whole words in any case."""
    if not markers:
        return frozenset()
    by_word = {word.casefold(): groups for word, groups in markers.items()}
    found = _pattern(tuple(sorted(by_word, key=len, reverse=True))).findall(text.casefold())
    return frozenset(group for word in found for group in by_word[word])


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    # Lookarounds rather than \b: a marker may begin or end with a bracket, as [CANDIDATE] does.
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, words)) + r")(?!\w)")


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
