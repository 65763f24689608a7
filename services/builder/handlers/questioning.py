"""Has a model turn sentences into questions; what it declines or spoils is asked again, counted."""

from collections.abc import Sequence
from random import Random

from services.builder.domain.assembling import item_of
from services.builder.domain.material import Hit, Item, Ledger
from services.builder.domain.plan import Prompts
from services.builder.domain.questions import TRIES, general_question, what_is_wrong
from services.builder.handlers.asking import Asker


async def enough_questions(
    hits: Sequence[Hit], prompts: Prompts, asker: Asker, ledger: Ledger
) -> list[Item]:
    """Return as many questions of each concept as are wanted, in the order of their sentences.

    Sentences are drawn first: a model is not paid for questions nobody uses. Where one is declined,
    the next sentence of the draw takes its place.
    """
    found: list[Item] = []
    for concept in dict.fromkeys(hit.concept for hit in hits):
        own = [hit for hit in hits if hit.concept == concept]
        wanted = prompts.per_concept or len(own)
        # Text, not hash(): the draw must be the same in every process.
        waiting = Random(f"{prompts.seed}/{concept}").sample(own, len(own))  # noqa: S311
        made: list[Item] = []
        while waiting and len(made) < wanted:
            some, waiting = waiting[: wanted - len(made)], waiting[wanted - len(made) :]
            made += await questions_of(some, asker, ledger)
        places = {hit.sentence: place for place, hit in enumerate(own)}
        found += sorted(made, key=lambda item: places[item.baseline])
    return found


async def questions_of(hits: Sequence[Hit], asker: Asker, ledger: Ledger) -> list[Item]:
    """Return a question for every sentence for which the model writes a usable one.

    A reply is only text: it is checked, and used as a prompt or not at all.
    """
    found: dict[int, Item] = {}
    wrong: dict[int, str] = {}
    waiting = list(range(len(hits)))
    for attempt in range(TRIES):
        questions = [
            general_question(hits[n].concept, hits[n].sentence, attempt, wrong.get(n))
            for n in waiting
        ]
        for n, reply in zip(waiting, await asker.ask(questions), strict=True):
            why = reply.reason or what_is_wrong(hits[n].concept, reply.text or "")
            if why:
                wrong[n] = why
                ledger.leave("replies", hits[n].sentence, why)
            else:
                found[n] = item_of(hits[n], (reply.text or "").strip())
        waiting = [n for n in waiting if n not in found]
    for n in waiting:
        ledger.leave("questions", hits[n].sentence, wrong[n])
    return [found[n] for n in sorted(found)]
