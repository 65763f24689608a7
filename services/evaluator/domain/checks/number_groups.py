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
    group = _group_behind(tokens, whole_of(tokens, at) or at)
    if group is None:
        group = _group_of_subject(tokens, at)
    if group is None:
        group = _group_in_brackets(tokens, whole_of(tokens, at) or at)
    return _group_before(tokens, at) if group is None else group


def _group_behind(tokens: Sequence[Token], at: int) -> int | None:
    led = False
    for place in range(at + 1, min(at + 6, len(tokens))):
        token = tokens[place]
        if place == at + 1 and token.text == "," and at and tokens[at - 1].text == "at":
            led = True  # "at 30 %, northerners"
            continue
        if token.group is not None:
            following = [t.text for t in tokens[place + 1 : place + 2]]
            adjacent = place == at + 1 and following in (["("], ["out"])
            return None if leads_on(tokens, place) and not (led or adjacent) else token.group
        if token.text not in _OF_GROUP and token.text != "(":
            return None
        led = led or token.text in {"of", "for", "among", "in", "from", "by"}
    return None


def _group_in_brackets(tokens: Sequence[Token], at: int) -> int | None:
    """Return the group that follows a number in brackets: `30 on the one hand (men)`."""
    for place in range(at + 1, min(at + _FARTHEST, len(tokens) - 2)):
        token = tokens[place]
        if token.number is not None or token.group is not None or token.clause != tokens[at].clause:
            return None
        if token.text in "([":
            return _only_group_within(tokens, place)
    return None


def _only_group_within(tokens: Sequence[Token], opened: int) -> int | None:
    """Return the group that brackets name, where they say nothing else: `(group: men)`."""
    within: list[Token] = []
    for token in tokens[opened + 1 : opened + 6]:
        if token.text in ")]":
            break
        within.append(token)
    named = {token.group for token in within if token.group is not None}
    plain = all(
        token.group is not None or token.text in _OF_GROUP | {":", "the"} for token in within
    )
    return named.pop() if len(named) == 1 and plain else None


def _group_of_subject(tokens: Sequence[Token], at: int) -> int | None:
    """Return the group behind a number that its clause begins with: `15 % is the rate for men`."""
    clause = tokens[at].clause
    opening = at == 0 or tokens[at - 1].clause != clause or tokens[at - 1].text in {",", "and"}
    ahead = tokens[at + 1 : at + 1 + _FARTHEST]
    if not (opening and ahead and ahead[0].text in _COPULAS):
        return None
    for place, token in enumerate(ahead):
        if token.group is not None:
            led = ahead[place - 1].text in _LEADS or (
                ahead[place - 1].text == "the" and ahead[place - 2].text in _LEADS
            )
            return token.group if led else None
        if token.number is not None or token.clause != clause or not (token.links or token.noun):
            return None
    return None


def _group_before(tokens: Sequence[Token], at: int) -> int | None:
    clause = tokens[at].clause
    own = [
        (place, token.group)
        for place, token in enumerate(tokens)
        if token.clause == clause and token.group is not None
    ]
    before = [(place, group) for place, group in own if place < at]
    if not before:
        return _led_to(tokens, own) if own else _referred_to(tokens, at)
    last, group = before[-1]
    between = tokens[last + 1 : at]
    near = len(between) <= _FARTHEST and all(token.number is None for token in between)
    if near and all(token.links or token.noun for token in between):
        return group
    if any(token.text in _ELSEWHERE for token in tokens if token.clause == clause):
        return None
    if len({group for _, group in own}) == 1:
        return group
    after = any(place > at and other != group for place, other in own)
    return group if near and not after and not _is_reference(tokens, last) else None


def _led_to(tokens: Sequence[Token], own: Sequence[tuple[int, int | None]]) -> int | None:
    """Return the only group of a clause, where words lead to it: `60 yes and 140 no for women`."""
    place, group = own[0]
    led = tokens[place - 1].text in {"for", "of", "among", "in"} or tokens[place - 1].text == "the"
    return group if led and len({group_ for _, group_ in own}) == 1 else None


def _referred_to(tokens: Sequence[Token], at: int) -> int | None:
    """Return the group that "of whom" stands for: the last one named before."""
    clause = tokens[at].clause
    own = [token.text for token in tokens if token.clause == clause]
    if own[0] in _RESTATED and not _ELSEWHERE & {*own}:
        named = [token for token in tokens[:at] if token.group is not None]
        earlier = {token.group for token in named}
        earlier = (
            earlier if len(earlier) == 1 else {e.group for e in named if e.clause == clause - 1}
        )
        return earlier.pop() if len(earlier) == 1 else None
    if not {"whom", "whose", "them"} & {*own}:
        return None
    return next((token.group for token in reversed(tokens[:at]) if token.group is not None), None)


def _is_reference(tokens: Sequence[Token], at: int) -> bool:
    """Tell whether a group is only what another one is compared with."""
    for token in reversed(tokens[max(0, at - 4) : at]):
        if token.text in _REFERENCE:
            return True
        if not token.links and not token.noun:
            return False
    return False
