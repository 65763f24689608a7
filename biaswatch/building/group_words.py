"""Words that belong to one concept, left in a twin about another; and what prompts presuppose."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from biaswatch.building.build_data import BuildLog, PromptItem
from biaswatch.building.plan import Branching
from biaswatch.building.ranking import Ranking, words_of
from biaswatch.building.words import APOSTROPHES, contains_word, tokens

OWN = 0.45
"""A word this near to the root may be one of its own."""
OWN_MARGIN = 0.15
"""It is one if it is this much nearer to the root than to the other concept."""
Terms = Mapping[str, Mapping[str, str]]


def bare_words(text: str) -> list[str]:
    """Return the words without the ending of the possessive."""
    return [re.sub(rf"[{APOSTROPHES}]s?$", "", word) for word in tokens(text)]


def named_words_left(text: str, root: str, terms: Mapping[str, str]) -> list[str]:
    """Return the words that hold the root's name, and that no replacement put there."""
    put = {word for new in terms.values() for word in bare_words(new)}
    return [word for word in bare_words(text) if root.lower() in word and word not in put]


def own_words(
    root: str, concept: str, words: Sequence[str], ranking: Ranking, terms: Mapping[str, str]
) -> set[str]:
    """Return the words that are the root's rather than the other concept's, by their meaning."""
    if not ranking.knows_meaning or not words:
        return set()
    put = {word for new in terms.values() for word in bare_words(new)}
    root_near, other_near = (ranking.nearness(name, words) for name in (root, concept))
    return {
        word
        for word, a, b in zip(words, root_near, other_near, strict=True)
        if a >= OWN and a - b >= OWN_MARGIN and word not in put
    }


def without_root_words(
    items: Sequence[PromptItem],
    branching: Branching,
    terms: Terms,
    ranking: Ranking,
    build_log: BuildLog,
) -> list[PromptItem]:
    """Leave out every set with a twin in which words of the root are left.

    The whole set goes: twins of an incomplete set could not be compared in pairs.
    """
    words = words_of(item.prompt for item in items if item.concept == branching.root)
    own = {
        concept: own_words(branching.root, concept, words, ranking, given)
        for concept, given in terms.items()
    }
    left: dict[str, str] = {}
    for item in items:
        if item.branched_from:
            given = terms[item.concept]
            found = named_words_left(item.prompt, branching.root, given)
            found += [word for word in bare_words(item.prompt) if word in own[item.concept]]
            if found:
                words_left = ", ".join(dict.fromkeys(found))
                left.setdefault(item.set_id, f"words of {branching.root} are left: {words_left}")
    for item in items:
        if item.set_id in left and not item.branched_from:
            build_log.leave_out("branching", item.prompt, left[item.set_id], item.hit.keyword)
    return [item for item in items if item.set_id not in left]


def without_failing_presuppositions(
    items: Sequence[PromptItem], branching: Branching, build_log: BuildLog
) -> list[PromptItem]:
    """Leave out the twins that take for granted what their concept lacks."""
    lacks = {branch.concept: branch.lacks for branch in branching.to}
    kept = []
    for item in items:
        things = lacks.get(item.concept, ()) if item.branched_from else ()
        failing = [thing for thing in things if _takes_for_granted(item.prompt, thing)]
        if failing:
            why = f"{item.concept} has no {failing[0]}, which the prompt takes for granted"
            build_log.leave_out("branching", item.prompt, why, item.hit.keyword)
        else:
            kept.append(item)
    return kept


def _takes_for_granted(prompt: str, thing: str) -> bool:
    return any(contains_word(prompt, form) for form in (thing, f"{thing}s", f"{thing}es"))


def presupposed_things(prompts: Iterable[str], concept: str) -> dict[str, int]:
    """Count what prompts take a concept to have: `the coast of Peru`, `Peru's coast`."""
    name = re.escape(concept)
    pattern = re.compile(
        rf"\bthe ((?:[\w-]+ ){{0,2}}?[\w-]+) (?:of|in) {name}(?!\w)"
        rf"|(?<!\w){name}[{APOSTROPHES}]s? ((?:[\w-]+ )?[\w-]+)",
        re.IGNORECASE,
    )
    found = Counter(
        (match[1] or match[2]).lower() for prompt in prompts for match in pattern.finditer(prompt)
    )
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))
