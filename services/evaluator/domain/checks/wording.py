"""What a sentence names: measures, groups and numbers, each at its place."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from biaswatch.services.evaluator.domain.checks.measure_words import MEASURE_WORDS
from biaswatch.services.evaluator.domain.checks.phrases import one_of, sought, word_set
from biaswatch.services.evaluator.domain.checks.written_numbers import (
    BEFORE,
    WrittenNumber,
    masked,
    numbers_in,
)
from biaswatch.shared.contracts import Subject

SHORT = 3
COMMON_WORDS = word_set(
    "all and any are both but each few for had has her his its less low many more most none not one"
    " other others out own same she some the they two was were who with yes"
)
"""Names of groups that sentences use for other things; so is whatever is shorter than `SHORT`."""
_ORDINALS = (r"(?:the\s+)?first\s+group|group\s+1", r"(?:the\s+)?second\s+group|group\s+2")

_AGAIN = sought(r"\bthe\s+(former|latter)\b")
_LABELLED = one_of(
    "tables?, figures?, exhibits?, charts?, annex(?:es)?, chapters?, pages?, boxes, box, parts?,"
    " questions?, lines?, graphs?, notes?, items?, equations?, steps?, slides?, fig\\., columns?,"
    " rows?, sections?, appendix, footnotes?, panels?, models?"
)
_LABEL = sought(rf"\b{_LABELLED}\s*$")
"""What stands before a number that only says which table or section is meant."""


@dataclass(frozen=True)
class Mention:
    """A measure or a group, named at a place."""

    start: int
    end: int
    measure: str | None = None
    group: int | None = None


@dataclass(frozen=True)
class Wording:
    """A sentence and what it names; places count in `text`."""

    text: str
    measures: Sequence[Mention]
    groups: Sequence[Mention]
    numbers: Sequence[WrittenNumber]
    carried: str | None = None
    """The measure that the sentences before spoke of last."""
    pattern: str = field(default="", compare=False)
    """The text in lower case with `<g0>`, `<m:odds_ratio>`, `<n3>` in place of what is named."""

    @property
    def last_measure(self) -> str | None:
        """The measure a next sentence may mean by `it`."""
        return self.measures[-1].measure if self.measures else self.carried


def wording_of(sentence: str, subject: Subject, carried: str | None = None) -> Wording:
    """Return what a sentence names, in the words of a subject."""
    text = masked(sentence)
    measures = [
        Mention(start, end, measure=str(name))
        for start, end, name in _measure_words(subject).found_in(text)
    ]
    taken = [(each.start, each.end) for each in measures]
    groups = [
        Mention(start, end, group=int(number))
        for start, end, number in _group_words(subject.groups).found_in(text)
        if not any(first < end and start < last for first, last in taken)
    ]
    groups = sorted(
        [
            *_in_order_of_names(text, groups),
            *_named_again(text, groups),
            *_second_alone(text, groups),
        ],
        key=lambda each: each.start,
    )
    numbers = [
        each
        for each in numbers_in(text)
        if not _LABEL.search(text[max(0, each.start - BEFORE) : each.start])
        and not any(m.start <= each.start and each.end <= m.end for m in (*measures, *groups))
    ]
    found = Wording(text, measures, groups, numbers, carried)
    return replace(found, pattern=_pattern(found))


def _in_order_of_names(text: str, groups: Sequence[Mention]) -> list[Mention]:
    """Return the groups; behind both names, "the second group" is the one that was named second."""
    found: list[Mention] = []
    named: dict[int | None, None] = {}
    for each in sorted(groups, key=lambda each: each.start):
        said = text[each.start : each.end]
        second = re.fullmatch(_ORDINALS[1], said, re.IGNORECASE) is not None
        if second or re.fullmatch(_ORDINALS[0], said, re.IGNORECASE):
            found.append(replace(each, group=list(named)[second]) if len(named) == 2 else each)
        else:
            named[each.group] = None
            found.append(each)
    return found


def _named_again(text: str, groups: Sequence[Mention]) -> list[Mention]:
    """Return where two groups are called the former and the latter, in the order of their names."""
    order = list(dict.fromkeys(each.group for each in groups))
    if len(order) != 2:
        return []
    return [
        Mention(each.start(), each.end(), group=order[each[1].lower() == "latter"])
        for each in _AGAIN.finditer(text)
        if each.start() > groups[1].start
    ]


def _second_alone(text: str, groups: Sequence[Mention]) -> list[Mention]:
    """Return where "the second" stands for the second group, behind "the first group"."""
    first = re.search(r"\bfirst\s+group\b", text, re.IGNORECASE)
    if not first or {each.group for each in groups} != {0}:
        return []
    found = re.compile(r"\bthe\s+second\b", re.IGNORECASE).search(text, first.end())
    return [Mention(found.start(), found.end(), group=1)] if found else []


def _pattern(found: Wording) -> str:
    """Return the sentence with a token for everything that is named."""
    tokens = [(m.start, m.end, f"<m:{m.measure}>") for m in found.measures]
    tokens += [(g.start, g.end, f"<g{g.group}>") for g in found.groups]
    tokens += [(n.start, n.end, f"<n{place}>") for place, n in enumerate(found.numbers)]
    pieces, at = list[str](), 0
    for start, end, token in sorted(tokens):
        pieces += [found.text[at:start], f" {token} "]
        at = max(at, end)
    return " ".join("".join([*pieces, found.text[at:]]).lower().split())


@dataclass(frozen=True)
class NamedPatterns:
    """One pattern for several names; what it finds is the name at the number of its group."""

    names: tuple[str | int, ...]
    pattern: re.Pattern[str]

    def found_in(self, text: str) -> Iterator[tuple[int, int, str | int]]:
        """Return where each name stands, and which."""
        for found in self.pattern.finditer(text):
            yield found.start(), found.end(), self.names[int(str(found.lastgroup)[1:])]


@lru_cache(maxsize=64)
def _compiled(words: tuple[tuple[str | int, str], ...]) -> NamedPatterns:
    joined = "|".join(f"(?P<n{place}>{each})" for place, (_, each) in enumerate(words))
    # Without any name nothing is found.
    pattern = re.compile(joined or r"(?!)", re.IGNORECASE)
    return NamedPatterns(tuple(name for name, _ in words), pattern)


def _measure_words(subject: Subject) -> NamedPatterns:
    """Return a pattern of the measures a subject has, their own labels before other words."""
    have = {measure.name: measure.label for measure in subject.measures}
    labelled = sorted(have, key=lambda name: -len(have[name]))
    order = list(MEASURE_WORDS)
    known = sorted(labelled, key=lambda name: order.index(name) if name in order else -1)
    found = []
    for name in known:
        own = rf"(?<!\w){re.escape(have[name])}s?(?!\w)"
        found.append((name, f"{own}|{MEASURE_WORDS[name]}" if name in MEASURE_WORDS else own))
    return _compiled(tuple(found))


def _group_words(groups: tuple[str, str]) -> NamedPatterns:
    """Return a pattern of two names; one that is a common word too counts behind `group` alone."""
    found: list[tuple[str | int, str]] = []
    for number, name in enumerate(groups):
        own = rf"(?<!\w){re.escape(name)}(?!\w)"
        if len(name) < SHORT or name.lower() in COMMON_WORDS:
            own = rf"\bgroups?\s+{re.escape(name)}(?!\w)"
        elif name.endswith("s") and len(name) > SHORT:
            own += rf"|(?<!\w){re.escape(name[:-1])}(?!\w)"
        else:
            own += rf"|(?<!\w){re.escape(name)}s(?!\w)"
        found.append((number, f"{own}|{_ORDINALS[number]}"))
    found.sort(key=lambda each: -len(groups[int(each[0])]))
    return _compiled(tuple(found))
