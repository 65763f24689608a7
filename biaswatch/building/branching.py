"""Counterfactual rewriting: words of one concept become those of another, and nothing else does."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from biaswatch.building.build_data import BuildLog, PromptItem
from biaswatch.building.plan import Branching
from biaswatch.building.ranking import Ranking, words_of
from biaswatch.building.words import (
    APOSTROPHES,
    CLOSING,
    OPENING,
    contains_word,
    tokens,
    whole_words_only,
)

SENTENCE_START = re.compile(rf"(?:^|[.!?…][{re.escape(CLOSING)}]*\s+)[{re.escape(OPENING)}]*$")
AROUND = 200
"""Characters before a term that decide whether a sentence begins with it."""
VOWEL_SOUND = re.compile(
    r"(?!eu|uni[^nm]|us[aeiu]|one\b|once\b|ut[eo]p|uk|ugan|urug)[aeiou]", re.IGNORECASE
)


class Rewriter:
    """Replaces terms in one pass: the longest first, whole words, the case kept.

    A term also stands for itself capitalised, and, if it is written in small letters, for itself in
    capitals; written in capitals (`US`) it stands for nothing else.
    """

    def __init__(self, terms: Mapping[str, str]) -> None:
        self._new: dict[str, str] = {}
        for old, new in terms.items():
            for form, becomes in _forms(old, new):
                self._new.setdefault(form, becomes)
        forms = sorted(self._new, key=lambda form: (-len(form), form))
        some = "|".join(re.escape(form) for form in forms)
        self._pattern = re.compile(
            rf"(?P<article>\b[Aa]n? )?{whole_words_only(f'(?P<term>{some})')}" if forms else r"(?!)"
        )

    def __call__(self, text: str) -> str:
        """Return the text as it reads about the other concept."""
        return self._pattern.sub(lambda found: self._replaced(text, found), text)

    def _replaced(self, text: str, found: "re.Match[str]") -> str:
        old, article = found["term"], found["article"] or ""
        new = self._new[old]
        at = found.start()
        starts = SENTENCE_START.search(text, max(0, at - AROUND), at) is not None
        if not article and old[:1].isupper() and starts:
            new = _capitalised(new)
        if article and new[:1].isalpha():
            article = article[0] + ("n " if VOWEL_SOUND.match(new) else " ")
        return article + new


def _forms(old: str, new: str) -> list[tuple[str, str]]:
    forms = [(old, new)]
    if old[:1].islower():
        forms.append((old[:1].upper() + old[1:], _capitalised(new)))
        if old.islower() and len(old) > 1:
            forms.append((old.upper(), new.upper()))
    return forms


def _capitalised(text: str) -> str:
    """Begin with a capital, unless the first word has capitals of its own (`iPhone`)."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return text[:1].upper() + text[1:] if first.islower() else text


def replacement_terms(
    root: str, concept: str, given: Mapping[str, str], *, both_directions: bool
) -> dict[str, str]:
    """Return the replacement of each term; the root's name is always replaced.

    In both directions the other concept's words become the root's in the same pass, so that a text
    that names both exchanges them; where two words of the root have the same replacement, the way
    back is not clear: that raises ValueError.
    """
    terms = {root: concept, **given}
    if not both_directions:
        return terms
    back: dict[str, str] = {}
    for old, new in terms.items():
        if back.setdefault(new, old) != old:
            raise ValueError(
                f"{back[new]!r} and {old!r} both become {new!r}, so the way back is not clear"
            )
    return {**back, **terms}


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
            prompt, baseline = rewrite(item.prompt), rewrite(item.baseline)
            if prompt == item.prompt:
                build_log.leave_out("branching", f"{concept}: {item.prompt}", "nothing to replace")
                continue
            twin = replace(item, prompt=prompt, baseline=baseline, concept=concept)
            found.append(replace(twin, branched_from=item.concept))
    return found


def replacements_for(
    branching: Branching, proposed: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Return the replacements for every concept; what was written by hand outranks a proposal.

    Raise ValueError, which names the concept, where the way back is not clear.
    """
    found: dict[str, dict[str, str]] = {}
    for branch in branching.to:
        given = {**proposed.get(branch.concept, {}), **branch.replace}
        try:
            found[branch.concept] = replacement_terms(
                branching.root, branch.concept, given, both_directions=branching.both_directions
            )
        except ValueError as error:
            raise ValueError(f"branching to {branch.concept!r}: {error}") from None
    return found


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
