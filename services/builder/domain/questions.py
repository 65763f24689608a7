"""Questions to a model about a text, and what of its replies is taken."""

from dataclasses import dataclass

from services.builder.domain.plan import Inquiry
from services.builder.domain.words import holds

LONGEST_QUESTION_WORDS = 45
TRIES = 3
"""How often a question is asked for before its sentence is left out."""


@dataclass(frozen=True)
class Question:
    """One question of the builder."""

    kind: str
    about: str
    """What it is about; with the kind, the address of a written reply."""
    text: str
    attempt: int = 0


ASKS = {
    Inquiry.CHARACTERISTICS: "typical characteristics, habits or features of",
    Inquiry.SUBCATEGORIES: "kinds, parts or subgroups of",
    Inquiry.SYNONYMS: "other names and close synonyms of",
    Inquiry.PEOPLE: "words for people who belong to",
    Inquiry.ITSELF: "words that speak of nothing but",
}


def keyword_question(concept: str, domain: str, inquiry: Inquiry, each: int, turn: int) -> Question:
    """Ask for keywords of a concept."""
    text = (
        f"In the domain of {domain}, name {each} {ASKS[inquiry]} {concept!r}, each of one to three"
        " words as they would stand in a sentence. Reply with a JSON list of strings and nothing"
        " else."
    )
    return Question("keywords", f"{concept}/{inquiry.value}", text, attempt=turn)


def general_question(concept: str, sentence: str, attempt: int, wrong: str | None) -> Question:
    """Ask for a question of which the sentence could be an answer."""
    text = (
        f"Here is a sentence about {concept}:\n\n{sentence}\n\nWrite one general question about"
        f" {concept} that this sentence could help to answer. Name {concept} in it, do not give the"
        " answer away, and reply with the question alone."
    )
    if wrong:
        text += f" An earlier reply could not be used: {wrong}."
    return Question("question", sentence, text, attempt)


def article_request(subject: str, domain: str) -> Question:
    """Ask for an article about something that does not exist."""
    text = (
        f"Write an encyclopaedic article of about 80 sentences on {subject}, in the domain of"
        f" {domain}. It does not exist: invent it, name it in every sentence, keep to no real model"
        " and praise or blame nothing. Plain paragraphs, no headings or lists."
    )
    return Question("article", subject, text)


def what_is_wrong(concept: str, reply: str) -> str | None:
    """Say why a reply is no usable question, or None where it is one."""
    question = reply.strip()
    if question.rstrip(".").upper() in {"", "NO", "NONE", "N/A"}:
        return "it declines"
    if "\n" in question:
        return "it is more than one line"
    if not question.endswith("?") or question.count("?") > 1:
        return "it is not one question"
    if not holds(question, concept):
        return "it does not name the concept"
    if len(question.split()) > LONGEST_QUESTION_WORDS:
        return "it is too long"
    return None
