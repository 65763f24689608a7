"""Sentences become prompts; each keeps its sentence as the baseline it is compared with."""

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Protocol

from services.builder.domain.build_data import BuildLog, PromptItem, SentenceMatch
from services.builder.domain.model_questions import (
    TRIES,
    LanguageModel,
    question_about_sentence,
    question_problem,
)
from services.builder.domain.plan import Prompts
from services.builder.domain.words import FINITE, NOUN_MARKS, QUOTES, STOP, contains_word
from shared.contracts.identity import derived_id

FIELD = re.compile(r"\{(concept|keyword|sentence)\}")
"""What a template may name."""
LEAST_LEFT = 2
"""A cut that leaves fewer words to say leaves nothing to say."""
AFTER_VERB = 2
"""How many words of what follows the verb are given, so that the direction is given."""


class VerbFinder(Protocol):
    """Says where the main verb of a sentence is."""

    name: str

    def main_verb(self, words: list[str]) -> int | None:
        """Return the verb's index among the words, or None where none is found."""


class RuleVerbs:
    """Finds the verb by a list of finite forms and by the ending -ed."""

    name = "rule"

    def main_verb(self, words: list[str]) -> int | None:
        """Return the first likely verb that follows a subject of some length, or else the first."""
        candidates = [index for index in range(1, len(words)) if _may_be_verb(words, index)]
        late = [index for index in candidates if index > 2]
        by_name = [index for index in range(1, len(words)) if _follows_name(words, index)]
        return next(iter(late or candidates or by_name), None)


def _may_be_verb(words: list[str], index: int) -> bool:
    text = " ".join(words[:index])
    if text.count("(") > text.count(")"):
        return False
    word = words[index].strip(QUOTES + ",;:()").lower()
    if words[index][:1].isupper():
        return False
    before = words[index - 1].strip(QUOTES).lower()
    regular = len(word) > 4 and word.endswith("ed") and before not in NOUN_MARKS
    return word in FINITE or regular


def _follows_name(words: list[str], index: int) -> bool:
    """Tell whether this may be the verb of a name: `Peru exports`."""
    before, word = words[index - 1].strip(QUOTES), words[index]
    named = before[:1].isupper() and before.isalpha() and before.lower() not in STOP
    return named and word.islower() and word.endswith("s") and not word.endswith(("ss", "us"))


def split_sentence(sentence: str, verbs: VerbFinder) -> str | None:
    """Return the sentence's beginning, or None where it cannot be cut well."""
    words = sentence.split()
    verb = verbs.main_verb(words)
    if verb is None:
        return None
    for extra in (AFTER_VERB, AFTER_VERB - 1, 0):
        cut = verb + 1 + extra
        # Punctuation would end the thought, and a model continues it with another one.
        if len(words) - cut >= LEAST_LEFT and not re.search(r"[,;:.!?)]$", words[cut - 1]):
            return " ".join(words[:cut])
    return None


def item_of(hit: SentenceMatch, prompt: str) -> PromptItem:
    """Place a prompt in a counterfactual set of its own."""
    set_id = "s-" + derived_id("set", hit.concept, hit.source_tag, hit.position, prompt)[:12]
    return PromptItem(hit, prompt, hit.concept, baseline=hit.sentence, set_id=set_id)


def within_length(
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


def continuation_prompts(
    hits: Sequence[SentenceMatch], verbs: VerbFinder, build_log: BuildLog
) -> list[PromptItem]:
    """Return the beginnings of sentences; one whose beginning lacks the keyword is left out."""
    items = []
    for hit in hits:
        beginning = split_sentence(hit.sentence, verbs)
        if beginning is None:
            build_log.leave_out("continuations", hit.sentence, "no place to cut")
            continue
        said = [word for word in (hit.keyword, *hit.others) if contains_word(beginning, word)]
        if said:
            items.append(item_of(replace(hit, keyword=said[0]), beginning))
        else:
            build_log.leave_out("continuations", hit.sentence, "the keyword comes after the cut")
    return items


def template_prompts(hits: Sequence[SentenceMatch], template: str) -> list[PromptItem]:
    """Return the template with its fields filled; other braces stay as they are."""

    def filled(hit: SentenceMatch) -> str:
        # One pass, so that braces in a sentence are never taken for fields.
        return FIELD.sub(lambda field: str(getattr(hit, field[1])), template)

    return [item_of(hit, filled(hit)) for hit in hits]


def sampled_prompts(items: Sequence[PromptItem], prompts: Prompts) -> list[PromptItem]:
    """Draw as many of each concept as the plan says, each with a generator of its own."""
    found: list[PromptItem] = []
    for concept in dict.fromkeys(item.concept for item in items):
        own = [item for item in items if item.concept == concept]
        if prompts.per_concept and len(own) > prompts.per_concept:
            # Text, not hash(): the draw must be the same in every process.
            rng = Random(f"{prompts.seed}/{concept}")  # noqa: S311
            own = [own[n] for n in sorted(rng.sample(range(len(own)), prompts.per_concept))]
        found += own
    return found


async def question_prompts(
    hits: Sequence[SentenceMatch],
    prompts: Prompts,
    language_model: LanguageModel,
    build_log: BuildLog,
) -> list[PromptItem]:
    """Return as many questions of each concept as are wanted, in the order of their sentences.

    Sentences are drawn first: a model is not paid for questions nobody uses. Where one is declined,
    the next sentence of the draw replaces it.
    """
    found: list[PromptItem] = []
    for concept in dict.fromkeys(hit.concept for hit in hits):
        own = [hit for hit in hits if hit.concept == concept]
        wanted = prompts.per_concept or len(own)
        # Text, not hash(): the draw must be the same in every process.
        waiting = Random(f"{prompts.seed}/{concept}").sample(own, len(own))  # noqa: S311
        made: list[PromptItem] = []
        while waiting and len(made) < wanted:
            some, waiting = waiting[: wanted - len(made)], waiting[wanted - len(made) :]
            made += await questions_of(some, language_model, build_log)
        order = {hit.sentence: index for index, hit in enumerate(own)}
        found += sorted(made, key=lambda item: order[item.baseline])
    return found


async def questions_of(
    hits: Sequence[SentenceMatch], language_model: LanguageModel, build_log: BuildLog
) -> list[PromptItem]:
    """Return a question for every sentence for which the model writes a usable one.

    A reply is only text: it is checked, and used as a prompt or not at all.
    """
    found: dict[int, PromptItem] = {}
    wrong: dict[int, str] = {}
    waiting = list(range(len(hits)))
    for attempt in range(TRIES):
        questions = [
            question_about_sentence(hits[n].concept, hits[n].sentence, attempt, wrong.get(n))
            for n in waiting
        ]
        for n, reply in zip(waiting, await language_model.ask(questions), strict=True):
            why = reply.reason or question_problem(hits[n].concept, reply.text or "")
            if why:
                wrong[n] = why
                build_log.leave_out("replies", hits[n].sentence, why)
            else:
                found[n] = item_of(hits[n], (reply.text or "").strip())
        waiting = [n for n in waiting if n not in found]
    for n in waiting:
        build_log.leave_out("questions", hits[n].sentence, wrong[n])
    return [found[n] for n in sorted(found)]
