"""Sentences with numbers, true ones and with one number false or in another's place."""

import random
import re
from collections.abc import Iterator, Mapping

from benchmarks.checker.tables import Told
from biaswatch.services.evaluator.domain.checks.facts import facts_of
from biaswatch.services.evaluator.domain.checks.written_numbers import numbers_in
from biaswatch.services.evaluator.domain.subjects import measure_of

TEMPLATES = (
    "The odds ratio is {or:.3f} (95% CI {orlo:.3f} to {orhi:.3f}).",
    "With an odds ratio of {or:.2f} [{orlo:.2f}, {orhi:.2f}], the odds of the two groups are set against each other.",
    "Odds ratio: {or:.3f}; its 95 % confidence interval runs from {orlo:.3f} to {orhi:.3f}.",
    "The relative risk came to {rr:.3f}, with a lower bound of {rrlo:.3f} and an upper bound of {rrhi:.3f}.",
    "A risk ratio of {rr:.2f} was found, the interval being between {rrlo:.2f} and {rrhi:.2f}.",
    "RR = {rr:.2f} ({rrlo:.2f}\u2013{rrhi:.2f}), OR = {or:.2f} ({orlo:.2f}\u2013{orhi:.2f}).",
    "The odds ratio and the relative risk are {or:.2f} and {rr:.2f}, respectively.",
    "The chi-square statistic equals {chi:.4f}, with a p-value of {p}.",
    "\u03c72 = {chi:.2f}, p = {p}.",
    "The test has the statistic {chi:.3f} and a p-value of {p}, at the 0.05 level.",
    "{rate0:.1%} of {g0} and {rate1:.1%} of {g1} {had}.",
    "Among {g0} the rate is {rate0:.1%}, against {rate1:.1%} among {g1}.",
    "{a} of {n0} {g0} ({rate0:.1%}) {had}, compared with {c} of {n1} {g1} ({rate1:.1%}).",
    "The proportion was {rate0:.3f} for {g0} and {rate1:.3f} for {g1}.",
    "Of the {n} cases, {n0} are {g0} and {n1} are {g1}.",
    "The estimate of {or:.3f} for the odds ratio comes with limits of {orlo:.3f} and {orhi:.3f}.",
    "The odds ratio is {or:.2f}. Its 95% interval is ({orlo:.2f}, {orhi:.2f}).",
    "Turning to risks rather than odds, the ratio of the risks is {rr:.3f}.",
    "The relative risk, at {rr:.2f}, has a 95% confidence interval of {rrlo:.2f} to {rrhi:.2f}, and the odds ratio, at {or:.2f}, one of {orlo:.2f} to {orhi:.2f}.",
    "For {g0}, {a} cases had the outcome and {b} did not; for {g1}, {c} did and {d} did not.",
    "Rates for {g0} and {g1} were {rate0:.1%} and {rate1:.1%}.",
    "While {rate0:.0%} of {g0} {had}, only the share of {rate1:.0%} was seen for {g1}.",
    "There are {n} cases in all, where at least 15 a group are needed.",
    "An OR of {or:.2f} (CI: {orlo:.2f}, {orhi:.2f}) and an RR of {rr:.2f} (CI: {rrlo:.2f}, {rrhi:.2f}) were computed.",
    "The impact ratio stands at {ir:.3f}.",
    "The confidence interval for the odds ratio, {orlo:.3f} to {orhi:.3f}, surrounds an estimate of {or:.3f}.",
    "The p-value of the chi-square test is {p}.",
    "The sample holds {n0} {g0} and {n1} {g1}, {n} people together.",
    "At {rr:.3f}, the relative risk is set beside an odds ratio of {or:.3f}.",
    "The lower limit of the odds ratio is {orlo:.2f}, and the upper limit is {orhi:.2f}.",
    "Chi-squared: {chi:.2f} (p = {p}).",
    "{g0} had a rate of {rate0:.1%} ({a}/{n0}); {g1} had {rate1:.1%} ({c}/{n1}).",
    "The relative risk of {rr:.2f} has a confidence interval ranging from {rrlo:.2f} to {rrhi:.2f}.",
    "The odds ratio was estimated to be {or:.1f}.",
    "Altogether {had0} people of {n} had the outcome, {a} of them {g0}.",
    "We see a relative risk equal to {rr:.3f} [95% CI: {rrlo:.3f}; {rrhi:.3f}].",
)  # fmt: skip
GAP_TEMPLATES = (
    "The difference of means is {gap:.3f}, with a 95% confidence interval of ({gaplo:.3f}, {gaphi:.3f}).",
    "{g0} has a mean of {m0:.2f} and {g1} one of {m1:.2f}.",
    "The mean for {g0} was {m0:.2f} ({m0lo:.2f} to {m0hi:.2f}), the mean for {g1} {m1:.2f} ({m1lo:.2f} to {m1hi:.2f}).",
    "The corrected test of the difference gives p = {p}.",
    "On average {g0} scored {m0:.2f}, against {m1:.2f} for {g1}.",
    "The mean difference of {gap:.2f} lies in an interval from {gaplo:.2f} to {gaphi:.2f}.",
)
PLACES = {
    "or": ("rr", "orlo", "orhi"), "rr": ("or", "rrlo"), "orlo": ("rrlo", "orhi"), "orhi": ("rrhi", "orlo"),
    "rrlo": ("orlo", "rrhi"), "rrhi": ("orhi", "rrlo"), "chi": ("p",), "p": ("chi",), "rate0": ("rate1",), "rate1": ("rate0",),
    "a": ("c",), "c": ("a",), "b": ("d",), "d": ("b",), "n0": ("n1",), "n1": ("n0",), "m0": ("m1",), "m1": ("m0",),
    "gaplo": ("gaphi",), "gaphi": ("gaplo",), "m0lo": ("m1lo",), "m1hi": ("m0hi",), "had0": ("lack",), "n": ("had0",), "ir": ("or",),
}  # fmt: skip
"""By field: what may stand in its place, and would be wrong there."""
Fields = Mapping[str, float]
Sentence = tuple[str, str, int]
"""What was planted (`correct`, `number`, `place`), the sentence, the number of its template."""


def sentences_with_numbers(
    told: Told, rng: random.Random, given: tuple[str, ...] = ()
) -> Iterator[Sentence]:
    """Return every template true, with a false number, and with a number of something else."""
    fields = fields_of(told)
    templates = given or (TEMPLATES if told.subject.counts else GAP_TEMPLATES)
    for place, template in enumerate(templates):
        names = re.findall(r"{(\w+)", template)
        numeric = [name for name in names if name in fields]
        if any(fields[name] is None for name in numeric):
            continue
        yield "correct", filled(template, fields, told), place
        changed = _false_number(template, fields, told, rng.choice(numeric), rng)
        if changed:
            yield "number", changed, place
        swappable = [(n, other) for n in numeric for other in PLACES.get(n, ()) if other in fields]
        rng.shuffle(swappable)
        for name, other in swappable:
            moved = filled(template, {**fields, name: fields[other]}, told)
            if fields[other] is not None and _differs(template, fields, name, other, told):
                yield "place", moved, place
                break


def filled(template: str, fields: Fields, told: Told) -> str:
    """Return a template with its fields."""
    g0, g1 = told.subject.groups
    return template.format(**{**fields, "p": _p(fields["p"])}, g0=g0, g1=g1, had=told.had)


def _p(value: float) -> str:
    return (
        f"{value:.4f}" if 0.0001 <= value < 1 else f"{value:.2e}" if value < 1 else f"{value:.4f}"
    )


def _differs(template: str, fields: Fields, name: str, other: str, told: Told) -> bool:
    """Whether the exchange shows at the digits of the template, beyond rounding."""
    true, moved = (
        filled(template, each, told) for each in (fields, {**fields, name: fields[other]})
    )
    numbers = zip(numbers_in(true), numbers_in(moved), strict=False)
    return any(abs(x.value - y.value) > 1.01 * max(x.step, y.step) for x, y in numbers)


def _false_number(
    template: str, fields: Fields, told: Told, name: str, rng: random.Random
) -> str | None:
    """Return the sentence with a number that is true of nothing."""
    facts = facts_of(told.subject)
    whole = isinstance(fields[name], int)
    for _ in range(40):
        factor = rng.choice((0.55, 0.7, 0.83, 1.18, 1.31, 1.6))
        value = fields[name] * factor
        wrong = round(value) + rng.choice((1, 2, 3)) if whole else value
        text = filled(template, {**fields, name: wrong}, told)
        true = filled(template, fields, told)
        changed = [
            new
            for new, old in zip(numbers_in(text), numbers_in(true), strict=False)
            if new.text != old.text
        ]
        if changed and not any(fact.matches(new) for fact in facts for new in changed):
            return text
    return None


def fields_of(told: Told) -> Fields:
    """Return what templates may say of a subject, by its name there."""
    subject = told.subject
    fields: dict[str, float] = {}
    short = {
        "odds_ratio": "or",
        "relative_risk": "rr",
        "impact_ratio": "ir",
        "chi_square": "chi",
        "gap": "gap",
        "mean_1": "m0",
        "mean_2": "m1",
    }
    for name, key in short.items():
        if measure := measure_of(subject, name):
            for end, value in (("", measure.value), ("lo", measure.low), ("hi", measure.high)):
                if value is not None:
                    fields[key + end] = value
    fields["p"] = next(m.p_value for m in subject.measures if m.p_value is not None)
    if subject.counts:
        a, b, c, d = subject.counts
        fields.update(
            a=a, b=b, c=c, d=d, n0=a + b, n1=c + d, n=a + b + c + d, had0=a + c, lack=b + d
        )
        rate0, rate1 = a / (a + b), c / (c + d)
        fields.update(rate0=rate0, rate1=rate1, r0=100 * rate0, r1=100 * rate1)
        fields.update(pts=100 * abs(rate0 - rate1))
    return fields
