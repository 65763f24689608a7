"""Has a model turn sentences into questions; what it declines or spoils is asked again, counted."""

from collections.abc import Sequence
from random import Random

from services.builder.domain.build_data import BuildLog, PromptItem, SentenceMatch
from services.builder.domain.model_questions import TRIES, general_question, what_is_wrong
from services.builder.domain.plan import Prompts
from services.builder.domain.prompts import item_of
from services.builder.handlers.asking import LanguageModel


async def enough_questions(
    hits: Sequence[SentenceMatch],
    prompts: Prompts,
    language_model: LanguageModel,
    build_log: BuildLog,
) -> list[PromptItem]:
    """Return as many questions of each concept as are wanted, in the order of their sentences.

    Sentences are drawn first: a model is not paid for questions nobody uses. Where one is declined,
    the next sentence of the draw takes its place.
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
        places = {hit.sentence: place for place, hit in enumerate(own)}
        found += sorted(made, key=lambda item: places[item.baseline])
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
            general_question(hits[n].concept, hits[n].sentence, attempt, wrong.get(n))
            for n in waiting
        ]
        for n, reply in zip(waiting, await language_model.ask(questions), strict=True):
            why = reply.reason or what_is_wrong(hits[n].concept, reply.text or "")
            if why:
                wrong[n] = why
                build_log.leave_out("replies", hits[n].sentence, why)
            else:
                found[n] = item_of(hits[n], (reply.text or "").strip())
        waiting = [n for n in waiting if n not in found]
    for n in waiting:
        build_log.leave_out("questions", hits[n].sentence, wrong[n])
    return [found[n] for n in sorted(found)]
