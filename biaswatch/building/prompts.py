"""Turns sentences into prompts of a suite, and serialises the suite with its report."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from random import Random
from typing import Any

import yaml

from biaswatch.building.build_data import BuildLog, Omission, PromptItem, SentenceMatch
from biaswatch.building.cuts import NO_VERB, split_sentence
from biaswatch.building.model_questions import (
    TRIES,
    LanguageModel,
    question_about_sentence,
    question_problem,
)
from biaswatch.building.plan import Plan, Prompts
from biaswatch.building.quality import SuiteQuality
from biaswatch.building.verbs import RULE_NAME, VerbFinder
from biaswatch.building.words import contains_word
from biaswatch.shared.contracts.identity import derived_id, token_of
from biaswatch.shared.lookup import first

FIELD = re.compile(r"\{(concept|keyword|sentence)\}")
"""Fields of a template."""


def item_of(hit: SentenceMatch, prompt: str) -> PromptItem:
    """Place a prompt in a counterfactual set of its own."""
    set_id = "s-" + derived_id("set", hit.concept, hit.source_tag, hit.position, prompt)[:12]
    return PromptItem(hit, prompt, hit.concept, baseline=hit.sentence, set_id=set_id)


def within_length(
    hits: Sequence[SentenceMatch], prompts: Prompts, build_log: BuildLog
) -> list[SentenceMatch]:
    """Drop sentences that are too short or too long, and count them."""
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
    """Return beginnings of sentences that contain their keyword."""
    items = []
    for hit in hits:
        keywords = (hit.keyword, *hit.others)
        beginning, why = split_sentence(hit.sentence, verbs, keywords)
        if beginning is None:
            build_log.leave_out("continuations", hit.sentence, why, hit.keyword)
            continue
        kept = (word for word in keywords if contains_word(beginning, word))
        present = first(kept, f"No keyword is in the beginning {beginning!r}.")
        items.append(item_of(replace(hit, keyword=present), beginning))
    no_verb = build_log.counts().get("continuations", {}).get(NO_VERB, 0)
    if no_verb and verbs.name == RULE_NAME:
        build_log.notes.append(
            f"The rule finds no verb in {no_verb} sentences. spaCy with the model en_core_web_sm"
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
    """Sample the planned number of prompts of each concept."""
    sample: list[PromptItem] = []
    for concept in dict.fromkeys(item.concept for item in items):
        own = [item for item in items if item.concept == concept]
        if prompts.per_concept and len(own) > prompts.per_concept:
            # Text, not hash(): the draw must be the same in every process.
            rng = Random(f"{prompts.seed}/{concept}")  # noqa: S311
            own = [own[n] for n in sorted(rng.sample(range(len(own)), prompts.per_concept))]
        sample += own
    return sample


async def question_prompts(
    hits: Sequence[SentenceMatch],
    prompts: Prompts,
    language_model: LanguageModel,
    build_log: BuildLog,
) -> list[PromptItem]:
    """Return the planned number of questions of each concept, in source order.

    Sentences are sampled first, so that no unused question is paid for. The next sentence of the
    sample replaces one that the model declines.
    """
    items: list[PromptItem] = []
    for concept in dict.fromkeys(hit.concept for hit in hits):
        own = [hit for hit in hits if hit.concept == concept]
        wanted = prompts.per_concept or len(own)
        # Text, not hash(): the draw must be the same in every process.
        waiting = Random(f"{prompts.seed}/{concept}").sample(own, len(own))  # noqa: S311
        questions: list[PromptItem] = []
        while waiting and len(questions) < wanted:
            batch, waiting = waiting[: wanted - len(questions)], waiting[wanted - len(questions) :]
            questions += await questions_of(batch, language_model, build_log)
        order = {hit.sentence: index for index, hit in enumerate(own)}
        items += sorted(questions, key=lambda item: order[item.baseline])
    return items


async def questions_of(
    hits: Sequence[SentenceMatch], language_model: LanguageModel, build_log: BuildLog
) -> list[PromptItem]:
    """Return the usable questions that the model writes about the sentences.

    A reply is used as a prompt only if it passes the checks.
    """
    items: dict[int, PromptItem] = {}
    problems: dict[int, str] = {}
    open_sentences = list(range(len(hits)))
    for attempt in range(TRIES):
        questions = [
            question_about_sentence(hits[n].concept, hits[n].sentence, attempt, problems.get(n))
            for n in open_sentences
        ]
        for n, reply in zip(open_sentences, await language_model.ask(questions), strict=True):
            why = reply.reason or question_problem(hits[n].concept, reply.text or "")
            if why:
                problems[n] = why
                build_log.leave_out("replies", hits[n].sentence, why)
            else:
                items[n] = item_of(hits[n], (reply.text or "").strip())
        open_sentences = [n for n in open_sentences if n not in items]
    for n in open_sentences:
        build_log.leave_out("questions", hits[n].sentence, problems[n])
    return [items[n] for n in sorted(items)]


PROBES_FILE = "probes.jsonl"
OF_HIT = ("keyword", "source_tag", "position", "licence")
Row = dict[str, Any]


def rows_of(items: Sequence[PromptItem], domain: str) -> list[Row]:
    """Return a line of the suite for each item.

    Keys are derived from set and concept, so the caller drops repeated prompts of a concept.
    """
    return [
        {
            "key": f"{item.set_id}.{token_of(item.concept)}",
            "set": item.set_id,
            "groups": {"concept": item.concept},
            "prompt": item.prompt,
            "stimuli": {"text": item.set_id},
            "baseline": item.baseline,
            "domain": domain,
            "concept": item.concept,
            **{name: getattr(item.hit, name) for name in OF_HIT},
            "branched_from": item.branched_from,
        }
        for item in items
    ]


def header_of(plan: Plan, how: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    """Return the header; its version changes with anything in the suite."""
    header: dict[str, Any] = {
        "name": plan.name,
        "about": plan.about,
        "extractors": list(plan.extractors),
        **({"features": list(plan.features)} if plan.features else {}),
        "random": ["text"],
        "probes": PROBES_FILE,
        "made": dict(how),
    }
    return {**header, "version": version_of(header, rows)}


def version_of(header: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the hash of a suite's content: header without its version, and every line."""
    rest = {key: value for key, value in header.items() if key != "version"}
    return derived_id("suite-files", rest, [dict(row) for row in rows])


def header_text(header: Mapping[str, Any]) -> str:
    """Return the header as it is written."""
    return yaml.safe_dump(dict(header), sort_keys=False, allow_unicode=True, width=100)


def rows_text(rows: Sequence[Row]) -> str:
    """Return the lines as they are written."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


EXAMPLES = 20


def report_json(quality: SuiteQuality, build_log: BuildLog) -> dict[str, Any]:
    """Return the report as data."""
    return {
        "quality": asdict(quality),
        "hits": build_log.hits,
        "zero_hits": zero_hits(build_log),
        "left_out": build_log.counts(),
        "examples_left_out": [_omission(omission) for omission in build_log.left[:EXAMPLES]],
        "notes": build_log.notes,
    }


def left_out_text(build_log: BuildLog) -> str:
    """Return all omissions as JSON lines: step, what, why, keyword."""
    lines = (json.dumps(_omission(omission), ensure_ascii=False) for omission in build_log.left)
    return "".join(line + "\n" for line in lines)


def _omission(omission: Omission) -> dict[str, str]:
    return {name: value for name, value in asdict(omission).items() if value is not None}


def zero_hits(build_log: BuildLog) -> dict[str, list[str]]:
    """Return the keywords without a sentence, by concept."""
    words_by_concept = {
        c: [word for word, n in words.items() if n == 0] for c, words in build_log.hits.items()
    }
    return {concept: words for concept, words in words_by_concept.items() if words}
