"""What the words around a number say for sure: its noun, its group, its role.

A number is bound for sure by a noun that only links separate from it ("a relative risk of 2.0"), by
the one group of its own clause or one beside it ("15 % of the women"), and by a role that is spelled
out ("lower bound", "p ="). Otherwise every noun of its clause, and every group, may be meant.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from services.evaluator.domain.checks.clauses import Token, place_of_number, tokens_of
from services.evaluator.domain.checks.facts import Fact, NumberRole
from services.evaluator.domain.checks.quantity_words import (
    BOUNDS,
    ESTIMATES,
    Quantity,
    can_be,
    unit_allows,
)
from services.evaluator.domain.checks.wording import Wording
from services.evaluator.domain.checks.written_numbers import Unit, WrittenNumber

_OF_RATIO = {Quantity.ODDS, Quantity.SHARE}
Noun = str | Quantity
"""The name of a measure, or a quantity."""
_REFERENCE = frozenset(["than", "with", "to", "against", "versus", "vs", "vs.", "unlike", "over", "from", "beside"])
_OF_GROUP = frozenset(["of", "for", "among", "in", "from", "by", "the", "all", "those", "these", "were", "are", "within", "them", "these", "those", "whom"])
_ELSEWHERE = frozenset(
    ["other", "others", "both", "rest", "overall", "combined", "pooled", "together", "remaining", "everyone", "everybody", "whole", "sample", "all", "total", "average", "each", "either", "neither", "they", "their", "them", "counterparts", "peers", "opposite", "elsewhere", "reference", "comparison", "baseline", "latter", "former", "first", "second"]
)
"""Words that may mean a group, or both of them, without a name."""
_PART_OF = frozenset(["of", "out", "the", "all", "/", "in", "a", "total"])
_SUPPOSING = frozenset("if suppose supposing imagine".split())
_AND = frozenset(["and", "or", ",", "versus", "vs", "/", "&"])
_FARTHEST = 14
"""Tokens between a group and a number that it is taken to be the subject of."""


@dataclass(frozen=True)
class NumberBinding:
    """What the words around a number leave possible."""

    nouns: frozenset[Noun]
    """What it may be a number of; nothing where no noun says."""
    group: int | None
    """The group it is of, where that is said beyond doubt."""
    has: bool | None = None
    """Whether it counts cases with the outcome, or without; None where that is not said."""
    supposed: bool = False
    """Whether its clause only supposes something: what is said there is nobody's statement."""
    before: str | None = None
    """The measure that was named last before it: what an interval without a name is of."""


def binding_of(
    wording: Wording, place: int, listed: Noun | None, has: bool | None
) -> NumberBinding:
    """Return what is said of a number; `listed` is the measure it has in a list of two."""
    tokens = tokens_of(wording.pattern)
    at = place_of_number(tokens, place)
    number = wording.numbers[place]
    nouns = {listed} if listed else _nouns(tokens, at, number)
    before = next((each.measure for each in reversed(tokens[:at]) if each.measure), None)
    clause = {each.text for each in tokens[:at] if each.clause == tokens[at].clause}
    supposed = bool(clause & _SUPPOSING)
    return NumberBinding(frozenset(nouns), _group(tokens, at), has, supposed, before)


def rules_out(
    binding: NumberBinding, number: WrittenNumber, roles: Sequence[NumberRole], fact: Fact
) -> bool:
    """Whether the words around a number say for sure that it is not this statistic."""
    if binding.supposed:
        return False
    if not unit_allows(number, fact, binding.nouns):
        return True
    if fact.role in _SAID_AS_SUCH and fact.role not in roles:
        return True
    if fact.role is NumberRole.CHANGE and number.unit is Unit.PERCENT and fact.role not in roles:
        return True
    if binding.group is not None and number.unit is not Unit.POINTS and _of_another(binding, fact):
        return True
    if None not in (binding.has, fact.has) and binding.has is not fact.has:
        return True
    if len(roles) == 1 and roles[0] in _SPELLED_OUT:
        return fact.role is not roles[0] or not _of_its_measure(binding, fact)
    return bool(binding.nouns) and not any(_allows(noun, fact, roles) for noun in binding.nouns)


_SAID_AS_SUCH = {NumberRole.SAMPLE, NumberRole.LEAST, NumberRole.THRESHOLD, NumberRole.NEUTRAL}
"""What a number is only where the sentence has a word for it."""
_OF_GROUPS = {NumberRole.RATE, NumberRole.COUNT, NumberRole.SAMPLE, NumberRole.VALUE}
_SPELLED_OUT = BOUNDS | {NumberRole.P, NumberRole.LEVEL, NumberRole.FREEDOM, NumberRole.TOTAL}


def _of_another(binding: NumberBinding, fact: Fact) -> bool:
    """Whether a statistic is of another group, or of none, and the number is one group's."""
    if fact.group is not None:
        return fact.group != binding.group
    plain = not binding.nouns - {Quantity.SHARE, Quantity.COUNT}
    return plain and fact.role in _OF_GROUPS and fact.measure in {None, "risk_difference"}


def _of_its_measure(binding: NumberBinding, fact: Fact) -> bool:
    """Whether a bound belongs to one of the measures that may be meant."""
    measures = {noun for noun in binding.nouns if not isinstance(noun, Quantity)}
    if fact.role not in BOUNDS:
        return True
    if not measures and not binding.nouns - {Quantity.BOUND, Quantity.LEVEL}:
        return binding.before is None or fact.measure == binding.before
    return not measures or fact.measure in measures


def _allows(noun: Noun, fact: Fact, roles: Sequence[NumberRole]) -> bool:
    if isinstance(noun, Quantity):
        return can_be(noun, fact)
    if fact.measure != noun:
        return False
    return fact.role in {*ESTIMATES, NumberRole.FREEDOM, NumberRole.THRESHOLD, *roles}


def _nouns(tokens: Sequence[Token], at: int, number: WrittenNumber) -> set[Noun]:
    direct = _part_of(tokens, at) or _behind(tokens, at, number) or _before(tokens, at)
    direct = {noun for noun in direct if _fits(number, noun)}
    clause = tokens[at].clause
    own = {each.noun for each in tokens if each.clause == clause and each.noun}
    own = own if own - {Quantity.BOUND, Quantity.LEVEL} else set()
    if direct == {Quantity.RATIO} and len(own & _OF_RATIO) == 1:
        return {*(own & _OF_RATIO)}
    if direct:
        return direct
    found = _special(own or {each.noun for each in tokens if each.noun})
    return {noun for noun in found if noun and _fits(number, noun)}


def _fits(number: WrittenNumber, noun: Noun) -> bool:
    """Whether a number with its unit can be one of a noun."""
    if number.unit is Unit.PLAIN:
        return noun is not Quantity.SHARE or number.value <= 1
    if number.unit is Unit.POINTS:
        return noun in {"risk_difference", "gap", Quantity.DIFFERENCE, Quantity.BOUND}
    if number.unit is Unit.TIMES:
        return noun not in {Quantity.P, Quantity.LEVEL, Quantity.COUNT, Quantity.TEST, Quantity.MISSING, Quantity.DIFFERENCE}
    return noun in {"risk_difference", "gap", Quantity.SHARE, Quantity.DIFFERENCE, Quantity.LEVEL, Quantity.BOUND, Quantity.P, Quantity.ODDS}  # fmt: skip


def _behind(tokens: Sequence[Token], at: int, number: WrittenNumber) -> set[Noun]:
    """Return the noun that stands right behind a number: `a 2.4 odds ratio`, `60 northerners`."""
    ahead = tokens[at + 1 : at + 5]
    passed = 0
    while passed < len(ahead) and ahead[passed].text in {"a", "an", "the", "of", "(", "as", "for"}:
        passed += 1
    if at and tokens[at - 1].text in {"at", "with"} and [t.text for t in ahead[:2]] == [",", "the"]:
        passed = 2  # "at 2.4, the odds ratio"
        return {ahead[2].measure} - {None} if len(ahead) > 2 else set()
    if passed >= len(ahead):
        return set()
    found = ahead[passed]
    if found.group is not None:
        said = {each.text for each in ahead[:passed]}
        if not said - {"the"}:
            return {Quantity.COUNT} if number.whole else set()
        return {Quantity.SHARE} if "of" in said and number.unit is Unit.PERCENT else set()
    if found.noun in {None, Quantity.BOUND, Quantity.MEAN, Quantity.LEVEL} or (passed and _leads_on(tokens, at + 1 + passed)):
        return set()
    return {found.noun} - {None} if passed == 0 or found.measure or "(" in {ahead[0].text} else set()


def _part_of(tokens: Sequence[Token], at: int) -> set[Noun]:
    """Return that a number is a count where it is so many of so many, or those so many."""
    wholes = (_whole_of(tokens, place) for place in range(max(0, at - 6), at))
    return {Quantity.COUNT} if _whole_of(tokens, at) is not None or at in wholes else set()


def _whole_of(tokens: Sequence[Token], at: int) -> int | None:
    """Return where the number stands of which a number is a part: `60 of the 200`."""
    if tokens[at].number is None:
        return None
    said = [each.text for each in tokens[at + 1 : at + 6]]
    while said and said[0] in _PART_OF:
        said.pop(0)
    place = min(at + 6, len(tokens)) - len(said)
    if place == at + 1 or place >= len(tokens) or tokens[place].number is None:
        return None
    return place


def _leads_on(tokens: Sequence[Token], at: int) -> bool:
    """Whether a noun or a group is followed by a number of its own."""
    for each in tokens[at + 1 : at + 6]:
        if each.number is not None:
            return True
        if not each.links or each.text == ",":
            return False
    return False


def _before(tokens: Sequence[Token], at: int) -> set[Noun]:
    """Return the nouns that only links separate from a number, and those they are of."""
    found: set[Noun] = set()
    joined = listed = False
    """Whether a word that joins two nouns was passed just now, or ever."""
    for each in reversed(tokens[:at]):
        if each.clause != tokens[at].clause:
            break
        if each.noun:
            found.add(each.noun)
            joined = False
        elif joined and each.text not in {"the", "a", "an"}:
            break
        elif found and (each.text in _AND or (listed and each.text == ",")):
            joined = listed = True
        elif (found and each.text == ",") or (not each.links and each.group is None):
            break
    return _special(found)


def _special(nouns: set[Noun]) -> set[Noun]:
    """Return nouns without "ratio" where it is said of what: a ratio of odds, of rates."""
    return nouns - {Quantity.RATIO} if nouns & {Quantity.ODDS, Quantity.SHARE} else nouns


def _group(tokens: Sequence[Token], at: int) -> int | None:
    """Return the group of a number: beside it, or the only one that its clause speaks of."""
    beside = _group_behind(tokens, _whole_of(tokens, at) or at)
    return _group_before(tokens, at) if beside is None else beside


def _group_behind(tokens: Sequence[Token], at: int) -> int | None:
    led = False
    for place in range(at + 1, min(at + 6, len(tokens))):
        each = tokens[place]
        if place == at + 1 and each.text == "," and at and tokens[at - 1].text == "at":
            led = True  # "at 30 %, northerners"
            continue
        if each.group is not None:
            return None if _leads_on(tokens, place) and not led else each.group
        if each.text not in _OF_GROUP and each.text != "(":
            return None
        led = led or each.text in {"of", "for", "among", "in", "from", "by"}
    return None


def _group_before(tokens: Sequence[Token], at: int) -> int | None:
    clause = tokens[at].clause
    own = [
        (place, each.group)
        for place, each in enumerate(tokens)
        if each.clause == clause and each.group is not None
    ]
    before = [(place, group) for place, group in own if place < at]
    if not before:
        return None if own else _referred_to(tokens, at)
    last, group = before[-1]
    between = tokens[last + 1 : at]
    near = len(between) <= _FARTHEST and all(each.number is None for each in between)
    if near and all(each.links or each.noun for each in between):
        return group
    if any(each.text in _ELSEWHERE for each in tokens if each.clause == clause):
        return None
    if len({group for _, group in own}) == 1:
        return group
    after = any(place > at and other != group for place, other in own)
    return group if near and not after and not _is_reference(tokens, last) else None


def _referred_to(tokens: Sequence[Token], at: int) -> int | None:
    """Return the group that "of whom" stands for: the last one named before."""
    clause = tokens[at].clause
    if not any(each.text in {"whom", "whose", "them"} for each in tokens if each.clause == clause):
        return None
    return next((each.group for each in reversed(tokens[:at]) if each.group is not None), None)


def _is_reference(tokens: Sequence[Token], at: int) -> bool:
    """Whether a group is only what another one is compared with."""
    for each in reversed(tokens[max(0, at - 4) : at]):
        if each.text in _REFERENCE:
            return True
        if not each.links and not each.noun:
            return False
    return False
