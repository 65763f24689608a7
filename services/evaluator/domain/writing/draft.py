"""Drafts: sections of sentences with slots and claims, as a model returns them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, Field, JsonValue, StringConstraints, ValidationError

from biaswatch.services.evaluator.domain.model_questions import fields_in
from biaswatch.services.evaluator.domain.writing.claims import (
    Claim,
    claim_in,
    claim_schemas,
    closed_object,
)
from biaswatch.services.evaluator.domain.writing.outline import OUTLINE, ReportSection
from biaswatch.services.evaluator.domain.writing.slots import rendered, slots_of
from biaswatch.shared.contracts import Fault, Subject, UncheckedSentence
from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.parsing import Unreadable

MAX_SENTENCES = 200
MAX_SENTENCE_CHARS = 1000
MAX_CLAIMS = 12
Place = tuple[str, int]
"""The heading of a sentence, and its number under it from 1; 0 for the heading itself."""


@dataclass(frozen=True)
class Sentence:
    """One sentence with slots, and the claims that it makes."""

    text: str
    claims: tuple[Claim, ...] = ()
    unreadable: str | None = None
    """Why one of its claims cannot be read."""

    def topics(self, kind: str) -> set[str]:
        """Return the topics of its claims of a type."""
        return {claim.topic for claim in self.claims if claim.type == kind}


@dataclass(frozen=True)
class Section:
    """The sentences under one heading."""

    heading: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Draft:
    """A report before its numbers are filled in."""

    sections: tuple[Section, ...]
    outline: tuple[ReportSection, ...] = OUTLINE
    """The headings, in their order; sections with other headings are faults."""

    @cached_property
    def sentences(self) -> dict[Place, Sentence]:
        """The sentences by their places; sections with the same heading are one."""
        by_heading: dict[str, list[Sentence]] = {}
        for section in self.sections:
            by_heading.setdefault(section.heading, []).extend(section.sentences)
        return {
            (heading, number): sentence
            for heading, sentences in by_heading.items()
            for number, sentence in enumerate(sentences, start=1)
        }


@dataclass(frozen=True)
class CheckedReport:
    """A report as Markdown, with what code found in it; no text where none can be read."""

    text: str | None = None
    reason: str | None = None
    """Reason for a missing report."""
    faults: tuple[Fault, ...] = ()
    hints: tuple[Fault, ...] = ()
    statements: int = 0
    unchecked: tuple[UncheckedSentence, ...] = ()
    failed: bool = False
    repairs: int = 0
    calls: int = 0
    draft: Draft | None = None
    """The draft of a writer that passed."""
    spans: Mapping[Place, tuple[int, int]] = field(default_factory=dict)
    """Start and end of the sentences of a draft."""

    def fault(self, kind: str, place: Place, message: str) -> Fault:
        """Return a fault, or a hint, about a sentence of a draft."""
        start, end = self.spans.get(place, (None, None))
        return Fault(kind=kind, where=place[0][:80], sentence=message, start=start, end=end)


class _SentenceFields(BaseModel):
    text: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SENTENCE_CHARS)
    ]
    claims: list[Any] = []


class _SectionFields(BaseModel):
    heading: str = ""
    sentences: list[_SentenceFields]


class _DraftFields(BaseModel):
    sections: list[_SectionFields] = Field(min_length=1)


def draft_in(reply: str) -> Draft:
    """Return the draft in a reply.

    Raises
    ------
    Unreadable
        The reply is not JSON of this form.
    """
    try:
        fields = _DraftFields.model_validate(fields_in(reply))
    except ValidationError as error:
        mistake = first_mistake(error).in_words("the report").rstrip(".")
        raise Unreadable(f"the reply does not fit: {mistake}") from None
    draft = Draft(tuple(map(_section, fields.sections)))
    if len(draft.sentences) > MAX_SENTENCES:
        raise Unreadable(f"the report has more than {MAX_SENTENCES} sentences")
    return draft


def _section(fields: _SectionFields) -> Section:
    heading = fields.heading.strip().lstrip("#").strip()
    return Section(heading, tuple(map(_sentence, fields.sentences)))


def _sentence(fields: _SentenceFields) -> Sentence:
    text = " ".join(fields.text.split())
    if len(fields.claims) > MAX_CLAIMS:
        return Sentence(text, (), f"more than {MAX_CLAIMS} claims")
    try:
        return Sentence(text, tuple(map(claim_in, fields.claims)))
    except Unreadable as error:
        return Sentence(text, (), str(error))


def render(draft: Draft, subject: Subject, withheld: Mapping[Place, str]) -> CheckedReport:
    """Return a report in the order of the outline, with numbers filled in.

    `withheld` gives the text that replaces a sentence that failed.
    """
    text, slots = "", slots_of(subject)
    spans: dict[Place, tuple[int, int]] = {}
    for part in draft.outline:
        own = {place: s for place, s in draft.sentences.items() if place[0] == part.title}
        text += f"{part.heading}\n"
        for place, sentence in own.items():
            text += " " if place[1] > 1 else ""
            start = len(text)
            text += withheld.get(place) or rendered(sentence.text, slots)
            spans[place] = (start, len(text))
        text += "\n\n" if own else "\n"
    return CheckedReport(text.rstrip() + "\n", spans=spans)


def answer_schema(subject: Subject, *, bounded: bool = False) -> dict[str, JsonValue]:
    """Return the JSON Schema of a draft: closed objects, every field required.

    Its enumerations hold the measures, tests, groups and caveats of the subject. With `bounded`,
    which not every provider accepts, sentences and lists have a maximum length.
    """
    titles: list[JsonValue] = [section.title for section in OUTLINE if section.most]

    def array(items: JsonValue, **bounds: JsonValue) -> dict[str, JsonValue]:
        return {"type": "array", **(bounds if bounded else {}), "items": items}

    text: JsonValue = {"type": "string", **({"maxLength": 100} if bounded else {})}
    claims = array({"anyOf": claim_schemas(subject)}, maxItems=1)
    sentences = array(closed_object({"text": text, "claims": claims}), minItems=1, maxItems=3)
    heading: JsonValue = {"type": "string", "enum": titles}
    section = closed_object({"heading": heading, "sentences": sentences})
    return closed_object({"sections": array(section, minItems=1, maxItems=len(titles))})
