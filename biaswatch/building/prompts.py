"""Sentences become prompts; each keeps its sentence as the baseline it is compared with."""

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from biaswatch.building.build_data import BuildLog, PromptItem, SentenceMatch
from biaswatch.building.model_questions import (
    TRIES,
    LanguageModel,
    question_about_sentence,
    question_problem,
)
from biaswatch.building.plan import Prompts
from biaswatch.building.verbs import RULE_NAME, VerbFinder
from biaswatch.building.words import contains_word
from biaswatch.shared.contracts.identity import derived_id

FIELD = re.compile(r"\{(concept|keyword|sentence)\}")
"""What a template may name."""
LEAST_LEFT = 2
"""A cut that leaves fewer words to say leaves nothing to say."""
AFTER_VERB = 2
"""How many words of what follows the verb are given, so that the direction is given."""


NO_VERB = "no verb is found"
NOTHING_LEFT = "too little is left after the verb"


def split_sentence(sentence: str, verbs: VerbFinder) -> str | None:
    """Return the sentence's beginning, or None where it cannot be cut well."""
    return _cut(sentence, verbs)[0]


def _cut(sentence: str, verbs: VerbFinder) -> tuple[str | None, str]:
    """Return the sentence's beginning, or None and why it cannot be cut well."""
    words = sentence.split()
    verb = verbs.main_verb(words)
    if verb is None:
        return None, NO_VERB
    for extra in (AFTER_VERB, AFTER_VERB - 1, 0):
        cut = verb + 1 + extra
        # Punctuation would end the thought, and a model continues it with another one.
        if len(words) - cut >= LEAST_LEFT and not re.search(r"[,;:.!?)]$", words[cut - 1]):
            return " ".join(words[:cut]), ""
    return None, NOTHING_LEFT


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
            build_log.leave_out("sentences", hit.sentence, "too short", hit.keyword)
        elif words > prompts.most_words:
            build_log.leave_out("sentences", hit.sentence, "too long", hit.keyword)
        else:
            kept.append(hit)
    return kept


def continuation_prompts(
    hits: Sequence[SentenceMatch], verbs: VerbFinder, build_log: BuildLog
) -> list[PromptItem]:
    """Return the beginnings of sentences; one whose beginning lacks the keyword is left out."""
    items = []
    for hit in hits:
        beginning, why = _cut(hit.sentence, verbs)
        if beginning is None:
            build_log.leave_out(
                "continuations", hit.sentence, f"no place to cut: {why}", hit.keyword
            )
            continue
        said = [word for word in (hit.keyword, *hit.others) if contains_word(beginning, word)]
        if said:
            items.append(item_of(replace(hit, keyword=said[0]), beginning))
        else:
            why = "the keyword comes after the cut"
            build_log.leave_out("continuations", hit.sentence, why, hit.keyword)
    without = build_log.counts().get("continuations", {}).get(f"no place to cut: {NO_VERB}", 0)
    if without and verbs.name == RULE_NAME:
        build_log.notes.append(
            f"The rule finds no verb in {without} sentences. spaCy with the model en_core_web_sm"
            " finds more: install both, and build again."
        )
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
