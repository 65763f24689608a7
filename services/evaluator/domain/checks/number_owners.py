"""Which measure and which group a number is of, by where they are named in its sentence."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from biaswatch.services.evaluator.domain.checks.number_roles import text_around
from biaswatch.services.evaluator.domain.checks.role_words import RATE
from biaswatch.services.evaluator.domain.checks.wording import Mention, Wording
from biaswatch.services.evaluator.domain.checks.written_numbers import Unit, occurs

T = TypeVar("T")
_BREAK = re.compile(r"[,;]|\b(?:and|while|whereas|against|versus|compared|but)\b", re.IGNORECASE)
_TURN = re.compile(r"[;]|\bwhile\b|\bwhereas\b|\bcompared\b|\bagainst\b")
_LED = re.compile(r"\s*,?\s*(?:for|among|in|of|in\s+the\s+case\s+of)\s+(?:the\s+)?", re.IGNORECASE)
_VERSUS = re.compile(r"\d\s*(?:%|per\s?cent)?\s*(?:versus|vs\.?|against)\s*\d", re.IGNORECASE)
_OUT_OF = re.compile(
    r"<n(?P<a>\d+)> and <n(?P<b>\d+)> [^<]*\bout of <n(?P<c>\d+)> (?:the )?<g(?P<one>[01])>"
    r"[^<]*<n(?P<d>\d+)> (?:the )?<g(?P<two>[01])>"
)
_FIRST_IS = re.compile(
    r"<n(?P<one>\d+)> (?:versus|vs\.?|against|and|to|\+|/) <n(?P<two>\d+)>(?!.*<n)[^<]*<g(?P<group>[01])> first"
    r"|<n(?P<a>\d+)> \+ <n(?P<b>\d+)>.*\bfirst \w+ (?:being|is|are) <g(?P<c>[01])>"
)
"""Two numbers, of which the first is said to be a group's."""
_QUOTIENT = re.compile(
    r"\b(?P<of>odds|rates?|shares?|proportions?|percentages?|risks?|probabilit(?:y|ies)|chances?)\b[^;<]*<g(?P<one>[01])>[^;<]{0,40}?\b(?:divided by|over|relative to)\b[^;<]*<g(?P<two>[01])>[^;<]{0,60}?<n(?P<number>\d+)>(?! ?%)"
)
_PART_OF = re.compile(r"\s*(?:of|out\s+of|/|in)\s*(?:the\s+|all\s+)*", re.IGNORECASE)


def measure_of_number(wording: Wording, place: int) -> str | None:
    """Return the measure that a number is said to be of: the nearest before it, or just behind."""
    number = wording.numbers[place]
    behind = [m for m in wording.measures if m.start >= number.end]
    if behind:
        gap = wording.text[number.end : behind[0].start]
        if re.fullmatch(
            r"[\s(]*(?:(?:for|as|is|of)\s+)?(?:the\s+|an?\s+|its\s+)?", gap, re.IGNORECASE
        ):
            return behind[0].measure
    before = [m for m in wording.measures if m.end <= number.start]
    if before:
        return before[-1].measure
    if occurs(RATE, wording.text, 0, number.start) and not behind and number.unit is not Unit.TIMES:
        return None
    return behind[0].measure if behind and wording.carried is None else wording.carried


def group_of_number(wording: Wording, place: int) -> int | None:
    """Return the group a number is said to be of: just behind it, else before, else behind."""
    before, after = text_around(wording, place)
    number = wording.numbers[place]
    first = number.start - len(before)
    if place + 1 < len(wording.numbers) and _PART_OF.fullmatch(after):
        behind = _group_behind(wording, place + 1)
        return _group_before(wording, place, first) if behind is None else behind
    if (group := _group_beside(wording, place)) is not None:
        return group
    close = next((g for g in wording.groups if g.start >= number.end), None)
    led = re.search(r"\b(?:at|with)\s*$", before, re.IGNORECASE)
    if (
        close
        and led
        and re.fullmatch(r"\s*,\s*(?:the\s+)?", wording.text[number.end : close.start])
    ):
        return close.group
    behind = _group_behind(wording, place)
    back = [g for g in wording.groups if first <= g.start < number.start]
    if behind is not None and (
        not back or _BREAK.search(wording.text[back[-1].end : number.start])
    ):
        return behind
    return _group_before(wording, place, first)


def _group_beside(wording: Wording, place: int) -> int | None:
    """Return the group whose name stands right behind a number."""
    end = wording.numbers[place].end
    ahead = next((g for g in wording.groups if g.start >= end), None)
    if ahead is None or not re.fullmatch(r"\s*\(?(?:the\s+)?", wording.text[end : ahead.start]):
        return None
    return ahead.group


def _group_behind(wording: Wording, place: int) -> int | None:
    """Return the group that a number's own words lead to: `of the men`, `was seen for men`."""
    _, after = text_around(wording, place)
    number = wording.numbers[place]
    ahead = [g for g in wording.groups if number.end <= g.start < number.end + len(after)]
    if not ahead:
        return None
    gap = wording.text[number.end : ahead[0].start]
    direct = re.fullmatch(
        r"\s*(?:of\s+(?:them|these|those|whom)\s+)?(?:were\s+|are\s+)?(?:all\s+|the\s+)*"
        r"|\s*of\s+(?:the\s+)?cases\s+(?:where|with|among|in\s+which)\s+(?:the\s+)?"
        r"|\s*where\s+(?:the\s+)?",
        gap,
        re.IGNORECASE,
    )
    led = re.search(
        r"\b(?:for|of|among|in|by|from|to|concern(?:s|ed)?)\s+(?:all\s+|the\s+|first\s+|second\s+|other\s+|group\s+|\()*$",
        gap,
        re.IGNORECASE,
    )
    return ahead[0].group if direct or (led and not _BREAK.search(gap)) else None


def _group_before(wording: Wording, place: int, first: int) -> int | None:
    number = wording.numbers[place]
    back = [g for g in wording.groups if first <= g.start < number.start]
    if back:
        return back[-1].group
    earlier = [g for g in wording.groups if g.start < number.start]
    if earlier and not occurs(_TURN, wording.text, earlier[-1].end, number.start):
        return earlier[-1].group
    return None


def out_of_groups(wording: Wording) -> dict[int, int]:
    """Return the groups of "A and B events, out of C men and D women": A's are C's."""
    if named := _FIRST_IS.search(wording.pattern):
        first = int(named["group"] or named["c"])
        return {int(named["one"] or named["a"]): first, int(named["two"] or named["b"]): 1 - first}
    match = _OUT_OF.search(wording.pattern)
    if not match:
        return {}
    one, two = int(match["one"]), int(match["two"])
    return {int(match["a"]): one, int(match["c"]): one, int(match["b"]): two, int(match["d"]): two}


def quotients(wording: Wording) -> dict[int, str | None]:
    """Return the measure of "the rate of A divided by the rate of B is ..."."""
    match = _QUOTIENT.search(wording.pattern)
    if not match or (match["one"], match["two"]) != ("0", "1"):
        return {}
    return {int(match["number"]): "odds_ratio" if match["of"] == "odds" else "relative_risk"}


def listed(
    wording: Wording, mentions: Sequence[Mention], of: Callable[[Mention], T]
) -> dict[int, T]:
    """Return what numbers are of where two things, then two numbers, stand side by side."""
    owners: dict[int, T] = {}
    for first, second in pairwise(mentions):
        joined = wording.text[first.end : second.start]
        if not re.fullmatch(
            r"\s*(?:,?\s*and|,|versus|vs\.?)\s+(?:the\s+|an?\s+)?", joined, re.IGNORECASE
        ):
            continue
        if of(first) == of(second):
            continue
        places = [p for p, n in enumerate(wording.numbers) if n.start >= second.end][:2]
        versus_first = _VERSUS.search(wording.text[: first.start]) is not None
        earlier = [p for p, n in enumerate(wording.numbers) if n.end <= first.start][-2:]
        led = earlier and _LED.fullmatch(
            wording.text[wording.numbers[earlier[-1]].end : first.start]
        )
        if not places and (led or versus_first or "respectively" in wording.text[second.end :]):
            places = earlier
        if len(places) < 2:
            continue
        one, two = (wording.numbers[p] for p in places)
        within = wording.text[one.end : two.start]
        between = any(second.end <= m.start < two.start for m in mentions)
        if (
            re.fullmatch(
                r"\s*,?\s*(?:and|versus|vs\.?|against|compared\s+with)\s+", within, re.IGNORECASE
            )
            and not between
        ):
            owners[places[0]], owners[places[1]] = of(first), of(second)
    return owners
