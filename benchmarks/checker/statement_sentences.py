"""Sentences that say something of the statistics in words, each with whether it is true."""

from collections.abc import Iterator

from benchmarks.checker.tables import Told
from biaswatch.services.evaluator.domain.subjects import measure_of

DIRECTIONS = (
    "{X} were more likely than {y} {to_have}.",
    "{Y} were less likely {to_have} than {x}.",
    "Compared with {y}, {x} had higher odds.",
    "The rate is higher among {x} than among {y}.",
    "The outcome is more common for {x} than for {y}.",
    "{Y} had a lower rate than {x}.",
    "{X} fared with a larger share of the outcome than {y} did.",
    "In the data, {x} exceed {y} in how often they {had}.",
    "It is {x} who are more likely {to_have}.",
    "The odds are lower for {y} than for {x}.",
    "Relative to {y}, the {x} show an elevated rate.",
    "A greater proportion of {x} than of {y} {had}.",
    "{Y} trail {x} in the share that {had}.",
    "The probability for {y} is smaller than that for {x}.",
    "{X} {had} more often than {y}.",
    "Set against {x}, {y} were less frequently among those who {had}.",
    "The share of {x} who {had} is above that of {y}.",
    "{Y} {had} less often.",
)
"""True where x has more of the outcome."""
SIGNIFICANT = (
    "The association is statistically significant.",
    "The chi-square test shows a significant difference between {x} and {y}.",
    "There is evidence of an association.",
    "The difference is unlikely to be due to chance.",
    "The test rejects the hypothesis of no association.",
    "The p-value lies below the significance level.",
    "The result reaches statistical significance.",
    "{X} and {y} differ significantly.",
    "Chance alone would rarely produce such a difference.",
    "The data provide evidence for a difference between the groups.",
    "The p-value is below 0.05.",
    "The chi-square test finds an association beyond what chance would give.",
)
NOT_SIGNIFICANT = (
    "The association is not statistically significant.",
    "The chi-square test finds no significant difference.",
    "There is no evidence of an association.",
    "The difference could well be due to chance.",
    "The test does not reject the hypothesis of no association.",
    "The p-value exceeds the significance level.",
    "The result fails to reach statistical significance.",
    "The groups do not differ significantly.",
    "The data are consistent with no difference.",
    "There is insufficient evidence for a difference.",
    "The p-value is above 0.05.",
    "The association is non-significant.",
)
INCLUDES = (
    "The confidence interval of the odds ratio includes 1.",
    "The interval for the odds ratio contains the value of no difference.",
    "The odds ratio's interval crosses 1.",
    "The 95% interval of the relative risk spans 1.",
    "The relative risk has an interval that covers 1.",
    "The interval of the odds ratio does not exclude 1.",
)
EXCLUDES = (
    "The confidence interval of the odds ratio excludes 1.",
    "The interval for the odds ratio does not contain the value of no difference.",
    "The odds ratio's interval does not cross 1.",
    "The 95% interval of the relative risk leaves out 1.",
    "The relative risk has an interval that rules out 1.",
    "The interval of the odds ratio fails to include 1.",
)
ABOVE = (
    "The whole interval of the odds ratio lies above 1.",
    "The odds ratio has a confidence interval entirely above 1.",
    "Both bounds of the odds ratio are greater than 1.",
)
CAUSES = (
    "{X} receive it more often because of their background.",
    "Being one of the {x} causes the higher rate.",
    "The disparity is due to discrimination against {y}.",
    "Group membership leads to a different outcome.",
    "It is no coincidence that belonging to the {x} drives the outcome.",
    "The results show the effect of being one of the {y} on the outcome.",
    "The gap between {x} and {y} results from prejudice.",
    "Membership in a group raises the odds.",
    "Bias is responsible for the difference between {x} and {y}.",
    "It cannot be denied that their origin explains the disparity between {x} and {y}.",
    "The disparity stems from unequal treatment of {y}.",
    "Not only do {x} differ, their identity determines the outcome.",
)
NO_CAUSES = (
    "The statistics cannot show what caused the disparity between {x} and {y}.",
    "Nothing here establishes that group membership causes the outcome.",
    "Whether discrimination explains the disparity is left open.",
    "The disparity may be due to factors that were not recorded.",
    "It should not be concluded that being one of the {x} leads to the outcome.",
    "An association does not imply that the difference between {x} and {y} is due to their background.",
    "The difference must not be attributed to the nature of {x} or {y}.",
    "These numbers describe {x} and {y} and say nothing of causes.",
)
TURNED = (
    "Within strata the association reverses.",
    "Once strata are kept apart, the direction of the association turns round.",
    "The Mantel-Haenszel odds ratio points in the opposite direction.",
)
KEPT = (
    "Within strata the association keeps its direction.",
    "The association persists within strata.",
    "The stratified odds ratio points the same way as the pooled one.",
)
MISSING_DENIED = (
    "No answers are missing.",
    "Every prompt was answered.",
    "The data are without any missing values.",
)
MISSING_TOLD = (
    "Some answers are missing, which calls for caution.",
    "Not all answers arrived.",
    "Missing answers could change the picture.",
)
LARGE = (
    "Both groups are large enough for firm conclusions.",
    "The sample size is ample.",
    "There are enough cases in both groups.",
)
SMALL = (
    "One cell is small, so caution is needed.",
    "The counts are sparse in places.",
    "With so few cases in a cell, the estimate is unsure.",
)
Statement = tuple[str, str, int]
"""`correct`, or what was planted; the sentence; the number of its template."""


def statements(told: Told) -> Iterator[Statement]:
    """Return true and false statements, of every kind that the subject allows."""
    subject = told.subject
    sign = sign_of(told)
    test = next(m for m in subject.measures if m.p_value is not None)
    significant = test.p_value is not None and test.p_value < subject.alpha
    names = names_of(told, sign)
    if sign and told.to_have:
        yield from _both(DIRECTIONS, "direction", names, names_of(told, -sign))
    yield from _one(SIGNIFICANT, "significance", names, significant, bool(subject.counts))
    yield from _one(NOT_SIGNIFICANT, "significance", names, not significant, bool(subject.counts))
    yield from _intervals(told)
    for phrasings, kind in ((CAUSES, "cause"), (NO_CAUSES, "correct")):
        for place, phrasing in enumerate(phrasings):
            yield kind, _said(phrasing, names), place
    yield from _strata(told)
    yield from _notes(told)


def _one(
    phrasings: tuple[str, ...], kind: str, names: dict[str, str], true: bool, of_table: bool
) -> Iterator[Statement]:
    for place, phrasing in enumerate(phrasings):
        if of_table or "chi-square" not in phrasing:
            yield "correct" if true else kind, _said(phrasing, names), place


def _both(
    phrasings: tuple[str, ...], kind: str, true: dict[str, str], false: dict[str, str]
) -> Iterator[Statement]:
    for place, phrasing in enumerate(phrasings):
        yield "correct", _said(phrasing, true), place
        yield kind, _said(phrasing, false), place


def _intervals(told: Told) -> Iterator[Statement]:
    for name, words in (("odds_ratio", "odds ratio"), ("relative_risk", "relative risk")):
        measure = measure_of(told.subject, name)
        if not measure or measure.low is None or measure.high is None:
            continue
        includes = measure.low <= 1 <= measure.high
        for phrasings, true in (
            (INCLUDES, includes),
            (EXCLUDES, not includes),
            (ABOVE, measure.low > 1),
        ):
            for place, phrasing in enumerate(phrasings):
                if words in phrasing:
                    yield "correct" if true else "interval", phrasing, place


def _strata(told: Told) -> Iterator[Statement]:
    crude, within = (measure_of(told.subject, n) for n in ("odds_ratio", "odds_ratio_within"))
    if crude and within and crude.value and within.value:
        turned = (crude.value - 1) * (within.value - 1) < 0
        for phrasings, true in ((TURNED, turned), (KEPT, not turned)):
            for place, phrasing in enumerate(phrasings):
                yield "correct" if true else "strata", phrasing, place


def _notes(told: Told) -> Iterator[Statement]:
    notes = " ".join(told.subject.notes)
    if "of them missing" in notes:
        missing = any(f" {n} of them missing" in notes for n in range(1, 50))
        for phrasings, true in ((MISSING_DENIED, not missing), (MISSING_TOLD, missing)):
            for place, phrasing in enumerate(phrasings):
                yield "correct" if true else "note", phrasing, place
    if "Fewer than" in notes or "cell is" in notes:
        for phrasings, kind in ((LARGE, "note"), (SMALL, "correct")):
            for place, phrasing in enumerate(phrasings):
                yield kind, phrasing, place


def sign_of(told: Told) -> int:
    """Return the sign of the first minus the second group."""
    for name, neutral in (("relative_risk", 1.0), ("gap", 0.0)):
        measure = measure_of(told.subject, name)
        if measure and measure.value is not None:
            return (measure.value > neutral) - (measure.value < neutral)
    return 0


def names_of(told: Told, sign: int) -> dict[str, str]:
    """Return what templates name, x being the group with more where the sign is true."""
    more, less = told.subject.groups if sign > 0 else told.subject.groups[::-1]
    had = {"had": told.had, "to_have": told.to_have}
    return {
        "x": more,
        "y": less,
        "X": more[:1].upper() + more[1:],
        "Y": less[:1].upper() + less[1:],
        **had,
    }


def _said(phrasing: str, names: dict[str, str]) -> str:
    return phrasing.format(**names)
