"""Which group a number is of: the one beside it, or the only one that its clause speaks of."""

from collections.abc import Sequence

from biaswatch.services.evaluator.domain.checks.clauses import Token, leads_on, whole_of
from biaswatch.services.evaluator.domain.checks.phrases import word_set

_REFERENCE = word_set("than with to against versus vs vs. unlike over from beside")
_OF_GROUP = word_set(
    "of for among in from by the all those these were are within them whom"
    " cases where which concern concerned group groups category class side"
)
"""What may stand between a number and the group it is of."""
_ELSEWHERE = word_set(
    "other others both rest overall combined pooled together everyone everybody"
    " whole sample all total average each either neither they their them counterparts peers"
    " opposite elsewhere reference comparison baseline latter former"
)
"""Words that may mean a group, or both of them, without a name."""
_COPULAS = word_set("is was are were being makes equals gives represents describes")
_RESTATED = word_set("or giving making which")
"""What begins a clause that says the same of the same group."""
_LEADS = word_set("of for among in amongst from")
_FARTHEST = 14
"""Tokens between a group and a number that it is taken to be the subject of."""


def group_at(tokens: Sequence[Token], at: int) -> int | None:
    """Return the group of a number: beside it, or the only one that its clause speaks of."""
    beside = _group_behind(tokens, whole_of(tokens, at) or at)
    if beside is None:
        beside = _group_of_subject(tokens, at)
    if beside is None:
        beside = _group_in_brackets(tokens, whole_of(tokens, at) or at)
    return _group_before(tokens, at) if beside is None else beside


def _group_behind(tokens: Sequence[Token], at: int) -> int | None:
    led = False
    for place in range(at + 1, min(at + 6, len(tokens))):
        each = tokens[place]
        if place == at + 1 and each.text == "," and at and tokens[at - 1].text == "at":
            led = True  # "at 30 %, northerners"
            continue
        if each.group is not None:
            following = [t.text for t in tokens[place + 1 : place + 2]]
            beside = place == at + 1 and following in (["("], ["out"])
            return None if leads_on(tokens, place) and not (led or beside) else each.group
        if each.text not in _OF_GROUP and each.text != "(":
            return None
        led = led or each.text in {"of", "for", "among", "in", "from", "by"}
    return None


def _group_in_brackets(tokens: Sequence[Token], at: int) -> int | None:
    """Return the group that follows a number in brackets: `30 on the one hand (men)`."""
    for place in range(at + 1, min(at + _FARTHEST, len(tokens) - 2)):
        each = tokens[place]
        if each.number is not None or each.group is not None or each.clause != tokens[at].clause:
            return None
        if each.text in "([":
            return _only_group_within(tokens, place)
    return None


def _only_group_within(tokens: Sequence[Token], opened: int) -> int | None:
    """Return the group that brackets name, where they say nothing else: `(group: men)`."""
    within: list[Token] = []
    for each in tokens[opened + 1 : opened + 6]:
        if each.text in ")]":
            break
        within.append(each)
    named = {each.group for each in within if each.group is not None}
    plain = all(each.group is not None or each.text in _OF_GROUP | {":", "the"} for each in within)
    return named.pop() if len(named) == 1 and plain else None


def _group_of_subject(tokens: Sequence[Token], at: int) -> int | None:
    """Return the group behind a number that its clause begins with: `15 % is the rate for men`."""
    clause = tokens[at].clause
    opening = at == 0 or tokens[at - 1].clause != clause or tokens[at - 1].text in {",", "and"}
    ahead = tokens[at + 1 : at + 1 + _FARTHEST]
    if not (opening and ahead and ahead[0].text in _COPULAS):
        return None
    for place, each in enumerate(ahead):
        if each.group is not None:
            led = ahead[place - 1].text in _LEADS or (
                ahead[place - 1].text == "the" and ahead[place - 2].text in _LEADS
            )
            return each.group if led else None
        if each.number is not None or each.clause != clause or not (each.links or each.noun):
            return None
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
        return _led_to(tokens, own) if own else _referred_to(tokens, at)
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


def _led_to(tokens: Sequence[Token], own: Sequence[tuple[int, int | None]]) -> int | None:
    """Return the only group of a clause, where words lead to it: `60 yes and 140 no for women`."""
    place, group = own[0]
    led = tokens[place - 1].text in {"for", "of", "among", "in"} or tokens[place - 1].text == "the"
    return group if led and len({each for _, each in own}) == 1 else None


def _referred_to(tokens: Sequence[Token], at: int) -> int | None:
    """Return the group that "of whom" stands for: the last one named before."""
    clause = tokens[at].clause
    own = [each.text for each in tokens if each.clause == clause]
    if own[0] in _RESTATED and not _ELSEWHERE & {*own}:
        said = [each for each in tokens[:at] if each.group is not None]
        earlier = {each.group for each in said}
        earlier = (
            earlier if len(earlier) == 1 else {e.group for e in said if e.clause == clause - 1}
        )
        return earlier.pop() if len(earlier) == 1 else None
    if not {"whom", "whose", "them"} & {*own}:
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
