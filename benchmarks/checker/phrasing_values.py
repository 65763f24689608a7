"""What stands in the slots of a phrasing: a table's numbers and words, right, wrong, or swapped."""

import math
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.checker.tables import Told
from biaswatch.services.evaluator.domain.subjects import measure_of

ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"]  # fmt: skip
TENS = {3: "thirty", 4: "forty", 5: "fifty", 6: "sixty", 7: "seventy", 8: "eighty", 9: "ninety"}
SHARES = {
    Fraction(1, 2): "half", Fraction(1, 3): "a third", Fraction(2, 3): "two thirds",
    Fraction(1, 4): "a quarter", Fraction(3, 4): "three quarters", Fraction(1, 5): "a fifth",
    Fraction(2, 5): "two fifths", Fraction(3, 5): "three fifths", Fraction(4, 5): "four fifths",
    Fraction(1, 10): "a tenth",
}  # fmt: skip
TIMES = ((1.97, 2.03, "twice"), (1.75, 1.97, "nearly twice"), (2.03, 2.3, "a little over twice"),
         (0.47, 0.53, "about half"), (0.3, 0.36, "about a third"),
         (1.43, 1.57, "about one and a half times"))  # fmt: skip
NEAR, APART = 0.06, 0.12
"""Relative error of a share in words that is right, and of a number that is wrong."""
FACTORS = (1.37, 0.71, 1.61, 0.58, 1.83, 0.44, 1.19, 2.6)
SLOT = re.compile(r"\{(\w+)(?::([^}]*))?\}")
SWAPS = {
    "rate0": "rate1", "pct0": "pct1", "prop0": "prop1", "one_in0": "one_in1", "frac0": "frac1",
    "frac0_cap": "frac1_cap", "ten0": "ten1", "pct0_words": "pct1_words", "a": "c", "b": "d",
    "n0": "n1", "or": "rr", "orlo": "rrlo", "orhi": "rrhi", "mean0": "mean1",
    "mean0lo": "mean1lo", "mean0hi": "mean1hi",
}  # fmt: skip
STANDS_FOR = {"ir": "or", "p": "rate0", "chi": "or", "rd": "rate0", "gap": "mean0", "gp": "gaphi"}
"""A number that has no twin, and the one that is put in its place."""


@dataclass(frozen=True)
class Values:
    """A table's numbers and words by the names of slots."""

    numbers: Mapping[str, float]
    words: Mapping[str, str]
    more: str
    less: str
    p_value: float

    def render(self, template: str, numbers: Mapping[str, float] | None = None) -> str | None:
        """Fill a template; None where one of its slots has nothing true to say."""
        mine = self.numbers if numbers is None else numbers
        filled: list[str] = []
        for slot, form in SLOT.findall(template):
            said = self.words.get(slot) or _said(slot, form, mine)
            if said is None:
                return None
            filled.append(said)
        pieces = iter(filled)
        text = SLOT.sub(lambda _: next(pieces), template)
        return text[:1].upper() + text[1:]

    def collides(self, value: float) -> bool:
        """Whether a number is near one that the table has."""
        scales = (1.0, 100.0, 0.01)
        return any(
            abs(value - scale * mine) <= APART / 2 * abs(value)
            for mine in (*self.numbers.values(), 1.0, 5.0, 95.0)
            for scale in scales
        )


def values_of(told: Told) -> Values:
    """Return what the slots of a subject hold."""
    subject = told.subject
    words = {"g0": subject.groups[0], "g1": subject.groups[1]}
    if subject.counts:
        words |= {"to_have": told.to_have, "had": told.had}
        numbers = _of_table(told)
        first = numbers["rate0"] > numbers["rate1"]
    else:
        numbers = _of_gap(told)
        first = numbers["mean0"] > numbers["mean1"]
    more, less = subject.groups if first else subject.groups[::-1]
    p_value = numbers["p"] if "p" in numbers else numbers["gp"]
    return Values(numbers, words, more, less, p_value)


def _of_table(told: Told) -> dict[str, float]:
    a, b, c, d = told.subject.counts
    found: dict[str, float] = {"a": a, "b": b, "c": c, "d": d, "n0": a + b, "n1": c + d, "n": a + b + c + d}  # fmt: skip
    found |= {"rate0": a / (a + b), "rate1": c / (c + d)}
    short = {"odds_ratio": "or", "relative_risk": "rr", "risk_difference": "rd", "impact_ratio": "ir"}  # fmt: skip
    for name, slot in short.items():
        found |= _estimate(told, name, slot)
    test = measure_of(told.subject, "chi_square")
    assert test is not None
    assert test.value is not None
    assert test.p_value is not None
    return found | {"chi": test.value, "p": test.p_value}


def _of_gap(told: Told) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, slot in (("gap", "gap"), ("mean_1", "mean0"), ("mean_2", "mean1")):
        found |= _estimate(told, name, slot)
    test = measure_of(told.subject, "gap_test")
    assert test is not None
    assert test.p_value is not None
    return found | {"gp": test.p_value}


def _estimate(told: Told, name: str, slot: str) -> dict[str, float]:
    measure = measure_of(told.subject, name)
    assert measure is not None
    assert measure.value is not None
    assert measure.low is not None
    assert measure.high is not None
    return {slot: measure.value, f"{slot}lo": measure.low, f"{slot}hi": measure.high}


def _said(slot: str, form: str, numbers: Mapping[str, float]) -> str | None:
    if slot in numbers and slot not in {"p", "gp"}:
        whole = slot in {"a", "b", "c", "d", "n0", "n1", "n"}
        return f"{round(numbers[slot])}" if whole else format(numbers[slot], form)
    if slot in _DERIVED:
        return _DERIVED[slot](numbers)
    maker, group = _OF_GROUP[re.sub(r"\d", "", slot)], re.findall(r"\d", slot)[0]
    return maker(numbers[f"rate{group}"], form)


def _p(value: float) -> str | None:
    return f"{value:.4f}" if value >= 0.0001 else None


def _p_with_sign(value: float, gap: str) -> str:
    return f"<{gap}.001" if value < 0.001 else f"={gap}{value:.3f}".replace("0.", ".", 1)


def _percent_of(value: float) -> str | None:
    return f"{value:.1%}" if value >= 0.001 else None


def _times(value: float) -> str | None:
    return next((said for low, high, said in TIMES if low <= value < high), None)


def _points(numbers: Mapping[str, float]) -> float:
    return 100 * abs(numbers["rd"])


_DERIVED: dict[str, Callable[[Mapping[str, float]], str | None]] = {
    "p": lambda n: _p(n["p"]),
    "gp": lambda n: _p(n["gp"]),
    "pop": lambda n: _p_with_sign(n["p"], " "),
    "pop_tight": lambda n: _p_with_sign(n["p"], ""),
    "gpop_tight": lambda n: _p_with_sign(n["gp"], ""),
    "p_pct": lambda n: _percent_of(n["p"]),
    "rr_words": lambda n: _times(n["rr"]),
    "pts": lambda n: f"{_points(n):.1f}",
    "pct_more": lambda n: f"{100 * (n['rr'] - 1):.0f}" if n["rr"] > 1.03 else None,
    "pct_less": lambda n: f"{100 * (1 - n['rr']):.0f}" if n["rr"] < 0.97 else None,
}


def _one_in(rate: float, form: str) -> str | None:
    k = round(1 / rate)
    return f"one in {ONES[k]}" if 2 <= k <= 20 and abs(rate * k - 1) <= NEAR else None


def _share(rate: float, form: str) -> str | None:
    best = min(SHARES, key=lambda share: abs(float(share) - rate))
    return SHARES[best] if abs(float(best) / rate - 1) <= NEAR else None


def _tenths(rate: float, form: str) -> str | None:
    tenths = round(10 * rate)
    return ONES[tenths] if 1 <= tenths <= 9 and abs(10 * rate - tenths) <= 0.25 else None


def _percent_words(rate: float, form: str) -> str | None:
    whole = round(100 * rate)
    if whole <= 20:
        return ONES[whole]
    tens = "twenty" if whole // 10 == 2 else TENS.get(whole // 10)
    return tens if whole % 10 == 0 else f"{tens}-{ONES[whole % 10]}"


def _capital_share(rate: float, form: str) -> str | None:
    said = _share(rate, form)
    return said[:1].upper() + said[1:] if said else None


_OF_GROUP: dict[str, Callable[[float, str], str | None]] = {
    "pct": lambda rate, form: format(100 * rate, form),
    "prop": lambda rate, form: format(rate, form),
    "one_in": _one_in,
    "frac": _share,
    "frac_cap": _capital_share,
    "ten": _tenths,
    "pct_words": _percent_words,
}
_ROOTS = {"pop": "p", "pop_tight": "p", "p_pct": "p", "gpop_tight": "gp", "rr_words": "rr",
          "pts": "rd", "pct_more": "rr", "pct_less": "rr"}  # fmt: skip


def _root(slot: str, values: Values) -> str:
    """Return the number that a slot shows."""
    if slot in values.numbers:
        return slot
    if slot in _ROOTS:
        return _ROOTS[slot]
    digit: str = re.findall(r"\d", slot)[0]
    return "rate" + digit


def wrong_number(template: str, values: Values, rng: random.Random) -> str | None:
    """Fill a template with one number that the table does not have."""
    slots = [slot for slot, _ in SLOT.findall(template) if slot not in values.words]
    if not slots:
        return None
    slot = rng.choice(slots)
    root, right = _root(slot, values), values.render(template)
    for factor in FACTORS:
        value = values.numbers[root] * factor
        whole = root in {"a", "b", "c", "d", "n0", "n1", "n"}
        value = round(value) + 3 if whole else value
        if values.collides(value) or (root.startswith(("rate", "p", "gp")) and value >= 0.97):
            continue
        if slot[:1] == "p" and slot in {"pct_more", "pct_less"} and not _far(value, values, root):
            continue
        wrong = _with(template, values, {slot: (root, value)})
        if wrong is not None and wrong != right:
            return wrong
    return None


def _far(value: float, values: Values, root: str) -> bool:
    return (value > 1) == (values.numbers[root] > 1) and abs(value - values.numbers[root]) > APART


def swapped(template: str, values: Values, rng: random.Random) -> str | None:
    """Fill a template with numbers of the table that stand for something else."""
    slots = [slot for slot, _ in SLOT.findall(template) if slot not in values.words]
    pairs = SWAPS | {two: one for one, two in SWAPS.items()}
    fit = [slot for slot in slots if slot in pairs or slot in STANDS_FOR]
    if not fit:
        return None
    slot = rng.choice(fit)
    if slot in STANDS_FOR:
        root = _root(slot, values)
        value = values.numbers[STANDS_FOR[slot]]
        changed = {slot: (root, value)}
    else:
        one, two = _root(slot, values), _root(pairs[slot], values)
        mine, other = values.numbers[one], values.numbers[two]
        if math.isclose(mine, other, rel_tol=APART):
            return None
        changed = {slot: (one, other)}
        if pairs[slot] in slots:
            changed[pairs[slot]] = (two, mine)
    return _with(template, values, changed)


def _with(template: str, values: Values, changed: Mapping[str, tuple[str, float]]) -> str | None:
    """Fill a template where some slots show other numbers; the others show their own."""
    filled: dict[str, str | None] = {}
    for slot, form in SLOT.findall(template):
        numbers = dict(values.numbers)
        if slot in changed:
            root, value = changed[slot]
            numbers[root] = value
        filled[slot + form] = values.words.get(slot) or _said(slot, form, numbers)
    if None in filled.values():
        return None
    text = SLOT.sub(lambda found: str(filled[found[1] + (found[2] or "")]), template)
    return text[:1].upper() + text[1:]
