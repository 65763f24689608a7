"""Counterfactual rewriting: only the words of one concept are replaced by those of another."""

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
    """Replaces terms in one pass: longest first, whole words only, case preserved.

    A term also matches its capitalised form and, if it is in lower case, its upper-case form. A
    term in upper case (`US`) matches nothing else.
    """

    def __init__(self, terms: Mapping[str, str]) -> None:
        self._new: dict[str, str] = {}
        for old, new in terms.items():
            for form, replacement in _forms(old, new):
                self._new.setdefault(form, replacement)
        forms = sorted(self._new, key=lambda form: (-len(form), form))
        alternatives = "|".join(re.escape(form) for form in forms)
        self._pattern = re.compile(
            rf"(?P<article>\b[Aa]n? )?{whole_words_only(f'(?P<term>{alternatives})')}"
            if forms
            else r"(?!)"
        )

    def __call__(self, text: str) -> str:
        """Return the text rewritten for the other concept."""
        return self._pattern.sub(lambda match: self._replaced(text, match), text)

    def _replaced(self, text: str, match: "re.Match[str]") -> str:
        old, article = match["term"], match["article"] or ""
        new = self._new[old]
        position = match.start()
        starts = SENTENCE_START.search(text, max(0, position - AROUND), position) is not None
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
    root: str, concept: str, replacements: Mapping[str, str], *, both_directions: bool
) -> dict[str, str]:
    """Return the replacement of each term; the root's name is always replaced.

    In both directions the other concept's words become the root's in the same pass, so that a text
    that names both exchanges them; where two words of the root have the same replacement, the way
    back is not clear: that raises ValueError.
    """
    terms = {root: concept, **replacements}
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
    rewriters = {concept: Rewriter(replacements) for concept, replacements in terms.items()}
    items_and_twins: list[PromptItem] = []
    for item in items:
        items_and_twins.append(item)
        if item.concept != branching.root:
            continue
        for concept, rewrite in rewriters.items():
            prompt, baseline = rewrite(item.prompt), rewrite(item.baseline)
            if prompt == item.prompt:
                build_log.leave_out("branching", f"{concept}: {item.prompt}", "nothing to replace")
                continue
            twin = replace(item, prompt=prompt, baseline=baseline, concept=concept)
            items_and_twins.append(replace(twin, branched_from=item.concept))
    return items_and_twins


def replacements_for(
    branching: Branching, proposed: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Return the replacements for every concept; those by hand outrank proposals.

    Raise ValueError, which names the concept, where the way back is not clear.
    """
    terms: dict[str, dict[str, str]] = {}
    for branch in branching.to:
        replacements = {**proposed.get(branch.concept, {}), **branch.replace}
        try:
            terms[branch.concept] = replacement_terms(
                branching.root,
                branch.concept,
                replacements,
                both_directions=branching.both_directions,
            )
        except ValueError as error:
            raise ValueError(f"branching to {branch.concept!r}: {error}") from None
    return terms


OWN = 0.45
"""Least similarity to the root of a word that may belong to it alone."""
OWN_MARGIN = 0.15
"""Least excess of that similarity over the similarity to the other concept."""
Terms = Mapping[str, Mapping[str, str]]


def bare_words(text: str) -> list[str]:
    """Return the words of a text without possessive endings."""
    return [re.sub(rf"[{APOSTROPHES}]s?$", "", word) for word in tokens(text)]


def named_words_left(text: str, root: str, terms: Mapping[str, str]) -> list[str]:
    """Return words that contain the root's name and come from no replacement."""
    inserted = {word for new in terms.values() for word in bare_words(new)}
    return [word for word in bare_words(text) if root.lower() in word and word not in inserted]


def own_words(
    root: str, concept: str, words: Sequence[str], ranking: Ranking, terms: Mapping[str, str]
) -> set[str]:
    """Return the words closer in meaning to the root than to the other concept."""
    if not ranking.knows_meaning or not words:
        return set()
    inserted = {word for new in terms.values() for word in bare_words(new)}
    root_near, other_near = (ranking.nearness(name, words) for name in (root, concept))
    return {
        word
        for word, a, b in zip(words, root_near, other_near, strict=True)
        if a >= OWN and a - b >= OWN_MARGIN and word not in inserted
    }


def without_root_words(
    items: Sequence[PromptItem],
    branching: Branching,
    terms: Terms,
    ranking: Ranking,
    build_log: BuildLog,
) -> list[PromptItem]:
    """Drop every set with a twin that still contains words of the root.

    The whole set is dropped: twins of an incomplete set cannot be compared in pairs.
    """
    words = words_of(item.prompt for item in items if item.concept == branching.root)
    own = {
        concept: own_words(branching.root, concept, words, ranking, replacements)
        for concept, replacements in terms.items()
    }
    reasons: dict[str, str] = {}
    for item in items:
        if item.branched_from:
            replacements = terms[item.concept]
            remaining = named_words_left(item.prompt, branching.root, replacements)
            remaining += [word for word in bare_words(item.prompt) if word in own[item.concept]]
            if remaining:
                words_left = ", ".join(dict.fromkeys(remaining))
                reasons.setdefault(item.set_id, f"words of {branching.root} are left: {words_left}")
    for item in items:
        if item.set_id in reasons and not item.branched_from:
            build_log.leave_out("branching", item.prompt, reasons[item.set_id], item.hit.keyword)
    return [item for item in items if item.set_id not in reasons]


def without_failing_presuppositions(
    items: Sequence[PromptItem], branching: Branching, build_log: BuildLog
) -> list[PromptItem]:
    """Drop twins that presuppose things their concept lacks."""
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
    """Count the things that prompts presuppose: `the coast of Peru`, `Peru's coast`."""
    name = re.escape(concept)
    pattern = re.compile(
        rf"\bthe ((?:[\w-]+ ){{0,2}}?[\w-]+) (?:of|in) {name}(?!\w)"
        rf"|(?<!\w){name}[{APOSTROPHES}]s? ((?:[\w-]+ )?[\w-]+)",
        re.IGNORECASE,
    )
    counts = Counter(
        (match[1] or match[2]).lower() for prompt in prompts for match in pattern.finditer(prompt)
    )
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
