"""Quality of a suite: balance, lengths, duplicates, twins, leaks, power."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import combinations
from statistics import mean, median
from typing import Any

from biaswatch.building.branching import bare_words, named_words_left, presupposed_things
from biaswatch.building.comparison_power import ComparisonPower, power_table
from biaswatch.building.sentences import WHOLE
from biaswatch.building.words import contains_word, tokens
from biaswatch.shared.lookup import grouped

FRAGMENTS = "fragments of sentences have no sentence length"
FEWEST_WORDS = 100
"""Flesch's formula is made for samples of a hundred words."""


def reading_ease(texts: Sequence[str]) -> tuple[float | None, str | None]:
    """Return the reading ease (about 0 to 100, higher is easier), or None and the reason.

    Each text is a sentence or several; a text that does not end like one is a fragment, whose
    sentences have no length. Syllables are counted by a rule for English.

    References
    ----------
    Flesch (1948), A new readability yardstick: 206.835 - 1.015 words/sentences - 84.6
    syllables/words.
    """
    whole = [text for text in texts if WHOLE.search(text.strip())]
    if len(whole) < len(texts):
        return None, FRAGMENTS
    words = [word for text in whole for word in tokens(text)]
    if len(words) < FEWEST_WORDS:
        return None, f"fewer than {FEWEST_WORDS} words"
    stops = sum(max(1, len(re.findall(r"(?<![.!?])[.!?]++(?:\s|$)", text))) for text in whole)
    syllables = sum(map(_syllables, words))
    return round(206.835 - 1.015 * len(words) / stops - 84.6 * syllables / len(words), 2), None


def _syllables(word: str) -> int:
    plain = unicodedata.normalize("NFKD", word)
    groups = len(re.findall(r"[aeiouy]+", re.sub(r"[\u0300-\u036f]", "", plain)))
    silent = word.endswith("e") and not word.endswith("le") and groups > 1
    return max(1, groups - silent)


NEAR = 0.8
"""Share of common word triples that makes two prompts near-duplicates."""
COMMON = 200
"""A triple in more prompts of a concept is wording of the template and is ignored."""
SHOWN = 20
"""Examples of each fault in a report."""

LONGEST_SHARED = 8
"""Words in a row shared by prompt and baseline that give the answer away."""
MOST_SHARE = 0.5
"""Largest share of a concept's prompts under one keyword without a fault."""

Row = Mapping[str, Any]
Terms = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class SuiteFault:
    """A fault for a person to review."""

    kind: str
    keys: tuple[str, ...]
    detail: str


@dataclass(frozen=True)
class SuiteQuality:
    """Description of a suite."""

    prompts: int
    by_concept: dict[str, int]
    by_source: dict[str, int]
    sets: int
    incomplete_sets: int
    """Sets with fewer twins than the largest."""
    words: dict[str, float | None]
    """Least, median, mean and most words of a prompt."""
    words_by_concept: dict[str, dict[str, float | None]]
    reading_ease: dict[str, float | None]
    """Flesch's reading ease, by concept; for English, with syllables counted by rule."""
    reading_ease_of: str
    """`prompts`, or `baselines` if the prompts are fragments of sentences."""
    reading_ease_reasons: dict[str, str]
    """Reason for a missing reading ease, by concept."""
    fault_counts: dict[str, int]
    balance: float | None
    """Prompts of the rarest concept divided by those of the most frequent."""
    presupposed: dict[str, int] = field(default_factory=dict)
    """Things that prompts presuppose, with counts; check that every concept has them."""
    power: tuple[ComparisonPower, ...] = ()
    faults: tuple[SuiteFault, ...] = ()


def quality_of(rows: Sequence[Row], terms: Terms, *, features: int = 1) -> SuiteQuality:
    """Examine a suite's lines; `terms` are the declared replacements by concept."""
    concepts = Counter(str(row["concept"]) for row in rows)
    sets = grouped((str(row["set"]), row) for row in rows)
    faults = [
        *_near_duplicates(rows),
        *_twin_faults(sets.values(), terms),
        *_leaks(rows, list(concepts)),
        *_one_sided(rows),
    ]
    lengths = [len(str(row["prompt"]).split()) for row in rows]
    roots = {row["branched_from"] for row in rows if row.get("branched_from")}
    twinned = [m for m in sets.values() if any(row["concept"] in roots for row in m)]
    widest = max((len(members) for members in twinned), default=0)
    of = "prompts" if _whole(rows, "prompt") or not _whole(rows, "baseline") else "baselines"
    ease = {concept: _ease(rows, concept, of) for concept in concepts}
    return SuiteQuality(
        prompts=len(rows),
        by_concept=dict(concepts),
        by_source=dict(Counter(str(row["source_tag"]) for row in rows)),
        sets=len(sets),
        incomplete_sets=sum(len(members) < widest for members in twinned),
        words=_spread(lengths),
        words_by_concept={c: _spread(_lengths(rows, c)) for c in concepts},
        reading_ease={concept: number for concept, (number, _) in ease.items()},
        reading_ease_of=of,
        reading_ease_reasons={concept: why for concept, (_, why) in ease.items() if why},
        fault_counts=dict(Counter(fault.kind for fault in faults)),
        balance=round(min(concepts.values()) / max(concepts.values()), 3) if concepts else None,
        presupposed=_presupposed(rows),
        power=tuple(power_table(list(concepts), _members(sets), features)),
        faults=tuple(_examples(faults)),
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
        prompts_by_triple = grouped(
            (triple, index)
            for index, prompt_triples in enumerate(triples)
            for triple in sorted(prompt_triples)
        )
        informative = [indices for indices in prompts_by_triple.values() if len(indices) <= COMMON]
        candidate_pairs = {pair for indices in informative for pair in combinations(indices, 2)}
        for a, b in sorted(candidate_pairs):
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
    allowed = {word for pair in terms.items() for term in pair for word in bare_words(term)}
    beyond = sorted(_differing(str(root["prompt"]), str(twin["prompt"])) - allowed - {"a", "an"})
    if beyond:
        yield SuiteFault(
            "differs_in_more", keys, f"more than the concept differs: {', '.join(beyond)}"
        )
    left = named_words_left(str(twin["prompt"]), str(root["concept"]), terms)
    if left:
        yield SuiteFault("root_remains", keys, f"words of the root are left: {', '.join(left)}")


def _differing(a: str, b: str) -> set[str]:
    x, y = bare_words(a), bare_words(b)
    matcher = SequenceMatcher(None, x, y, autojunk=False)
    return {
        word
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
        for word in (*x[i1:i2], *y[j1:j2])
    }


def _leaks(rows: Sequence[Row], concepts: Sequence[str]) -> Iterator[SuiteFault]:
    """Find prompts that name another concept or give their baseline away."""
    for row in rows:
        prompt, own = str(row["prompt"]), str(row["concept"])
        other_concepts = [
            c for c in concepts if c not in own and own not in c and contains_word(prompt, c)
        ]
        if other_concepts:
            detail = f"it is about {own} and names {', '.join(other_concepts)}"
            yield SuiteFault("names_another", (str(row["key"]),), detail)
        baseline = str(row.get("baseline") or "")
        shared = _shared_run(tokens(prompt), tokens(baseline))
        if shared >= LONGEST_SHARED and not baseline.startswith(prompt) and prompt != baseline:
            detail = f"{shared} words in a row are its baseline's"
            yield SuiteFault("gives_away", (str(row["key"]),), detail)


def _shared_run(a: Sequence[str], b: Sequence[str]) -> int:
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return matcher.find_longest_match(0, len(a), 0, len(b)).size


def _one_sided(rows: Sequence[Row]) -> Iterator[SuiteFault]:
    """Find concepts with most prompts under one of several keywords."""
    own = [row for row in rows if not row.get("branched_from") and row.get("keyword")]
    for concept in dict.fromkeys(str(row["concept"]) for row in own):
        keywords = Counter(str(row["keyword"]) for row in own if row["concept"] == concept)
        word, most = keywords.most_common(1)[0]
        if word != concept and len(keywords) > 2 and most > MOST_SHARE * sum(keywords.values()):
            detail = f"{most} of {sum(keywords.values())} prompts of {concept} are under {word!r}"
            yield SuiteFault("one_sided", (concept,), detail)


def _members(sets: Mapping[str, Sequence[Row]]) -> list[list[str]]:
    return [[str(row["concept"]) for row in members] for members in sets.values()]


def _lengths(rows: Sequence[Row], concept: str) -> list[int]:
    return [len(str(row["prompt"]).split()) for row in rows if row["concept"] == concept]


def _presupposed(rows: Sequence[Row]) -> dict[str, int]:
    """Count over prompts that are not twins; twins presuppose the same."""
    own = [row for row in rows if not row.get("branched_from")]
    counts: Counter[str] = Counter()
    for concept in dict.fromkeys(str(row["concept"]) for row in own):
        prompts = [str(row["prompt"]) for row in own if row["concept"] == concept]
        counts.update(presupposed_things(prompts, concept))
    return dict(counts.most_common(SHOWN))


def _whole(rows: Sequence[Row], name: str) -> bool:
    texts = [str(row.get(name) or "") for row in rows]
    return reading_ease(texts)[1] != FRAGMENTS


def _ease(rows: Sequence[Row], concept: str, of: str) -> tuple[float | None, str | None]:
    name = of.removesuffix("s")
    return reading_ease([str(row.get(name) or "") for row in rows if row["concept"] == concept])


def _examples(faults: Sequence[SuiteFault]) -> Iterator[SuiteFault]:
    seen: Counter[str] = Counter()
    for fault in faults:
        seen[fault.kind] += 1
        if seen[fault.kind] <= SHOWN:
            yield fault
