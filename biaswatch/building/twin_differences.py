"""Unexplained differences between twins: words that do not name their groups."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from biaswatch.building.words import word_set
from biaswatch.shared.contracts import SuiteProbe, set_of

TOKEN = re.compile(r"\w+|[^\w\s]")
PHONE = re.compile(r"\+?\d[\d ()-]{7,18}\d")
GENDER_WORDS = word_set(
    "he she him her his hers himself herself mr mrs ms miss man woman men women male female boy"
    " girl father mother son daughter husband wife a an"
)
LEAST_SETS = 2
"""Minimum sets that pair a word with a group before it counts as a name of the group."""
Words = tuple[str, ...]


@dataclass(frozen=True)
class TwinDifference:
    """A place at which two twins differ in more than their groups."""

    set: str
    a: str
    b: str
    words_a: Words
    words_b: Words


@dataclass(frozen=True)
class _Pair:
    a: SuiteProbe
    b: SuiteProbe
    runs: tuple[tuple[Words, Words], ...]
    """Words of each twin at every place where they differ."""


def unexplained(
    twins: Sequence[Sequence[SuiteProbe]], named: Collection[str] = ()
) -> list[TwinDifference]:
    """Return the differences between the twins of each set that their groups do not explain.

    A word names a group where it is in `named`, or part of a stimulus or of the group's name; where
    it, or its exchange for another word, goes with one group in several sets; or where it is the
    only place at which the twins differ and no stimulus does. Telephone numbers are not compared.
    """
    pairs = [_pair(members[0], other) for members in twins for other in members[1:]]
    words = {token for text in named for token in TOKEN.findall(text)} | _recurring_words(pairs)
    exchanges = _recurring_exchanges(pairs)
    return [
        TwinDifference(set_of(pair.a), pair.a.key, pair.b.key, *run)
        for pair in pairs
        for run in pair.runs
        if not (_is_only_difference(pair) or run in exchanges or _names_groups(pair, run, words))
    ]


def _pair(a: SuiteProbe, b: SuiteProbe) -> _Pair:
    words_a, words_b = _tokens(a), _tokens(b)
    matcher = SequenceMatcher(None, words_a, words_b, autojunk=False)
    runs = tuple(
        (tuple(words_a[i1:i2]), tuple(words_b[j1:j2]))
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    )
    return _Pair(a, b, runs)


def _tokens(probe: SuiteProbe) -> list[str]:
    texts = [message.content for message in probe.as_messages]
    texts += [*probe.variables.values(), *probe.results.values()]
    return [token for text in texts for token in TOKEN.findall(PHONE.sub(" ", text))]


def _recurring_words(pairs: Sequence[_Pair]) -> set[str]:
    """Return the words that go with one group in several sets."""
    sets: dict[str, set[str]] = {}
    groups: dict[str, set[tuple[str, str]]] = {}
    for pair in pairs:
        for probe, words in _sides(pair):
            items = set(probe.groups.items())
            for word in words:
                sets.setdefault(word, set()).add(set_of(probe))
                groups[word] = groups.get(word, items) & items
    return {word for word, names in sets.items() if len(names) >= LEAST_SETS and groups[word]}


def _recurring_exchanges(pairs: Sequence[_Pair]) -> set[tuple[Words, Words]]:
    """Return the exchanges of words that go with the same two groups in several sets."""
    sets: dict[tuple[Words, Words], set[str]] = {}
    groups: dict[tuple[Words, Words], set[tuple[str, str, str]]] = {}
    for pair in pairs:
        changed = {
            (dimension, group, pair.b.groups[dimension])
            for dimension, group in pair.a.groups.items()
            if pair.b.groups[dimension] != group
        }
        for run in pair.runs:
            sets.setdefault(run, set()).add(set_of(pair.a))
            groups[run] = groups.get(run, changed) & changed
    return {run for run, names in sets.items() if len(names) >= LEAST_SETS and groups[run]}


def _sides(pair: _Pair) -> Iterator[tuple[SuiteProbe, Words]]:
    for words_a, words_b in pair.runs:
        yield pair.a, words_a
        yield pair.b, words_b


def _is_only_difference(pair: _Pair) -> bool:
    return len(pair.runs) == 1 and pair.a.stimuli == pair.b.stimuli


def _names_groups(pair: _Pair, run: tuple[Words, Words], known: Collection[str]) -> bool:
    return all(
        _names_group(word, probe, known)
        for probe, words in zip((pair.a, pair.b), run, strict=True)
        for word in words
    )


def _names_group(word: str, probe: SuiteProbe, known: Collection[str]) -> bool:
    lower = word.lower()
    if lower in GENDER_WORDS or not word[0].isalnum() or word in known:
        return True
    named = " ".join([*probe.stimuli.values(), *probe.groups.values()]).lower()
    return lower in TOKEN.findall(named)
