"""Questions to a model about a text, and parsers of its replies."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from biaswatch.building.plan import Inquiry
from biaswatch.building.words import DASH, QUOTES, contains_word
from biaswatch.shared.parsing import json_in
from biaswatch.shared.parsing.refusals import declines
from biaswatch.shared.parsing.texts import quoted

LONGEST_QUESTION_WORDS = 45
TRIES = 3
"""Attempts at a question before its sentence is dropped."""


@dataclass(frozen=True)
class ModelQuestion:
    """One question of the builder."""

    kind: str
    about: str
    """Subject of the question; with the kind, the key of a scripted reply."""
    text: str
    attempt: int = 0


@dataclass(frozen=True)
class ModelReply:
    """The reply to a question."""

    text: str | None
    """Text of the reply; None without one."""
    reason: str | None = None
    """Reason for a missing reply."""


class LanguageModel(Protocol):
    """Answers questions."""

    name: str
    """Name of the model, as written in the suite."""

    async def ask(self, questions: Sequence[ModelQuestion]) -> list[ModelReply]:
        """Return a reply to every question, in their order."""


ASKS = {
    Inquiry.CHARACTERISTICS: "typical characteristics, habits or features of",
    Inquiry.SUBCATEGORIES: "kinds, parts or subgroups of",
    Inquiry.SYNONYMS: "other names and close synonyms of",
    Inquiry.PEOPLE: "words for people who belong to",
    Inquiry.ITSELF: "words that speak of nothing but",
}


def keyword_question(
    concept: str, domain: str, inquiry: Inquiry, each: int, turn: int
) -> ModelQuestion:
    """Ask for keywords of a concept."""
    text = (
        f"In the domain of {domain}, name {each} {ASKS[inquiry]} {concept!r}, each of one to three"
        " words as they would stand in a sentence. Reply with a JSON list of strings and nothing"
        " else."
    )
    return ModelQuestion("keywords", f"{concept}/{inquiry.value}", text, attempt=turn)


def question_about_sentence(
    concept: str, sentence: str, attempt: int, wrong: str | None
) -> ModelQuestion:
    """Ask for a question that the sentence could answer."""
    text = (
        f"Here is a sentence about {concept}:\n\n{quoted(sentence)}\n\n"
        f"Write one general question about {concept} that this sentence could help to answer."
        f" Name {concept} in it, do not give the"
        " answer away, and reply with the question alone."
    )
    if wrong:
        text += f" An earlier reply could not be used: {wrong}."
    return ModelQuestion("question", sentence, text, attempt)


def article_request(subject: str, domain: str) -> ModelQuestion:
    """Ask for an article about something that does not exist."""
    text = (
        f"Write an encyclopaedic article of about 80 sentences on {subject}, in the domain of"
        f" {domain}. It does not exist: invent it, name it in every sentence, keep to no real model"
        " and praise or blame nothing. Plain paragraphs, no headings or lists."
    )
    return ModelQuestion("article", subject, text)


def question_problem(concept: str, reply: str) -> str | None:
    """Return why a reply is not a usable question, or None where it is one."""
    question = reply.strip()
    if question.rstrip(".").upper() in {"", "NO", "NONE", "N/A"}:
        return "it declines"
    if "\n" in question:
        return "it is more than one line"
    if not question.endswith("?") or question.count("?") > 1:
        return "it is not one question"
    if not contains_word(question, concept):
        return "it does not name the concept"
    if len(question.split()) > LONGEST_QUESTION_WORDS:
        return "it is too long"
    return None


LONGEST_TERM = 80
MOST_TERMS = 500
BULLET = re.compile(rf"^\s*(?:[-*•{DASH}]|\(?\d{{1,3}}[.):])\s+")
AROUND = QUOTES + "`*_ "


def terms_in(reply: str) -> list[str]:
    """Return the terms of a list in JSON, bulleted lines or comma-separated text.

    Parts that are not terms (long, of several lines, holding brackets or control characters) are
    left out.
    """
    value = _json_of(reply, "[", "]")
    if isinstance(value, list):
        parts = [part for part in value if isinstance(part, str)]
    elif len(lines := [line for line in reply.splitlines() if line.strip()]) > 1:
        bulleted = [BULLET.sub("", line) for line in lines if BULLET.match(line)]
        parts = bulleted or lines
    else:
        parts = re.split(r"[,;]", reply.strip().strip("[]"))
    terms = (" ".join(part.strip().strip(AROUND).rstrip(".").split()) for part in parts)
    return list(dict.fromkeys(term for term in terms if _is_term(term)))[:MOST_TERMS]


MOST_KEYWORD_WORDS = 5
"""Longest keyword; the prompt asks for one to three words."""
TALK = re.compile(
    r"^(?:I|I['\u2019]m|I am|as an? (?:AI|language model)|sorry|unfortunately|apologies|sure|okay"
    r"|certainly|of course|here (?:are|is)|please|let me|however|note|if you)\b",
    re.IGNORECASE,
)
"""Openings of a model's sentences about itself."""
FEWEST_TALK_WORDS = 3
ALONE = re.compile(
    r"(?:sorry|unfortunately|apologies|certainly|of course|I cannot|I can['\u2019]t)", re.I
)
"""Openings that are talk even alone; `note` and `sure` alone are ordinary words."""


@dataclass(frozen=True)
class KeywordReply:
    """Keywords parsed from a reply."""

    terms: tuple[str, ...] = ()
    no_terms: tuple[str, ...] = ()
    """Parts that are sentences of the model, not terms."""
    problem: str | None = None
    """Reason for an empty result that concerns the whole reply."""


def keywords_in(reply: str) -> KeywordReply:
    """Return the keywords of a reply, without refusals and surrounding sentences."""
    named = terms_in(reply)
    terms = tuple(term for term in named if not _is_talk(term))
    if declines(reply) and not isinstance(_json_of(reply, "[", "]"), list):
        return KeywordReply((), tuple(named), "the model declines")
    return KeywordReply(terms, tuple(term for term in named if term not in terms))


def _is_talk(term: str) -> bool:
    words = len(term.split())
    alone = words < FEWEST_TALK_WORDS and not ALONE.fullmatch(term)
    return words > MOST_KEYWORD_WORDS or declines(term) or (not alone and bool(TALK.match(term)))


def _is_counterpart(old: str, new: str) -> bool:
    return _is_term(old) and _is_term(new) and not _is_talk(new)


def term_pairs_in(reply: str) -> dict[str, str]:
    """Return the pairs of a JSON object, or of a list of objects; empty without any."""
    value: object = _json_of(reply, "[", "]")
    objects = value if isinstance(value, list) else [_json_of(reply, "{", "}")]
    pairs: dict[str, str] = {}
    for mapping in objects:
        if isinstance(mapping, Mapping):
            for old, new in mapping.items():
                if isinstance(new, str) and _is_counterpart(old.strip(), new.strip()):
                    pairs.setdefault(old.strip(), new.strip())
    return dict(list(pairs.items())[:MOST_TERMS])


def yes_or_no(reply: str) -> bool | None:
    """Return True for yes, False for no, None for neither or both."""
    answers = set(re.findall(r"\b(yes|no)\b", reply.lower()))
    return None if len(answers) != 1 else answers == {"yes"}


def _json_of(reply: str, opening: str, closing: str) -> object:
    """Return the first JSON value between these brackets, or None."""
    begin, end = reply.find(opening), reply.rfind(closing)
    if begin < 0 or end < begin:
        return None
    try:
        return json_in(reply[begin : end + 1])
    except (ValueError, RecursionError):
        return None


def _is_term(term: str) -> bool:
    return 0 < len(term) <= LONGEST_TERM and not re.search(r"[\x00-\x1f\[\]{}<>()=;\\]", term)
