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
    taken = [(mention.start, mention.end) for mention in measures]
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
        key=lambda mention: mention.start,
    )
    numbers = [
        mention
        for mention in numbers_in(text)
        if not _LABEL.search(text[max(0, mention.start - BEFORE) : mention.start])
        and not any(m.start <= mention.start and mention.end <= m.end for m in (*measures, *groups))
    ]
    wording = Wording(text, measures, groups, numbers, carried)
    return replace(wording, pattern=_pattern(wording))


def _in_order_of_names(text: str, groups: Sequence[Mention]) -> list[Mention]:
    """Return the groups; behind both names, "the second group" is the one that was named second."""
    mentions: list[Mention] = []
    named: dict[int | None, None] = {}
    for mention in sorted(groups, key=lambda mention: mention.start):
        phrase = text[mention.start : mention.end]
        second = re.fullmatch(_ORDINALS[1], phrase, re.IGNORECASE) is not None
        if second or re.fullmatch(_ORDINALS[0], phrase, re.IGNORECASE):
            mentions.append(
                replace(mention, group=list(named)[second]) if len(named) == 2 else mention
            )
        else:
            named[mention.group] = None
            mentions.append(mention)
    return mentions


def _named_again(text: str, groups: Sequence[Mention]) -> list[Mention]:
    """Return where two groups are called the former and the latter, in the order of their names."""
    order = list(dict.fromkeys(mention.group for mention in groups))
    if len(order) != 2:
        return []
    return [
        Mention(mention.start(), mention.end(), group=order[mention[1].lower() == "latter"])
        for mention in _AGAIN.finditer(text)
        if mention.start() > groups[1].start
    ]


def _second_alone(text: str, groups: Sequence[Mention]) -> list[Mention]:
    """Return where "the second" stands for the second group, behind "the first group"."""
    first = re.search(r"\bfirst\s+group\b", text, re.IGNORECASE)
    if not first or {mention.group for mention in groups} != {0}:
        return []
    match = re.compile(r"\bthe\s+second\b", re.IGNORECASE).search(text, first.end())
    return [Mention(match.start(), match.end(), group=1)] if match else []


def _pattern(wording: Wording) -> str:
    """Return the sentence with a token for everything that is named."""
    tokens = [(m.start, m.end, f"<m:{m.measure}>") for m in wording.measures]
    tokens += [(g.start, g.end, f"<g{g.group}>") for g in wording.groups]
    tokens += [(n.start, n.end, f"<n{place}>") for place, n in enumerate(wording.numbers)]
    pieces, at = list[str](), 0
    for start, end, token in sorted(tokens):
        pieces += [wording.text[at:start], f" {token} "]
        at = max(at, end)
    return " ".join("".join([*pieces, wording.text[at:]]).lower().split())


@dataclass(frozen=True)
class NamedPatterns:
    """One pattern for several names; what it finds is the name at the number of its group."""

    names: tuple[str | int, ...]
    pattern: re.Pattern[str]

    def found_in(self, text: str) -> Iterator[tuple[int, int, str | int]]:
        """Return where each name stands, and which."""
        for match in self.pattern.finditer(text):
            yield match.start(), match.end(), self.names[int(str(match.lastgroup)[1:])]


@lru_cache(maxsize=64)
def _compiled(words: tuple[tuple[str | int, str], ...]) -> NamedPatterns:
    joined = "|".join(f"(?P<n{place}>{pattern})" for place, (_, pattern) in enumerate(words))
    # Without any name nothing is found.
    pattern = re.compile(joined or r"(?!)", re.IGNORECASE)
    return NamedPatterns(tuple(name for name, _ in words), pattern)


def _measure_words(subject: Subject) -> NamedPatterns:
    """Return a pattern of the measures a subject has, their own labels before other words."""
    have = {measure.name: measure.label for measure in subject.measures}
    labelled = sorted(have, key=lambda name: -len(have[name]))
    order = list(MEASURE_WORDS)
    known = sorted(labelled, key=lambda name: order.index(name) if name in order else -1)
    words = []
    for name in known:
        own = rf"(?<!\w){re.escape(have[name])}s?(?!\w)"
        words.append((name, f"{own}|{MEASURE_WORDS[name]}" if name in MEASURE_WORDS else own))
    return _compiled(tuple(words))


def _group_words(groups: tuple[str, str]) -> NamedPatterns:
    """Return a pattern of two names; one that is a common word too counts behind `group` alone."""
    words: list[tuple[str | int, str]] = []
    for number, name in enumerate(groups):
        own = rf"(?<!\w){re.escape(name)}(?!\w)"
        if len(name) < SHORT or name.lower() in COMMON_WORDS:
            own = rf"\bgroups?\s+{re.escape(name)}(?!\w)"
        elif name.endswith("s") and len(name) > SHORT:
            own += rf"|(?<!\w){re.escape(name[:-1])}(?!\w)"
        else:
            own += rf"|(?<!\w){re.escape(name)}s(?!\w)"
        words.append((number, f"{own}|{_ORDINALS[number]}"))
    words.sort(key=lambda word: -len(groups[int(word[0])]))
    return _compiled(tuple(words))
