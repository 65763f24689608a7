"""Every number is bound to what its sentence says it is, and compared with the statistics."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from biaswatch.services.evaluator.domain.checks.facts import MEANS, Fact, NumberRole
from biaswatch.services.evaluator.domain.checks.fixed_numbers import COARSE
from biaswatch.services.evaluator.domain.checks.idle_numbers import is_no_statistic
from biaswatch.services.evaluator.domain.checks.interval_claims import compares_with_no_difference
from biaswatch.services.evaluator.domain.checks.number_bindings import (
    NumberBinding,
    binding_of,
    is_of_another,
    rules_out,
)
from biaswatch.services.evaluator.domain.checks.number_owners import (
    group_of_number,
    listed,
    measure_of_number,
    out_of_groups,
    quotients,
)
from biaswatch.services.evaluator.domain.checks.number_roles import (
    has_outcome,
    interval_ends,
    multiplies,
    roles_of,
    text_around,
)
from biaswatch.services.evaluator.domain.checks.plain_negation import NOT, plainly
from biaswatch.services.evaluator.domain.checks.role_words import RATE
from biaswatch.services.evaluator.domain.checks.wording import Wording
from biaswatch.services.evaluator.domain.checks.written_numbers import Unit, WrittenNumber, occurs

_ODDS_OR_RATES = re.compile(
    r"\b(odds|likely|likelihood|chances?|rates?|often|common|frequent\w*|probab\w+|risks?)\b",
    re.IGNORECASE,
)
"""What a factor may be of."""
_BESIDE = re.compile(r"\s+(?:the\s+)?", re.IGNORECASE)
_IT_WAS = re.compile(r"\bit\s+(?:is|was|stands|stood)\b[^.;]*$", re.IGNORECASE)
"""What "it" is was said before."""
_LINE_OF = re.compile(r"\W*<g(?P<group>[01])>\W* ?[:\u2013-](?!.*<g)")
"""A line of a list that is about one group alone."""
TESTS = {"chi_square", "cmh", "gap_test"}


@dataclass(frozen=True)
class BoundNumber:
    """A number and what its sentence says it is."""

    number: WrittenNumber
    roles: tuple[NumberRole, ...]
    measure: str | None
    group: int | None
    binding: NumberBinding
    """What its words leave possible where they say no more."""
    has: bool | None = None
    """True if it counts cases with the outcome, or without; None where that is not said."""
    sign: str = "="
    """`<` or `>` where a p-value is only said to lie below or above."""


def bound_numbers(wording: Wording) -> list[BoundNumber]:
    """Return what every number of a sentence is said to be."""
    pairs = interval_ends(wording)
    measures = quotients(wording) | listed(
        wording, wording.measures, lambda mention: mention.measure
    )
    groups = listed(wording, wording.groups, lambda mention: mention.group) | out_of_groups(wording)
    bound = []
    for place, number in enumerate(wording.numbers):
        roles, sign = roles_of(wording, place, pairs)
        measure = measures.get(place) or measure_of_number(wording, place)
        if measure is None and number.unit is Unit.TIMES:
            measure = _of_factor(wording, number)
        elif measure is None and multiplies(wording, place):
            measure = "odds_ratio" if "odds" in wording.text.lower() else "relative_risk"
        roles = _settled(wording, number, _without_rate(wording, number, roles), measure)
        if roles == (NumberRole.P,) and measure not in TESTS:
            measure = _main_test(wording)
        group = groups[place] if place in groups else group_of_number(wording, place)
        before, _ = text_around(wording, place)
        has = has_outcome(before, wording.text[number.end : number.end + 60])
        binding = binding_of(wording, place, measures.get(place), has)
        if place in groups:
            binding = replace(binding, group=groups[place])
        if NumberRole.TOTAL in roles and (line := _LINE_OF.match(wording.pattern)):
            binding = replace(binding, group=int(line["group"]))  # "men: ..., 200 in all"
        group = binding.group if group is None else group
        if binding.part and roles == (NumberRole.TOTAL,):
            roles = (NumberRole.COUNT,)
        bound.append(BoundNumber(number, roles, measure, group, binding, has, sign))
    return bound


def _of_factor(wording: Wording, number: WrittenNumber) -> str | None:
    """Return the measure that a factor is, by the word for odds or for chances nearest before it."""
    before = _ODDS_OR_RATES.findall(wording.text[: number.start])
    words_before = before or _ODDS_OR_RATES.findall(wording.text[number.end :])[:1]
    if not words_before:
        return None
    return "odds_ratio" if words_before[-1].lower() == "odds" else "relative_risk"


def _settled(
    wording: Wording, number: WrittenNumber, roles: tuple[NumberRole, ...], measure: str | None
) -> tuple[NumberRole, ...]:
    """Return the roles of a number where a group beside it, or a pronoun before it, says more."""
    if roles == (NumberRole.TOTAL,) and len({mention.group for mention in wording.groups}) == 1:
        return (NumberRole.COUNT, NumberRole.TOTAL)
    if roles == (NumberRole.TOTAL,) and any(
        _BESIDE.fullmatch(wording.text[number.end : mention.start]) for mention in wording.groups
    ):
        return (NumberRole.COUNT,)
    was_named = measure is None and _IT_WAS.search(wording.text[: number.start])
    if (_is_listed(wording, number) and not number.whole) or (
        was_named and roles == (NumberRole.VALUE,)
    ):
        return (*roles, NumberRole.RATE)
    return roles


def _is_listed(wording: Wording, number: WrittenNumber) -> bool:
    """Tell whether a number stands right behind a group's name and a colon, as in a list."""
    before = [mention for mention in wording.groups if mention.end <= number.start]
    return bool(before) and wording.text[before[-1].end : number.start].strip() == ":"


def _without_rate(
    wording: Wording, number: WrittenNumber, roles: tuple[NumberRole, ...]
) -> tuple[NumberRole, ...]:
    """Return roles without a share where a measure is named and no share since."""
    named = [m for m in wording.measures if m.end <= number.start]
    if not named or number.unit is Unit.PERCENT or NumberRole.VALUE not in roles:
        return roles
    since = occurs(RATE, wording.text, named[-1].end, number.start)
    return roles if since else tuple(r for r in roles if r is not NumberRole.RATE)


def _main_test(wording: Wording) -> str:
    if re.search(r"\bstrat(?:a|um|ified)\b", wording.text, re.IGNORECASE):
        return "cmh"
    return "chi_square"


def number_faults(wording: Wording, facts: Sequence[Fact]) -> Iterator[tuple[str, str]]:
    """Return a kind and a sentence for every number that is surely not what the sentence says."""
    if cells := _cells(wording, facts):
        yield from cells
        return
    bound, facts = bound_numbers(wording), _stated_facts(wording, facts)
    yield from _pair_faults(bound, facts)
    for place in bound:
        if (outcome := _outcome(wording, place, facts)) and outcome is not OPEN:
            yield outcome


def open_numbers(wording: Wording, facts: Sequence[Fact]) -> tuple[str, ...]:
    """Return the numbers that are some statistic, though the sentence leaves open which one."""
    facts = _stated_facts(wording, facts)
    unchecked = (
        bound for bound in bound_numbers(wording) if _outcome(wording, bound, facts) is OPEN
    )
    return tuple(bound.number.text for bound in unchecked)


def _stated_facts(wording: Wording, facts: Sequence[Fact]) -> Sequence[Fact]:
    """Leave out the odds of each group where a sentence does not speak of odds."""
    if _SPEAKS_OF_ODDS.search(wording.text):
        return facts
    return [fact for fact in facts if not fact.label.startswith("the odds of")]


_SPEAKS_OF_ODDS = re.compile(r"\bodds\b|\bto\s+(?:one|1)\b", re.IGNORECASE)
OPEN = ("open", "")
"""What is neither right nor wrong: it was not checked."""


def _outcome(wording: Wording, place: BoundNumber, facts: Sequence[Fact]) -> tuple[str, str] | None:
    """Return what is wrong with a number; None where it is right, `OPEN` where that stays open."""
    neutral = place.number.value in {0.0, 1.0} and place.number.step >= COARSE
    if neutral and place.number.unit is Unit.PLAIN and compares_with_no_difference(wording):
        return None
    if place.sign != "=" and (place.binding.supposed or _is_denied_level(wording, place, facts)):
        return None
    equal = [fact for fact in facts if fact.matches(place.number)]
    agreed = [
        fact
        for fact in facts
        if _agrees(place, fact, facts, Fact.may_be) and not is_of_another(place.binding, fact)
    ]
    if agreed and not (place.binding.direct and equal and place.sign == "="):
        return None
    if not equal and is_no_statistic(wording, place.number):
        return None
    if not equal:
        return "number", f"The number {place.number.text} is in none of the statistics."
    if all(rules_out(place.binding, place.number, place.roles, fact) for fact in equal):
        return _misplaced(place, equal[0])
    return None if agreed else OPEN


def _is_denied_level(wording: Wording, place: BoundNumber, facts: Sequence[Fact]) -> bool:
    """Tell whether a number is the level that a p-value is said not to meet: "is not p < 0.05"."""
    level = any(f.role is NumberRole.LEVEL and f.matches(place.number) for f in facts)
    return level and bool(NOT.search(plainly(wording.pattern)))


def _pair_faults(bound: Sequence[BoundNumber], facts: Sequence[Fact]) -> Iterator[tuple[str, str]]:
    """Return a fault for ends of an interval that no statistic has both of, or in this order."""
    for one, two in pairwise(bound):
        if (one.roles, two.roles) != ((NumberRole.LOW,), (NumberRole.HIGH,)):
            continue
        if all(bound.number.value in {0.0, 1.0, 100.0} for bound in (one, two)):
            continue  # all a share can be
        lows = {f.measure for f in facts if f.role is NumberRole.LOW and f.matches(one.number)}
        highs = {f.measure for f in facts if f.role is NumberRole.HIGH and f.matches(two.number)}
        ends = {NumberRole.LOW, NumberRole.HIGH}
        known = all(
            any(f.role in ends and f.matches(bound.number) for f in facts) for bound in (one, two)
        )
        if known and not lows & highs:
            message = f"The numbers {one.number.text} and {two.number.text}"
            yield "interval", f"{message} are not the ends of one interval."


def _misplaced(place: BoundNumber, other: Fact) -> tuple[str, str]:
    """Say what a number is that its words do not let it be."""
    bounds = {NumberRole.LOW, NumberRole.HIGH}
    if bounds & set(place.roles) and other.role in bounds:
        return "interval", f"The number {place.number.text} is {other.label}, but stands elsewhere."
    roles = " or ".join(_with_article(role.value) for role in place.roles)
    return "place", f"The number {place.number.text} is {other.label}, but stands as {roles}."


def _cells(wording: Wording, facts: Sequence[Fact]) -> list[tuple[str, str]]:
    """Return a fault where four counts in a row, of no group by name, are not the cells in order."""
    named = wording.groups or wording.measures or "cell" not in wording.text.lower()
    if named or len(wording.numbers) != 4 or not all(number.whole for number in wording.numbers):
        return []
    cells = [fact.value for fact in facts if fact.group is not None and fact.has is not None]
    if len(cells) != 4 or [number.value for number in wording.numbers] == cells:
        return []
    return [("place", "The four cells are not those of the table in their order.")]


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _agrees(
    place: BoundNumber,
    fact: Fact,
    facts: Sequence[Fact],
    fits: Callable[[Fact, WrittenNumber], bool],
) -> bool:
    """Tell whether a fact is what a number is said to be, and as large."""
    if fact.role not in place.roles:
        return False
    own = [f for f in facts if f.measure == place.measure and f.role is fact.role]
    if place.measure and fact.measure != place.measure and own and fact.role is not NumberRole.RATE:
        return False
    if (
        place.measure
        and not own
        and fact.measure
        and fact.role not in {NumberRole.P, NumberRole.NEUTRAL}
    ):
        return fact.measure in MEANS and fits(fact, place.number)
    if fact.role is NumberRole.P and place.sign != "=":
        return (
            fact.value < place.number.value
            if place.sign == "<"
            else fact.value > place.number.value
        )
    if place.group is not None and fact.group is not None and fact.group != place.group:
        return False
    if None not in (place.has, fact.has) and place.has is not fact.has:
        return False
    percent = place.number.unit is Unit.PERCENT
    if (
        percent
        and fact.role is NumberRole.VALUE
        and place.measure is None
        and fact.measure not in MEANS
    ):
        return False
    return fits(fact, place.number)
