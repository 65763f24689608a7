"""True and false sentences as papers, journals, memos and lists put them, in two halves.

A hash of its words puts each phrasing into one half: the checker was improved on the first, its
rates on the second were counted, and only then was the second looked at, once.
"""

import hashlib
import random
from collections.abc import Iterator

from benchmarks.checker import varied_directions, varied_numbers, varied_tests
from benchmarks.checker.number_sentences import fields_of, sentences_with_numbers
from benchmarks.checker.statement_sentences import names_of, sign_of
from benchmarks.checker.tables import Told, tables
from biaswatch.services.evaluator.domain.subjects import measure_of

Varied = tuple[Told, str, str, bool]
"""The subject; `correct`, or what was planted; the sentence; whether it is in the second half."""
Said = tuple[str, str, str]
"""The kind, the sentence, its phrasing."""
FACTORS = (
    (1.5, "one and a half times"),
    (2.0, "twice"),
    (2.5, "two and a half times"),
    (3.0, "three times"),
    (4.0, "four times"),
)
SHARES = (
    (0.1, "one in ten"), (0.2, "one in five"), (0.25, "a quarter of"), (1 / 3, "a third of"),
    (0.4, "four in ten"), (0.5, "half of"), (0.6, "six in ten"), (2 / 3, "two thirds of"),
    (0.8, "four out of five"),
)  # fmt: skip
NEAR, FAR = 0.04, 0.35
LEAST_RATIO = 1.15


def varied_planted() -> Iterator[Varied]:
    """Return every sentence about every table, in a fixed order."""
    rng = random.Random(7)
    for told in tables():
        numbers = sentences_with_numbers(told, rng, varied_numbers.NUMBERS)
        found = [(kind, text, varied_numbers.NUMBERS[n]) for kind, text, n in numbers]
        found += [*_sized(told), *_shares(told), *_directions(told), *_tests(told)]
        for kind, text, phrasing in found:
            yield told, kind, text, in_second_half(phrasing)


def in_second_half(phrasing: str) -> bool:
    """Whether a phrasing is in the half that was not looked at."""
    return bool(hashlib.sha256(phrasing.encode()).digest()[0] % 2)


def _sized(told: Told) -> Iterator[Said]:
    """Return how much more one group has: as a factor, in percent, in points; true and false."""
    fields, sign = fields_of(told), sign_of(told)
    names = names_of(told, sign)
    more, less = (fields["rate0"], fields["rate1"])[:: sign or 1]
    ratio, points = more / less, 100 * (more - less)
    if ratio < LEAST_RATIO:
        return
    percent = {"more": 100 * (ratio - 1), "fewer": 100 * (1 - 1 / ratio)}
    for phrasing in varied_numbers.TIMES:
        for kind, word in _factors(ratio):
            yield kind, phrasing.format(times=word, **names), phrasing
    for phrasing in varied_numbers.PERCENT_MORE:
        yield "correct", phrasing.format(**percent, **names), phrasing
        if min(abs(points - each) for each in percent.values()) > 3:
            yield "place", phrasing.format(more=points, fewer=points, **names), phrasing
    for phrasing in varied_numbers.POINTS:
        yield "correct", phrasing.format(points=points, **names), phrasing
        if abs(points - percent["more"]) > 3:
            yield "place", phrasing.format(points=percent["more"], **names), phrasing


def _factors(ratio: float) -> Iterator[tuple[str, str]]:
    nearest, word = min(FACTORS, key=lambda each: abs(each[0] - ratio))
    off = ratio / nearest - 1
    if abs(off) < 0.12:
        hedge = "almost exactly" if abs(off) < 0.01 else "more than" if off > 0 else "nearly"
        yield "correct", f"{hedge} {word}"
    yield (
        "number",
        f"about {next(word for factor, word in FACTORS if abs(factor / ratio - 1) > FAR)}",
    )


def _shares(told: Told) -> Iterator[Said]:
    fields, (g0, g1) = fields_of(told), told.subject.groups
    rates = fields["rate0"], fields["rate1"]
    true = [next((w for share, w in SHARES if abs(share - r) < NEAR * 0.75), None) for r in rates]
    false = [next(w for share, w in SHARES if abs(share / r - 1) > FAR) for r in rates]
    for phrasing in varied_numbers.SHARES:
        both = "hare0" in phrasing, "hare1" in phrasing
        if any(wanted and word is None for wanted, word in zip(both, true, strict=True)):
            continue
        number = 0 if both[0] else 1
        wrong = [false[n] if n == number else true[n] for n in (0, 1)]
        for kind, words in (("correct", true), ("number", wrong)):
            said = {f"share{n}": word for n, word in enumerate(words)}
            said["Share0"] = (words[0] or "").capitalize()
            yield kind, phrasing.format(**said, g0=g0, g1=g1, had=told.had), phrasing


def _directions(told: Told) -> Iterator[Said]:
    sign = sign_of(told)
    true, false = names_of(told, sign), names_of(told, -sign)
    for phrasing in varied_directions.DIRECTIONS:
        if sign:
            yield "correct", phrasing.format(**true), phrasing
            yield "direction", phrasing.format(**false), phrasing
    yield from (("cause", p.format(**true), p) for p in varied_directions.CAUSES)
    yield from (("correct", p.format(**true), p) for p in varied_directions.NO_CAUSES)


def _tests(told: Told) -> Iterator[Said]:
    subject, names = told.subject, names_of(told, sign_of(told))
    test = next(m for m in subject.measures if m.p_value is not None)
    significant = test.p_value is not None and test.p_value < subject.alpha
    for phrasings, true in (
        (varied_tests.SIGNIFICANT, significant),
        (varied_tests.NOT_SIGNIFICANT, not significant),
    ):
        for each in phrasings:
            yield "correct" if true else "significance", each.format(**names), each
    yield from _intervals(told)
    odds, risk = (fields_of(told).get(name) for name in ("or", "rr"))
    if odds and risk and abs(odds / risk - 1) > 0.01:
        for phrasings, above in (
            (varied_tests.OR_ABOVE_RR, True),
            (varied_tests.OR_BELOW_RR, False),
        ):
            for each in phrasings:
                yield "correct" if (odds > risk) is above else "direction", each, each


def _intervals(told: Told) -> Iterator[Said]:
    for name, words in (("odds_ratio", "dds ratio"), ("relative_risk", "elative risk")):
        measure = measure_of(told.subject, name)
        if not measure or measure.low is None or measure.high is None:
            continue
        low, high = measure.low, measure.high
        for phrasings, true in (
            (varied_tests.INCLUDES, low <= 1 <= high),
            (varied_tests.EXCLUDES, not low <= 1 <= high),
            (varied_tests.ABOVE, low > 1),
            (varied_tests.BELOW, high < 1),
        ):
            for each in phrasings:
                if words in each:
                    yield "correct" if true else "interval", each, each
