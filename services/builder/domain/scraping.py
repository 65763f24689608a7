"""Sentences that hold a keyword, each keyword by itself, every sentence with its origin."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from services.builder.domain.material import Documents, Hit
from services.builder.domain.sentences import sentences
from services.builder.domain.words import holds

Hits = Mapping[str, Sequence[Hit]]


def scraped(concept: str, keywords: Sequence[str], documents: Documents) -> dict[str, list[Hit]]:
    """Return the hits of every keyword; one without any has an empty list.

    A sentence that several documents share is found once, in the first of them.
    """
    found: dict[str, list[Hit]] = {keyword: [] for keyword in keywords}
    for hit in _all(concept, documents):
        for keyword in found:
            if holds(hit.sentence, keyword):
                found[keyword].append(replace(hit, keyword=keyword))
    return found


def _all(concept: str, documents: Documents) -> Iterator[Hit]:
    seen: set[str] = set()
    for document in documents:
        for position, sentence in enumerate(sentences(document.text), start=1):
            if sentence not in seen:
                seen.add(sentence)
                yield Hit(concept, "", sentence, document.tag, position, document.licence)


def distinct(found: Hits) -> list[Hit]:
    """Return each sentence once, under the first of its keywords, in the order of the sources."""
    order: dict[str, Hit] = {}
    for hits in found.values():
        for hit in hits:
            known = order.setdefault(hit.sentence, hit)
            if known is not hit:
                order[hit.sentence] = replace(known, others=(*known.others, hit.keyword))
    tags = {tag: n for n, tag in enumerate(dict.fromkeys(h.source_tag for h in order.values()))}
    return sorted(order.values(), key=lambda hit: (tags[hit.source_tag], hit.position))
