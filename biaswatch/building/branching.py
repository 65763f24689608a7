"""Counterfactual rewriting: words of one concept become those of another, and nothing else does."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from biaswatch.building.build_data import BuildLog, PromptItem
from biaswatch.building.plan import Branching
from biaswatch.building.words import CLOSING, OPENING, whole_words_only

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
