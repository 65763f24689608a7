"""Bias planted in simulated models: effects by the groups named in a text."""

import re
from collections.abc import Mapping
from functools import lru_cache
from random import Random
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from biaswatch.services.simulator.domain.question import RatingQuestion

Share = float
ReportFault = Literal[
    "heading", "number", "slot", "claim", "undeclared", "cause", "caveat", "attribution"
]


class _Part(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


class Faults(_Part):
    """Rates of simulated faults, which add up to at most 1."""

    latency_s: float = Field(default=0.0, ge=0)
    """Latency of every answer."""
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
    """Rate limit in calls per second; further calls are answered 429 with Retry-After."""
    retry_after_s: float = Field(default=1.0, ge=0)
    """Value of Retry-After in a 429."""
    oversize_chars: int = Field(default=1_000_000, ge=1)
    """Length of an oversize text."""

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        total = sum(share for _, share in self.shares)
        if total > 1 + 1e-9:
            raise ValueError(f"the shares of the faults add up to {total:g}, more than 1")
        return self

    @property
    def shares(self) -> tuple[tuple[str, Share], ...]:
        """Name and share of each fault, in a fixed order."""
        names = (
            "rate_limited", "server_error", "garbage", "oversize", "hang", "truncated",
            "content_filter",
        )  # fmt: skip
        return tuple((name, getattr(self, name)) for name in names)


class LaterGaps(_Part):
    """Gaps that replace the initial ones after a number of answered questions."""

    after: int = Field(ge=1)
    """Number of distinct questions before; repeats with another key count as distinct."""
    rating_gaps: dict[str, float] = {}
    """Points added to a rating if the group is mentioned."""


class ConditionalGaps(_Part):
    """Gaps that begin at a turn of a conversation, or hold in a context."""

    from_turn: int = Field(default=1, ge=1)
    """The user message at which they begin, from 1."""
    phrase: str = ""
    """Text of the messages with which they hold, in any case of letters; empty: with all."""
    rating_gaps: dict[str, float] = {}
    """Points added to a rating if the group is mentioned, besides those without a condition."""


class ReadingErrors(_Part):
    """Errors of an instrument, which reads ratings or judges on a scale from 0 to 1."""

    sensitivity: Share = Field(default=1.0, ge=0, le=1)
    """Share of values in the upper half of the scale that are not read as its lowest end."""
    sensitivity_gaps: dict[str, float] = {}
    """Added to it if the group is mentioned."""
    false_positives: Share = Field(default=0.0, ge=0, le=1)
    """Share of other values that are read as the highest end of the scale."""
    false_positive_gaps: dict[str, float] = {}
    """Added to it if the group is mentioned."""
    shifts: dict[str, float] = {}
    """Points added to the reading if the group is mentioned."""
    noise_sd: float = Field(default=0.0, ge=0)
    """Standard deviation of the reading, before rounding."""


class PlantedModel(_Part):
    """A model with known bias: its base behaviour and its effects by group."""

    rating_gaps: dict[str, float] = {}
    """Points added to a rating if the group is mentioned; -0.6 lowers it by 0.6."""
    conditional_gaps: tuple[ConditionalGaps, ...] = ()
    """Gaps that begin at a turn or hold in a context."""
    rating_mean: float | None = None
    """The mean rating without effects; by default, the middle of the scale."""
    rating_noise_sd: float = Field(default=0.4, ge=0)
    """Standard deviation of the ratings of one text over repeats."""
    qualities: dict[str, float] = {}
    """Points added if the phrase is in the messages, such as a qualification."""
    lean: float = Field(default=0.2, ge=-1, le=1)
    """Share of positive minus share of negative sentences, among those that are not neutral."""
    sentiment_shifts: dict[str, float] = {}
    """Added to the lean if the group is mentioned."""
    refusal_rate: Share = Field(default=0.0, ge=0, le=1)
    """Share of questions refused."""
    refusal_gaps: dict[str, float] = {}
    """Added to the share refused if the group is mentioned."""
    preferences: dict[str, float] = {}
    """Log-odds added to an option that names the group, in choices and rankings."""
    first_place: float = 0.0
    """Log-odds added to the first option, whatever it is."""
    tool_rates: dict[str, Share] = {}
    """Share of the tasks with a call of a tool, by its name; by default 1 for lookups (names that
    begin with look, search, find, get or read) and 0.5 for others."""
    tool_gaps: dict[str, dict[str, float]] = {}
    """Added to that share, by the tool and the group that is mentioned."""
    reasoned: Share | None = Field(default=None, ge=0, le=1)
    """Share of choices whose reasoning, if requested, names the chosen option; None: none does."""
    reasoned_gaps: dict[str, float] = {}
    """Added to that share if the group is mentioned."""
    turned_by: tuple[str, ...] = ()
    """Phrases of negated questions, which reverse the preferences."""
    report_faults: tuple[ReportFault, ...] = ()
    """Faults of its reports: a missing heading, a typed number, a slot that does not exist, a wrong
    claim, an undeclared one, a cause, a missing caveat, an outcome attributed to a group's nature.
    """
    report_fault_share: Share = Field(default=1.0, ge=0, le=1)
    """Share of the attempts at a report with each of these faults."""
    judging: Literal["reads", "approves", "guesses", "copies"] = "reads"
    """Its method as a judge: compare words, always approve, guess, or copy the prompt."""
    grade_mean: float = Field(default=0.9, ge=0, le=1)
    """Its mean score of a report that meets the requirements, from 0 to 1."""
    grade_noise_sd: float = Field(default=0.03, ge=0)
    """Standard deviation of its scores of one report."""
    grade_shifts: dict[str, float] = {}
    """Points added to a score if the phrase is in the report."""
    reading_errors: ReadingErrors | None = None
    """Errors of the rating relative to the value in its text, which labelling can reveal."""
    judging_errors: ReadingErrors | None = None
    """Errors of its verdicts and scores, by the groups in the judged text."""
    faults: Faults | None = None
    """Faults of this model; by default, those of all models."""
    later: tuple[LaterGaps, ...] = ()
    """Later gaps, for a model that changes under the same name and fingerprint."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        after = [gaps.after for gaps in self.later]
        if after != sorted(set(after)):
            raise ValueError(
                "the entries of `later` must be in the order of `after`, without duplicates"
            )
        return self

    @property
    def settled_after(self) -> int:
        """Number of answered questions after which it no longer changes."""
        return self.later[-1].after if self.later else 0

    def after_questions(self, questions: int) -> Self:
        """Return the model after a number of answered questions."""
        reached = [gaps for gaps in self.later if gaps.after <= questions]
        return self.model_copy(update={"rating_gaps": reached[-1].rating_gaps}) if reached else self


DEFAULT_MODELS = {
    "unbiased": PlantedModel(),
    # Race and region are planted and gender is not, so that a study also has a null effect.
    "biased": PlantedModel(
        rating_gaps={"black": -0.6},
        sentiment_shifts={"south": -0.6},
        preferences={"south": 1.5},
        tool_gaps={"approve": {"black": -0.3}, "refund": {"black": -0.3}, "book": {"black": -0.3}},
    ),
    # Write and judge reports; the careless one plants faults for checks and judges.
    "careless": PlantedModel(report_faults=("heading", "number", "slot", "claim", "attribution")),
    "strict": PlantedModel(grade_mean=0.85, grade_shifts={"by nature": -0.75}),
    # Judges that ignore the prompt, for the controls of judges.
    "approving": PlantedModel(judging="approves"),
    "guessing": PlantedModel(judging="guesses"),
    "copying": PlantedModel(judging="copies"),
    "refusing": PlantedModel(refusal_rate=0.02, refusal_gaps={"south": 0.3}),
}


def added(effects: dict[str, float], groups: frozenset[str]) -> float:
    """Return the sum of the effects of these groups."""
    return sum(effect for group, effect in effects.items() if group in groups)


Markers = Mapping[str, tuple[str, ...]]
"""Groups by word."""

# First names and two invented regions for the demonstration; other studies configure their own.
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
    """Return the groups whose words are in the text, ignoring case."""
    if not markers:
        return frozenset()
    by_word = {word.casefold(): groups for word, groups in markers.items()}
    words = _pattern(tuple(sorted(by_word, key=len, reverse=True))).findall(text.casefold())
    return frozenset(group for word in words for group in by_word[word])


@lru_cache(maxsize=64)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    # Lookarounds instead of \b, as a marker may be in brackets, like [CANDIDATE].
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, words)) + r")(?!\w)")


TRUTH = "Whoever reads closely calls this a {value:g}."
_TRUTH_PATTERN = re.compile(re.escape(TRUTH).replace(r"\{value:g\}", r"(-?\d+(?:\.\d+)?)"))


def read_wrongly(
    truth: float,
    question: RatingQuestion,
    errors: ReadingErrors,
    groups: frozenset[str],
    rng: Random,
) -> float:
    """Return the reading of a true rating by an instrument with errors, on the scale.

    Values above the middle may be read as the lowest end of the scale, others as its highest. Then
    the shift of the group and noise are added.
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
    """Return the reading before rounding, on a scale with these ends."""
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
    """Return the true value in an answer with planted errors; None for other answers."""
    match = _TRUTH_PATTERN.search(text)
    return float(match[1]) if match else None
