"""What the words around a number say for sure: its noun, its group, its role.

A number is bound for sure by a noun that only links separate from it ("a relative risk of 2.0"), by
the one group of its own clause or one beside it ("15 % of the women"), and by a role that is spelled
out ("lower bound", "p ="). Otherwise every noun of its clause, and every group, may be meant.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.services.evaluator.domain.checks.clauses import (
    Token,
    index_of_number,
    leads_on,
    tokens_of,
    whole_of,
)
from biaswatch.services.evaluator.domain.checks.facts import MEANS, Fact, NumberRole
from biaswatch.services.evaluator.domain.checks.number_groups import group_at
from biaswatch.services.evaluator.domain.checks.phrases import word_set
from biaswatch.services.evaluator.domain.checks.quantity_words import (
    BOUNDS,
    ESTIMATES,
    Quantity,
    can_be,
    unit_allows,
)
from biaswatch.services.evaluator.domain.checks.wording import Wording
from biaswatch.services.evaluator.domain.checks.written_numbers import Unit, WrittenNumber

_OF_RATIO = {Quantity.ODDS, Quantity.SHARE}
Noun = str | Quantity
"""The name of a measure, or a quantity."""
_POSSESSIVE = word_set("its their whose")
_SUPPOSING = word_set("if suppose supposing imagine")
_SUBTRACTS = ("subtract", "deduct")
_AND = word_set("and or versus vs / &")


@dataclass(frozen=True)
class NumberBinding:
    """What the words around a number leave possible."""

    nouns: frozenset[Noun]
    """What it may be a number of; nothing where no noun says."""
    group: int | None
    """The group it is of, where that is said beyond doubt."""
    has: bool | None = None
    """True if it counts cases with the outcome, or without; None where that is not said."""
    direct: bool = False
    """True if its noun stands beside it, or only links between."""
    part: bool = False
    """True if it is so many of so many."""
    supposed: bool = False
    """True if its clause only supposes something: what is said there is nobody's statement."""
    before: str | None = None
    """The measure that was named last before it: what an interval without a name is of."""


def binding_of(
    wording: Wording, place: int, listed: Noun | None, has: bool | None
) -> NumberBinding:
    """Return what is said of a number; `listed` is the measure it has in a list of two."""
    tokens = tokens_of(wording.pattern)
    at = index_of_number(tokens, place)
    number = wording.numbers[place]
    direct = {listed} if listed else _direct(tokens, at, number)
    nouns = direct or _around(tokens, at, number)
    clause = {token.text for token in tokens[:at] if token.clause == tokens[at].clause}
    named = [token.measure for token in tokens[:at] if token.measure]
    several = bool(clause & _POSSESSIVE) and len(set(named)) > 1
    before = named[-1] if named and not several else None
    supposed = bool(clause & _SUPPOSING)
    return NumberBinding(
        nouns=frozenset(nouns),
        group=group_at(tokens, at),
        has=has,
        direct=bool(direct),
        part=whole_of(tokens, at) is not None,
        supposed=supposed,
        before=before,
    )


def rules_out(
    binding: NumberBinding, number: WrittenNumber, roles: Sequence[NumberRole], fact: Fact
) -> bool:
    """Tell whether the words around a number say for sure that it is not this statistic."""
    only_supposed = binding.supposed and tuple(roles) != (NumberRole.P,)
    if only_supposed or _may_be_chance(binding, fact):
        return False
    of_chance = tuple(roles) == (NumberRole.P,) == (fact.role,)
    if not of_chance and not unit_allows(number, fact, binding.nouns):
        return True
    explicit_roles = {*_SAID_AS_SUCH} | (
        {NumberRole.CHANGE} if number.unit != Unit.TIMES else set()
    )
    explicit_roles |= {NumberRole.INVERSE} if number.unit is Unit.PERCENT else set()
    explicit_roles |= BOUNDS if number.unit is Unit.TIMES else set()
    if fact.role in explicit_roles and fact.role not in roles:
        return True
    another = number.unit is not Unit.POINTS and is_of_another(binding, fact)
    if another or _is_opposite(binding, fact):
        return True
    if len(roles) == 1 and roles[0] in _SPELLED_OUT:
        return fact.role is not roles[0] or not _of_its_measure(binding, fact)
    if not binding.direct and binding.nouns <= {Quantity.BOUND, Quantity.LEVEL}:
        return False  # an interval elsewhere in the sentence says nothing of this number
    return bool(binding.nouns) and not any(_allows(noun, fact, roles) for noun in binding.nouns)


def _is_opposite(binding: NumberBinding, fact: Fact) -> bool:
    return None not in (binding.has, fact.has) and binding.has is not fact.has


def _may_be_chance(binding: NumberBinding, fact: Fact) -> bool:
    """Tell whether a number of no group may be a p-value in words: "with a probability of"."""
    alone = binding.group is None and binding.has is None
    return fact.role is NumberRole.P and alone and bool(binding.nouns & _OF_CHANCE)


_OF_CHANCE = {Quantity.SHARE, Quantity.MISSING, Quantity.TEST, Quantity.COUNT, Quantity.DIFFERENCE}
_SAID_AS_SUCH = {NumberRole.SAMPLE, NumberRole.LEAST, NumberRole.THRESHOLD, NumberRole.NEUTRAL}
"""What a number is only where the sentence has a word for it."""
_OF_GROUPS = {NumberRole.RATE, NumberRole.COUNT, NumberRole.SAMPLE, NumberRole.VALUE}
_SPELLED_OUT = BOUNDS | {NumberRole.P, NumberRole.LEVEL, NumberRole.FREEDOM, NumberRole.TOTAL}


def is_of_another(binding: NumberBinding, fact: Fact) -> bool:
    """Tell whether a statistic is of another group, or of none, and the number is one group's."""
    if binding.group is None or fact.measure in binding.nouns:
        return False
    if fact.group is not None:
        return fact.group != binding.group
    plain = not binding.nouns - {Quantity.SHARE, Quantity.COUNT}
    return plain and fact.role in _OF_GROUPS and fact.measure in {None, "risk_difference"}


def _of_its_measure(binding: NumberBinding, fact: Fact) -> bool:
    """Tell whether a bound belongs to one of the measures that may be meant."""
    measures = {noun for noun in binding.nouns if not isinstance(noun, Quantity)}
    if fact.role not in BOUNDS:
        return True
    if not measures and not binding.nouns - {Quantity.BOUND, Quantity.LEVEL}:
        return binding.before is None or fact.measure == binding.before
    return not measures or fact.measure in measures


def _allows(noun: Noun, fact: Fact, roles: Sequence[NumberRole]) -> bool:
    if fact.role is NumberRole.P and fact.role in roles and noun is Quantity.SHARE:
        return True  # "a probability of"
    if fact.role is NumberRole.NEUTRAL and fact.role in roles:
        return True  # "a ratio of 1 means"
    if isinstance(noun, Quantity):
        return can_be(noun, fact)
    if fact.measure != noun:
        return False
    return fact.role in {*ESTIMATES, NumberRole.FREEDOM, NumberRole.THRESHOLD, *roles}


def _direct(tokens: Sequence[Token], at: int, number: WrittenNumber) -> set[Noun]:
    """Return the nouns that stand beside a number, or that only links separate from it."""
    bracketed = at > 1 and tokens[at - 1].text == "(" and tokens[at - 2].group is not None
    if bracketed and number.unit is Unit.PERCENT:
        return {Quantity.SHARE}
    clause = (token.text for token in tokens[:at] if token.clause == tokens[at].clause)
    if any(word.startswith(_SUBTRACTS) for word in clause):
        return {Quantity.DIFFERENCE}
    nouns = _part_of(tokens, at) or _behind(tokens, at, number) or _before(tokens, at)
    direct = {noun for noun in nouns if _fits(number, noun)}
    if direct == {Quantity.RATIO}:
        of = _OF_RATIO & _own(tokens, at) or _OF_RATIO & {token.quantity for token in tokens}
        return {*of} if len(of) == 1 else direct
    return direct


def _around(tokens: Sequence[Token], at: int, number: WrittenNumber) -> set[Noun]:
    """Return all nouns of a number's clause, or else of its sentence."""
    nouns = _special(_own(tokens, at) or {token.noun for token in tokens if token.noun})
    # One group's mean named in the clause: "that of" may mean the other's.
    nouns = {Quantity.MEAN if noun in MEANS else noun for noun in nouns if noun}
    if number.unit is Unit.PERCENT and nouns:
        nouns = {*nouns, Quantity.SHARE}
    return {noun for noun in nouns if _fits(number, noun)}


def _own(tokens: Sequence[Token], at: int) -> set[Noun]:
    """Return the nouns of a number's clause, where one of them is more than an interval."""
    own = {token.noun for token in tokens if token.clause == tokens[at].clause and token.noun}
    return own if own - {Quantity.BOUND, Quantity.LEVEL} else set()


def _fits(number: WrittenNumber, noun: Noun) -> bool:
    """Tell whether a number with its unit can be one of a noun."""
    if number.unit is Unit.PLAIN:
        return noun is not Quantity.SHARE or not number.whole or number.value <= 1
    if number.unit is Unit.POINTS:
        return noun in {"risk_difference", "gap", Quantity.DIFFERENCE, Quantity.BOUND}
    if number.unit is Unit.TIMES:
        return noun not in {
            Quantity.P,
            Quantity.LEVEL,
            Quantity.COUNT,
            Quantity.TEST,
            Quantity.MISSING,
            Quantity.DIFFERENCE,
        }
    return noun in {"risk_difference", "gap", Quantity.SHARE, Quantity.DIFFERENCE, Quantity.LEVEL, Quantity.BOUND, Quantity.P, Quantity.ODDS}  # fmt: skip


def _behind(tokens: Sequence[Token], at: int, number: WrittenNumber) -> set[Noun]:
    """Return the noun that stands right behind a number: `a 2.4 odds ratio`, `60 northerners`."""
    ahead = tokens[at + 1 : at + 5]
    passed = 0
    while passed < len(ahead) and ahead[passed].text in {"a", "an", "the", "of", "(", "as", "for"}:
        passed += 1
    if at and tokens[at - 1].text in {"at", "with"} and [t.text for t in ahead[:2]] == [",", "the"]:
        # "at 2.4, the odds ratio"
        named = ahead[2].measure if len(ahead) > 2 else None
        return {named} if named else set()
    if passed >= len(ahead):
        return set()
    noun = ahead[passed]
    if noun.group is not None:
        passed_words = {token.text for token in ahead[:passed]}
        if not passed_words - {"the"}:
            return {Quantity.COUNT} if number.whole else set()
        return {Quantity.SHARE} if "of" in passed_words and number.unit is Unit.PERCENT else set()
    if noun.noun in {None, Quantity.BOUND, Quantity.MEAN, Quantity.LEVEL} or (
        passed and leads_on(tokens, at + 1 + passed)
    ):
        return set()
    return {noun.noun} - {None} if passed == 0 or noun.measure or "(" in {ahead[0].text} else set()


def _part_of(tokens: Sequence[Token], at: int) -> set[Noun]:
    """Return that a number is a count where it is so many of so many, or those so many."""
    wholes = (whole_of(tokens, place) for place in range(max(0, at - 6), at))
    return {Quantity.COUNT} if whole_of(tokens, at) is not None or at in wholes else set()


def _is_of_no_other(tokens: Sequence[Token], place: int, at: int) -> bool:
    """Tell whether a noun says nothing of a number: "the number 1", "on 400 cases gave 12.9"."""
    token = tokens[place]
    if token.text == "number" and place == at - 1:
        return True
    return token.noun is Quantity.COUNT and place > 0 and tokens[place - 1].number is not None


def _before(tokens: Sequence[Token], at: int) -> set[Noun]:
    """Return the nouns that only links separate from a number, and those they are of."""
    nouns: set[Noun] = set()
    joined = listed = False
    """Tell whether a word that joins two nouns was passed just now, or ever."""
    for place in reversed(range(at)):
        token = tokens[place]
        if token.clause != tokens[at].clause:
            break
        if _is_of_no_other(tokens, place, at):
            continue
        if token.noun:
            nouns.add(token.noun)
            joined = False
        elif joined and token.text not in {"the", "a", "an"}:
            break
        elif nouns and (token.text in _AND or (listed and token.text == ",")):
            joined = listed = True
        elif (nouns and token.text == ",") or (not token.links and token.group is None):
            break
    return _special(nouns)


def _special(nouns: set[Noun]) -> set[Noun]:
    """Return nouns without "ratio" where it is said of what: a ratio of odds, of rates."""
    return nouns - {Quantity.RATIO} if nouns & {Quantity.ODDS, Quantity.SHARE} else nouns
