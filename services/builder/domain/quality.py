"""How good a suite is as an instrument: counts, lengths, near-duplicates, twins, readability."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from statistics import mean, median
from typing import Any

from services.builder.domain.words import APOSTROPHES, tokens

NEAR = 0.8
"""Share of common word triples from which two prompts about one concept are near-duplicates."""
COMMON = 200
"""A triple in more prompts of a concept is its template's wording and tells nothing."""
SHOWN = 20
"""How many examples of each fault a report holds."""

Row = Mapping[str, Any]
Terms = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class SuiteFault:
    """Something a person should look at."""

    kind: str
    keys: tuple[str, ...]
    detail: str


@dataclass(frozen=True)
class SuiteQuality:
    """What a suite is like."""

    prompts: int
    by_concept: dict[str, int]
    by_source: dict[str, int]
    sets: int
    incomplete_sets: int
    """Sets of the root that have fewer twins than others."""
    words: dict[str, float | None]
    """Least, median, mean and most words of a prompt."""
    reading_ease: dict[str, float | None]
    """Flesch's reading ease, by concept; for English, with syllables counted by rule."""
    reading_ease_reason: str
    fault_counts: dict[str, int]
    faults: tuple[SuiteFault, ...] = ()


def quality_of(rows: Sequence[Row], terms: Terms) -> SuiteQuality:
    """Examine a suite's lines; `terms` are the declared replacements by concept."""
    concepts = Counter(str(row["concept"]) for row in rows)
    sets: dict[str, list[Row]] = {}
    for row in rows:
        sets.setdefault(str(row["set"]), []).append(row)
    faults = [*_near_duplicates(rows), *_twin_faults(sets.values(), terms)]
    lengths = [len(str(row["prompt"]).split()) for row in rows]
    roots = {row["branched_from"] for row in rows if row.get("branched_from")}
    twinned = [m for m in sets.values() if any(row["concept"] in roots for row in m)]
    widest = max((len(members) for members in twinned), default=0)
    return SuiteQuality(
        prompts=len(rows),
        by_concept=dict(concepts),
        by_source=dict(Counter(str(row["source_tag"]) for row in rows)),
        sets=len(sets),
        incomplete_sets=sum(len(members) < widest for members in twinned),
        words=_spread(lengths),
        reading_ease={concept: _ease(rows, concept) for concept in concepts},
        reading_ease_reason="English only; syllables are counted by rule",
        fault_counts=dict(Counter(fault.kind for fault in faults)),
        faults=tuple(_first_of_each(faults)),
    )


def _spread(lengths: Sequence[int]) -> dict[str, float | None]:
    if not lengths:
        return dict.fromkeys(("least", "median", "mean", "most"))
    return {
        "least": min(lengths),
        "median": median(lengths),
        "mean": round(mean(lengths), 2),
        "most": max(lengths),
    }


def _near_duplicates(rows: Sequence[Row]) -> Iterator[SuiteFault]:
    """Compare the prompts of a concept that share a triple of words."""
    for concept in dict.fromkeys(str(row["concept"]) for row in rows):
        own = [row for row in rows if row["concept"] == concept]
        triples = [_triples(str(row["prompt"])) for row in own]
        where: dict[tuple[str, ...], list[int]] = {}
        for index, some in enumerate(triples):
            for triple in sorted(some):
                where.setdefault(triple, []).append(index)
        informative = [indices for indices in where.values() if len(indices) <= COMMON]
        near = {pair for indices in informative for pair in combinations(indices, 2)}
        for a, b in sorted(near):
            share = len(triples[a] & triples[b]) / len(triples[a] | triples[b])
            if share >= NEAR:
                yield SuiteFault(
                    "near_duplicate",
                    (str(own[a]["key"]), str(own[b]["key"])),
                    f"{share:.2f} of their word triples are common",
                )


def _triples(text: str) -> set[tuple[str, ...]]:
    words = tokens(text)
    return {tuple(words[n : n + 3]) for n in range(max(1, len(words) - 2))} if words else set()


def _twin_faults(sets: Iterable[Sequence[Row]], terms: Terms) -> Iterator[SuiteFault]:
    for members in sets:
        root = next((row for row in members if not row.get("branched_from")), None)
        for row in members if root else ():
            if root and row is not root:
                yield from _of_twin(root, row, terms.get(str(row["concept"]), {}))


def _of_twin(root: Row, twin: Row, terms: Mapping[str, str]) -> Iterator[SuiteFault]:
    keys = (str(root["key"]), str(twin["key"]))
    allowed = {word for pair in terms.items() for term in pair for word in _bare(term)}
    beyond = sorted(_differing(str(root["prompt"]), str(twin["prompt"])) - allowed - {"a", "an"})
    if beyond:
        yield SuiteFault(
            "differs_in_more", keys, f"more than the concept differs: {', '.join(beyond)}"
        )
    name = str(root["concept"]).lower()
    values = {word for new in terms.values() for word in _bare(new)}
    left = [word for word in _bare(str(twin["prompt"])) if name in word and word not in values]
    if left:
        yield SuiteFault("root_remains", keys, f"words of the root are left: {', '.join(left)}")


def _differing(a: str, b: str) -> set[str]:
    x, y = _bare(a), _bare(b)
    matcher = SequenceMatcher(None, x, y, autojunk=False)
    return {
        word
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
        for word in (*x[i1:i2], *y[j1:j2])
    }


def _bare(text: str) -> list[str]:
    """Return the words without the ending of the possessive."""
    return [re.sub(rf"[{APOSTROPHES}]s?$", "", word) for word in tokens(text)]


def _ease(rows: Sequence[Row], concept: str) -> float | None:
    text = " ".join(str(row["prompt"]) for row in rows if row["concept"] == concept)
    words = tokens(text)
    if not words:
        return None
    stops = max(1, len(re.findall(r"(?<![.!?])[.!?]++(?:\s|$)", text)))
    syllables = sum(_syllables(word) for word in words)
    return round(206.835 - 1.015 * len(words) / stops - 84.6 * syllables / len(words), 2)


def _syllables(word: str) -> int:
    plain = unicodedata.normalize("NFKD", word)
    groups = len(re.findall(r"[aeiouy]+", re.sub(r"[\u0300-\u036f]", "", plain)))
    silent = word.endswith("e") and not word.endswith("le") and groups > 1
    return max(1, groups - silent)


def _first_of_each(faults: Sequence[SuiteFault]) -> Iterator[SuiteFault]:
    seen: Counter[str] = Counter()
    for fault in faults:
        seen[fault.kind] += 1
        if seen[fault.kind] <= SHOWN:
            yield fault
