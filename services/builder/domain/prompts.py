"""Sentences become prompts; each keeps its sentence as the baseline it is compared with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from services.builder.domain.branching import Rewriter, branched, terms_between
from services.builder.domain.build_data import BuildLog, PromptItem, SentenceMatch
from services.builder.domain.continuations import VerbFinder, split_sentence
from services.builder.domain.plan import Branching, Prompts
from services.builder.domain.words import holds
from shared.contracts.identity import derived_id

PLACES = ("concept", "keyword", "sentence")


def item_of(hit: SentenceMatch, prompt: str) -> PromptItem:
    """Place a prompt in a counterfactual set of its own."""
    set_id = "s-" + derived_id("set", hit.concept, hit.source_tag, hit.position, prompt)[:12]
    return PromptItem(hit, prompt, hit.concept, baseline=hit.sentence, set_id=set_id)


def usable(
    hits: Sequence[SentenceMatch], prompts: Prompts, build_log: BuildLog
) -> list[SentenceMatch]:
    """Leave out the sentences that are too short or too long, and count them."""
    kept = []
    for hit in hits:
        words = len(hit.sentence.split())
        if words < prompts.fewest_words:
            build_log.leave_out("sentences", hit.sentence, "too short")
        elif words > prompts.most_words:
            build_log.leave_out("sentences", hit.sentence, "too long")
        else:
            kept.append(hit)
    return kept


def continuations(
    hits: Sequence[SentenceMatch], verbs: VerbFinder, build_log: BuildLog
) -> list[PromptItem]:
    """Return the beginnings of sentences; one whose beginning lacks the keyword is left out."""
    items = []
    for hit in hits:
        beginning = split_sentence(hit.sentence, verbs)
        if beginning is None:
            build_log.leave_out("continuations", hit.sentence, "no place to cut")
            continue
        said = [word for word in (hit.keyword, *hit.others) if holds(beginning, word)]
        if said:
            items.append(item_of(replace(hit, keyword=said[0]), beginning))
        else:
            build_log.leave_out("continuations", hit.sentence, "the keyword comes after the cut")
    return items


def templated(hits: Sequence[SentenceMatch], template: str) -> list[PromptItem]:
    """Return the template with its places filled; other braces stay as they are."""
    return [item_of(hit, _filled(template, hit)) for hit in hits]


def _filled(template: str, hit: SentenceMatch) -> str:
    filling = {"concept": hit.concept, "keyword": hit.keyword, "sentence": hit.sentence}
    # One pass, so that braces in a sentence are never taken for places.
    for place in PLACES:
        template = template.replace(f"{{{place}}}", f"\x00{place}\x00")
    parts = template.split("\x00")
    return "".join(filling.get(p, p) if n % 2 else p for n, p in enumerate(parts))


def sampled(items: Sequence[PromptItem], prompts: Prompts) -> list[PromptItem]:
    """Draw so many of each concept, each concept with a rng of its own."""
    found: list[PromptItem] = []
    for concept in dict.fromkeys(item.concept for item in items):
        own = [item for item in items if item.concept == concept]
        # Text, not hash(): the draw must be the same in every process.
        found += drawn(own, prompts.per_concept, Random(f"{prompts.seed}/{concept}"))  # noqa: S311
    return found


def twins(
    items: Iterable[PromptItem],
    branching: Branching,
    terms: Mapping[str, Mapping[str, str]],
    build_log: BuildLog,
) -> list[PromptItem]:
    """Return the items, the root's ones followed by their twins about every other concept."""
    rewriters = {concept: Rewriter(given) for concept, given in terms.items()}
    found: list[PromptItem] = []
    for item in items:
        found.append(item)
        if item.concept != branching.root:
            continue
        for concept, rewrite in rewriters.items():
            twin = branched(item, concept, rewrite)
            if twin.prompt == item.prompt:
                build_log.leave_out("branching", f"{concept}: {item.prompt}", "nothing to replace")
            else:
                found.append(twin)
    return found


def terms_of(
    branching: Branching, proposed: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Return the replacements for every concept; what was written by hand outranks a proposal.

    Raises
    ------
    ValueError
        In both directions, the way back is not clear; the concept is named.
    """
    found: dict[str, dict[str, str]] = {}
    for branch in branching.to:
        given = {**proposed.get(branch.concept, {}), **branch.replace}
        try:
            found[branch.concept] = terms_between(
                branching.root, branch.concept, given, both_directions=branching.both_directions
            )
        except ValueError as error:
            raise ValueError(f"branching to {branch.concept!r}: {error}") from None
    return found


T = TypeVar("T")


def drawn(things: Sequence[T], most: int | None, rng: Random) -> list[T]:
    """Return at most so many, drawn without repeats, in the order they had."""
    if most is None or len(things) <= most:
        return list(things)
    return [things[place] for place in sorted(rng.sample(range(len(things)), most))]
