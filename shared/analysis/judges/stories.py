"""The bank of controls about pairs of answers: short stories of two persons with drawn names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from biaswatch.shared.analysis.judges.controls import Control, ControlPlan, planned_controls
from biaswatch.shared.analysis.judges.languages import ENGLISH, LANGUAGES, StoryLanguage
from biaswatch.shared.stats.judges.results import AUTHOR, INSTRUCTION, LENGTH, STYLE

FIT, COMPATIBLE, GUESS = "fit", "compatible", "guess"
"""Kinds: does a reasoning fit, can two answers be right, which question is answered."""
KINDS = (FIT, COMPATIBLE, GUESS)
LETTERS = "ABCD"
CONTEXT, REASONING, QUESTION, ANSWER = "context", "reasoning", "question", "answer"
SECOND_QUESTION, SECOND_ANSWER = "second_question", "second_answer"
ANSWERS = (ANSWER, SECOND_ANSWER)
_NAMES = (
    "Ida", "Tom", "Rosa", "Emil", "Lena", "Otto", "Mia", "Paul", "Clara", "Hugo", "Nora",
    "Felix", "Greta", "Anton", "Vera", "Oskar", "Helga", "Bruno", "Edith", "Ralf", "Sonja",
    "Viktor", "Marta", "Jonas", "Elsa", "Konrad", "Tilda", "Arvid", "Paula", "Henrik", "Agnes",
    "Magnus", "Olga", "Gustav", "Ingrid", "Walter", "Frieda", "Leo", "Alma", "Theo", "Linda",
    "Boris", "Carla", "Dirk", "Elena", "Frank", "Gerda", "Harald", "Irene", "Jakob", "Klara",
    "Lukas", "Mona", "Niels", "Petra", "Rolf", "Silke", "Udo", "Wilma", "Xenia",
)  # fmt: skip


@dataclass(frozen=True)
class _Story:
    """A context with two deeds of two persons, and questions about deeds."""

    people: tuple[str, str]
    context: str
    reasonings: tuple[str, str]
    questions: tuple[str, ...]
    """The questions about the deeds, then those of distractors."""


def story_controls(
    count: int,
    seed: int,
    *,
    groups: Sequence[str] = (),
    author: str | None = None,
    language: str = ENGLISH,
) -> list[Control]:
    """Return the controls of a judge of pairs, in a language of the bank.

    `seed` draws deeds, names and wordings; the others are those of `planned_controls`.
    """
    plans = planned_controls(KINDS, count, groups=groups, author=author)
    return [replace(_control(plan, seed, LANGUAGES[language]), language=language) for plan in plans]


def _control(plan: ControlPlan, seed: int, language: StoryLanguage) -> Control:
    rng = Random(f"{seed}/{plan.seed}")  # noqa: S311 - not for security
    story = _story(rng, plan.people(rng), language)
    parts, expected = _texts(plan.kind, story, plan.positive, plan.number, rng)
    place = CONTEXT if plan.kind == COMPATIBLE else REASONING
    padding = " ".join(rng.sample(language.padding, len(language.padding)))
    if plan.examined == LENGTH:
        parts[place] += f" {padding}"
    elif plan.examined == INSTRUCTION:
        parts[place] += f" {padding}" if rng.random() < 0.5 else ""
        reply = _wrong_reply(plan.kind, expected)
        parts[place] += " " + " ".join(order.format(reply=reply) for order in language.orders)
    elif plan.examined == STYLE:
        parts[place] += f"\n{language.style}"
        parts |= {name: f"{parts[name]} {language.sure}" for name in ANSWERS if name in parts}
    elif plan.examined == AUTHOR:
        parts[place] += f" {language.signed.format(author=plan.word)}"
    return plan.control(expected, parts)


def _story(rng: Random, people: Sequence[str], language: StoryLanguage) -> _Story:
    a, b = (*people, *rng.sample(_NAMES, 2))[:2]
    one, two, *distractors = rng.sample(language.deeds, 4)
    context = rng.choice(language.contexts).format(a=a, b=b, one=one, two=two)
    forms = rng.sample(language.reasonings, 2)
    reasonings = [
        _capital(form.format(who=who, did=did))
        for form, who, did in zip(forms, (a, b), (one, two), strict=True)
    ]
    return _Story(
        (a, b),
        _capital(context),
        (reasonings[0], reasonings[1]),
        tuple(language.who.format(did=deed) for deed in (one, two, *distractors)),
    )


def _texts(
    kind: str, story: _Story, positive: bool, number: int, rng: Random
) -> tuple[dict[str, str], str]:
    (first, second, *distractors), (a, b) = story.questions, story.people
    if kind == FIT:
        reasoning = story.reasonings[0 if positive else 1]
        parts = {CONTEXT: story.context, QUESTION: first, REASONING: reasoning, ANSWER: a}
        return parts, "yes" if positive else "no"
    if kind == COMPATIBLE:
        parts = {CONTEXT: story.context, QUESTION: first, ANSWER: a}
        parts |= {SECOND_QUESTION: second if positive else first, SECOND_ANSWER: b}
        return parts, "yes" if positive else "no"
    right = (0 if positive else 2) + number // len(LETTERS) % 2
    shown = [second, *distractors]
    rng.shuffle(shown)
    shown.insert(right, first)
    parts = {CONTEXT: story.context, REASONING: story.reasonings[0]}
    return parts | dict(zip(LETTERS, shown, strict=True)), LETTERS[right]


def _wrong_reply(kind: str, expected: str) -> str:
    if kind == GUESS:
        return LETTERS[(LETTERS.index(expected) + 1) % len(LETTERS)]
    return "no" if expected == "yes" else "yes"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
