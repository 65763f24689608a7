"""Sentences become prompts; each keeps its sentence as the baseline it is compared with."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from services.builder.domain.build_data import BuildLog, PromptItem, SentenceMatch
from services.builder.domain.continuations import VerbFinder, split_sentence
from services.builder.domain.model_questions import (
    TRIES,
    LanguageModel,
    question_about_sentence,
    question_problem,
)
from services.builder.domain.plan import Prompts
from services.builder.domain.words import contains_word
from shared.contracts.identity import derived_id

FIELDS = ("concept", "keyword", "sentence")


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
    return [item_of(hit, _filled(template, hit)) for hit in hits]


def _filled(template: str, hit: SentenceMatch) -> str:
    filling = {"concept": hit.concept, "keyword": hit.keyword, "sentence": hit.sentence}
    # One pass, so that braces in a sentence are never taken for fields.
    for field in FIELDS:
        template = template.replace(f"{{{field}}}", f"\x00{field}\x00")
    parts = template.split("\x00")
    return "".join(filling.get(p, p) if n % 2 else p for n, p in enumerate(parts))


def sampled_prompts(items: Sequence[PromptItem], prompts: Prompts) -> list[PromptItem]:
    """Draw as many of each concept as the plan says, each with a generator of its own."""
    found: list[PromptItem] = []
    for concept in dict.fromkeys(item.concept for item in items):
        own = [item for item in items if item.concept == concept]
        # Text, not hash(): the draw must be the same in every process.
        found += draw_in_order(own, prompts.per_concept, Random(f"{prompts.seed}/{concept}"))  # noqa: S311
    return found


T = TypeVar("T")


def draw_in_order(things: Sequence[T], most: int | None, rng: Random) -> list[T]:
    """Return at most so many, drawn without repeats, in the order they had."""
    if most is None or len(things) <= most:
        return list(things)
    return [things[index] for index in sorted(rng.sample(range(len(things)), most))]


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
